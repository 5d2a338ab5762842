"""Planted causes, asked of ``tandem replay``: does it tell the one that was planted, and no other?

Each is a drive of a virtual car by the complete host, in lockstep, whose plant differs from its
vehicle file by one cause that a seed draws, and by what differs from run to run besides. A drive
suffices for its cause if, in what some sensor told, it differs from the same drive without the
cause at least three times as much (root mean square) as that one differs from its twin: by a run's
differences and noise. Which of them suffice is so fixed before anything is asked.
With --read-as the same drive is read as others have it: from a bag of ROS 2 with what we publish,
or as cameras saw it (tracked). A cause that poses cannot show does not suffice there.
Controls are drives without a cause. With --into every answer is kept as it is given, and the same
words again go on. About a second for each with machine code (``TANDEM_FAST=1``).

    python -m tests.studies.logs.cause_study --causes 100 --controls 50 --first 1300000
    python -m tests.studies.logs.cause_study --causes 12 --show
    python -m tests.studies.logs.cause_study --causes 20 --controls 10 --read-as tracked
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binomtest

from calibration.logs.trace_tandem import read_tandem_log
from calibration.replay.cause_fit import search
from calibration.replay.pose_drive import PoseDrive
from calibration.simulation.causes import CAUSES
from calibration.simulation.log_drive import LogDrive
from host_bridge.core import DriveCommand
from host_bridge.drive.lockstep.car import open_in_lockstep
from host_bridge.drive.lockstep.loop import LockstepDrive
from host_bridge.drive.options import DriveOptions
from host_bridge.sharing.owner.recording import new_recorder
from host_bridge.sharing.services import make_host
from sim_mock.plant.esc import EscParameters
from sim_mock.plant.parameters import PlantParameters
from sim_mock.plant.vehicle_plant import Plant
from sim_mock.plant.vesc import VescParameters
from tests.studies.logs.cause_readers import Place, from_bag, from_tracking
from tests.support.kept_rows import KeptRows, sources_of
from tests.support.one_drive import OneDrive

HOST = make_host()
CONTROL = "control"
VEHICLES = ("f1tenth", "f1tenth_vesc", "autorally", "hunter_se", "nigel")
BRAKED = ("f1tenth", "f1tenth_vesc", "autorally")  # H-bridges have no brake of their own
MANOEUVRES = ("slalom", "circles", "starts", "mixed", "straight")
SUFFICES = 3.0  # times what a drive without a cause differs from its twin by
DRIVE_S = 9.0
MOST_DRAWN = 30  # drives for one cause: cameras never show some, as a short delay of the steering
# The amounts that are drawn of each cause: low, high, and whether it may be of the other sign too
AMOUNTS = {
    "trim": (0.02, 0.07, True),
    "steering_gain": (0.08, 0.3, True),
    "steering_delay": (0.03, 0.15, False),
    "steering_rate": (-0.75, -0.4, False),
    "wheels": (0.04, 0.12, True),
    "strength": (-0.3, -0.08, False),
    "mass": (0.2, 0.7, False),
    "friction": (0.5, 2.0, False),
    "grip": (-0.6, -0.2, False),
    "brake": (-0.6, -0.25, False),
    "gyro": (0.04, 0.12, True),
}
KINDS = tuple(AMOUNTS)
READERS = ("log", "bag", "tracked")
IN_POSES = tuple(kind for kind in KINDS if kind != "gyro")  # which no pose shows
SOURCES = (
    "calibration/replay/cause*.py", "calibration/replay/pose_drive.py", "calibration/logs/*.py",
    "calibration/simulation/*.py", "firmware/core/**/*.py", "hardware/vehicles/**/*.toml",
    "host_bridge/ros2/messages/bag.py", "sim_mock/plant/*.py", "sim_mock/sensors/*.py",
    "tests/studies/logs/cause_*.py", "tests/support/one_drive.py",
)  # fmt: skip


class Segment(NamedTuple):
    """From a time on: parts of the top speed and of full lock."""

    from_s: float
    speed: float
    steer: float


@dataclass(frozen=True)
class Planted:
    """One drive: its car, its manoeuvre, its cause with an amount, and the differences of a run."""

    kind: str
    vehicle: str
    seed: int
    manoeuvre: str
    amount: float
    segments: tuple[Segment, ...]
    speed_mps: float
    steer_rad: float
    run_seed: int

    def without(self) -> Planted:
        """The same drive without its cause."""
        return replace(self, kind=CONTROL)


def drawn(kind: str, seed: int) -> Planted:
    """One planted cause, or one control."""
    rng = np.random.default_rng([seed, 33])
    vehicle = str(rng.choice(BRAKED if kind == "brake" else VEHICLES))
    facts = HOST.vehicles.load(vehicle)
    script = facts.source("script")
    top_mps = min(facts.profile_caps_mps["track"], script.speed_cap_mps, 6.0)
    manoeuvre = str(rng.choice(MANOEUVRES))
    low, high, is_either = AMOUNTS.get(kind, (0.0, 0.0, False))
    amount = float(rng.uniform(low, high)) * (float(rng.choice([-1.0, 1.0])) if is_either else 1.0)
    return Planted(
        kind, vehicle, seed, manoeuvre, amount, segments_of(manoeuvre, rng),
        speed_mps=float(rng.uniform(0.7, 1.0)) * top_mps,
        steer_rad=float(rng.uniform(0.5, 0.95)) * facts.steer_max_rad,
        run_seed=int(rng.integers(1, 1_000_000)),
    )  # fmt: skip


def segments_of(manoeuvre: str, rng: np.random.Generator) -> tuple[Segment, ...]:
    """What a driver does, as parts of its speed and of its steering; it ends at rest."""
    if manoeuvre == "slalom":
        beat_s = float(rng.uniform(0.6, 1.2))
        signs = [1.0 if at % 2 else -1.0 for at in range(int((DRIVE_S - 2.0) / beat_s))]
        rows = [Segment(0.0, 1.0, 0.0)]
        rows += [Segment(1.0 + at * beat_s, 1.0, sign) for at, sign in enumerate(signs)]
    elif manoeuvre == "circles":
        rows = [Segment(0.0, 0.5, 1.0), Segment(2.0, 1.0, 1.0), Segment(4.5, 1.0, -1.0),
                Segment(7.5, 0.5, -1.0)]  # fmt: skip
    elif manoeuvre == "starts":
        steers = rng.uniform(-0.4, 0.4, 4)
        rows = [
            row
            for at in range(3)
            for row in (Segment(3.0 * at, float(rng.uniform(0.5, 1.0)), float(steers[at])),
                        Segment(3.0 * at + 2.0, 0.0, 0.0))
        ]  # fmt: skip
    elif manoeuvre == "mixed":
        rows = [
            Segment(float(at), float(rng.uniform(0.3, 1.0)), float(rng.uniform(-1.0, 1.0)))
            for at in np.arange(0.0, DRIVE_S - 1.0, 1.0)
        ]
    else:
        rows = [Segment(0.0, float(rng.uniform(0.5, 1.0)), 0.0), Segment(4.5, 1.0, 0.0)]
    return (*rows, Segment(DRIVE_S - 1.0, 0.0, 0.0))


def plant_of(planted: Planted) -> PlantParameters:
    """The car that drives: the cause, and what differs from run to run in any case.

    Speed and trim differ as published (calibration/bayesian_fit/variance_priors.py: 1 % and 0.006
    of full lock), load, grip, rolling resistance and the servo by a little.
    """
    facts = HOST.vehicles.load(planted.vehicle)
    table = {**facts.plant, "channels": [dict(it) for it in facts.channels]}
    rng = np.random.default_rng([planted.run_seed, 34])
    p = PlantParameters.from_mapping(table)
    p = _steered(p, float(rng.normal(0.0, 0.006)) * facts.steer_max_rad, 1.0)
    p = replace(p, battery=replace(p.battery, emf_v=p.battery.emf_v * rng.normal(1.0, 0.01)))
    p = replace(p, mu=p.mu * float(rng.normal(1.0, 0.02)))
    p = replace(p, drive=replace(p.drive, friction_n=p.drive.friction_n * rng.normal(1.0, 0.03)))
    p = p.with_payload(p.body.mass_kg * abs(float(rng.normal(0.0, 0.01))))
    change = PLANT.get(planted.kind)
    return change(p, planted.amount) if change else p


def _steered(p: PlantParameters, turned_rad: float, gain: float) -> PlantParameters:
    return replace(
        p,
        steering=tuple(
            replace(it, curve=tuple((gain * rad + turned_rad, ns) for rad, ns in it.curve))
            for it in p.steering
        ),
    )


def _brake(p: PlantParameters, amount: float) -> PlantParameters:
    scale = 1.0 + amount
    if p.brake:
        return replace(p, brake=replace(p.brake, torque_max_nm=scale * p.brake.torque_max_nm))
    name = "brake_max" if hasattr(p.esc, "brake_max") else "brake_max_a"
    return replace(p, esc=replace(p.esc, **{name: scale * getattr(p.esc, name)}))  # type: ignore[type-var]


def _strength(p: PlantParameters, amount: float) -> PlantParameters:
    """Let the same pulse give less: an ESC's end point too far off, a VESC's greatest duty."""
    scale = 1.0 + amount
    if isinstance(p.esc, EscParameters):
        span_ns = (p.esc.forward_ns - p.esc.neutral_ns - p.esc.dead_band_ns) / scale
        forward_ns = p.esc.neutral_ns + p.esc.dead_band_ns + span_ns
        return replace(p, esc=replace(p.esc, forward_ns=forward_ns))
    if isinstance(p.esc, VescParameters):
        return replace(p, esc=replace(p.esc, duty_max=scale * p.esc.duty_max))
    return p  # an H-bridge's: WrongPlant


# How each is planted: by another way of the plant than the search has it, where there is one. A
# load lies behind the middle, and a wrong end point weakens a drive.
PLANT: dict[str, Callable[[PlantParameters, float], PlantParameters]] = {
    "trim": lambda p, a: _steered(p, a, 1.0),
    "steering_gain": lambda p, a: _steered(p, 0.0, 1.0 + a),
    "steering_delay": lambda p, a: replace(
        p, servo=replace(p.servo, dead_time_s=p.servo.dead_time_s + a)
    ),
    "steering_rate": lambda p, a: replace(
        p, servo=replace(p.servo, rate_rad_s=p.servo.rate_rad_s * (1.0 + a))
    ),
    "wheels": lambda p, a: replace(
        p, drive=replace(p.drive, wheel_radius_m=p.drive.wheel_radius_m * (1.0 + a))
    ),
    "strength": _strength,
    "mass": lambda p, a: p.with_payload(a * p.body.mass_kg, -0.1 * p.body.lr_m),
    "friction": lambda p, a: replace(
        p,
        drive=replace(
            p.drive,
            friction_n=p.drive.friction_n * (1.0 + a),
            rolling_resistance=p.drive.rolling_resistance * (1.0 + a),
        ),
    ),
    "grip": lambda p, a: replace(p, mu=p.mu * (1.0 + a)),
    "brake": _brake,
}


class WrongPlant:
    """A plant whose gyro tells so much more than it turns, or whose bridges give so much more.

    A weaker battery would not let an H-bridge's car be armed.
    """

    def __init__(self, plant: Plant, gyro: float, bridge: float) -> None:
        self.__dict__.update(_plant=plant, _gyro=gyro, _bridge=bridge)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plant, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._plant, name, value)

    @property
    def yaw_rate_mrad_s(self) -> int:
        told: int = self._plant.yaw_rate_mrad_s
        return round(self._gyro * told)

    def step(self, dt_s: float, outputs: Sequence[int], enable: bool) -> None:
        """As the plant's own."""
        driven = self._plant.parameters.drive_channels
        given = [round(self._bridge * it) if at in driven else it for at, it in enumerate(outputs)]
        self._plant.step(dt_s, given, enable)


def wrong(plant: Plant, planted: Planted) -> Any:
    """The plant, with what is wrong outside its parameters."""
    scale = 1.0 + planted.amount
    if planted.kind == "gyro":
        return WrongPlant(plant, scale, 1.0)
    if planted.kind == "strength" and plant.speed_controller is None:
        return WrongPlant(plant, 1.0, scale)
    return plant


class Driver(OneDrive):
    """A driver who drives the segments, once the car lets it."""

    def __init__(self, planted: Planted) -> None:
        super().__init__()
        self._planted = planted

    def driven(self, since_us: int) -> DriveCommand:
        since_s = since_us * 1e-6 - 0.5  # neutral first, for half a second
        if since_s > DRIVE_S:
            return self.released()
        now = [it for it in self._planted.segments if it.from_s <= since_s]
        speed, steer = (now[-1].speed, now[-1].steer) if now else (0.0, 0.0)
        return self.held(steer * self._planted.steer_rad, speed * self._planted.speed_mps)

    @property
    def is_over(self) -> bool:
        began_us = self.began_us
        return began_us is not None and self.now_us > began_us + round((DRIVE_S + 2.0) * 1e6)


def drive(planted: Planted, log: Path) -> list[Place]:
    """Drive it, into a log; return where the car was in truth."""
    car = open_in_lockstep(HOST.vehicles, f"sim://{planted.vehicle}?seed={planted.run_seed}")
    world: Any = car.world
    world.plant = wrong(Plant(plant_of(planted), planted.run_seed), planted)
    car.log = new_recorder(log, car.clock)
    driver = Driver(planted)
    options = DriveOptions(cars=(), input=driver, is_lockstep=True)
    run = LockstepDrive([car], driver, options)
    begun_us = run.now_us
    places: list[Place] = []
    try:
        while not driver.is_over:
            run.tick()
            places.append((run.now_us * 1e-6, world.plant.truth.x_m, world.plant.truth.y_m))
            if driver.began_us is None and run.now_us > begun_us + 8_000_000:
                raise SystemExit(f"this car did not set out: {planted}")
    finally:
        run.close()
        car.close()
        car.log.close()
    return places


def driven(planted: Planted, log: Path, reader: str) -> LogDrive | PoseDrive:
    """Drive it, and read the drive as ``tandem replay`` does by this reader."""
    places = drive(planted, log)
    facts = HOST.vehicles.load(planted.vehicle)
    if reader == "bag":
        return from_bag(log, facts)
    if reader == "tracked":
        return from_tracking(log, facts, places, planted.run_seed)
    return LogDrive(facts, read_tandem_log(log, planted.vehicle, facts))


class Told(NamedTuple):
    """One answer: whether the drive suffices, what was told, and what was undecided; seconds."""

    kind: str
    seed: int
    vehicle: str
    manoeuvre: str
    amount: float
    effect: float
    told: str = ""
    sentence: str = ""
    undecided: Sequence[str] = ()
    misfit: float = 0.0
    seconds: float = 0.0
    gains: Sequence[Sequence[Any]] = ()


def asked(kind: str, seed: int, reader: str = READERS[0]) -> Told:
    """Plant, drive and ask."""
    planted = drawn(kind, seed)
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder) / f"{at}.mcap" for at in range(2)]
        seen, effect = driven(planted, logs[0], reader), 0.0
        if kind != CONTROL and can_show(seen, kind):
            effect = effect_of(seen, driven(planted.without(), logs[1], reader))
        if kind != CONTROL and effect < SUFFICES:
            return Told(kind, seed, planted.vehicle, planted.manoeuvre, planted.amount, effect)
        began = time.process_time()
        found = search(seen)
        spent_s = time.process_time() - began
    told = found.told
    return Told(
        kind, seed, planted.vehicle, planted.manoeuvre, planted.amount, effect,
        told.cause.name if told else "", told.sentence() if told else "",
        [it.cause.name for it in found.undecided], found.misfit, spent_s,
        [[it.cause.name, *(round(number, 4) for number in it[1:])]
         for it in found.candidates[:4]],
    )  # fmt: skip


def can_show(drive: LogDrive | PoseDrive, kind: str) -> bool:
    """Whether such a drive is asked for this cause at all."""
    return any(it.name == kind and drive.can_have(it) for it in CAUSES)


def effect_of(planted: LogDrive | PoseDrive, without: LogDrive | PoseDrive) -> float:
    """How far the cause moves some sensor, in differences of the drive without it and its twin."""
    count = min(planted.seen.shape[1], without.seen.shape[1])
    moved = (planted.seen - without.seen)[:, :count]
    cause, band = (
        np.sqrt(np.nanmean(it**2, axis=1)) for it in (moved, without.seen - without.twin)
    )
    return float(np.nanmax(cause / np.maximum(band, planted.least_noise)))


class KeptAnswers:
    """Answers by kind and seed: those that a file has, and new ones, which it gets at once."""

    def __init__(self, file: Path | None, reader: str = READERS[0]) -> None:
        self._reader = reader
        self._kept = KeptRows(file, f"{sources_of(SOURCES)} {reader}") if file else None
        rows = self._kept.rows if self._kept else []
        self._known = {(row["kind"], row["seed"]): Told(**row) for row in rows}

    def ask(self, kind: str, seed: int) -> Told:
        """As ``asked``."""
        if (kind, seed) in self._known:
            return self._known[kind, seed]
        found = asked(kind, seed, self._reader)
        if self._kept:
            self._kept.add(found._asdict())
        return found


def answers_to(wanted: Sequence[str], answers: KeptAnswers, seed: int) -> Iterator[Told]:
    """One of each kind, from this seed on; where the drive does not suffice another is drawn."""
    for kind in wanted:
        for _ in range(MOST_DRAWN):
            one, seed = answers.ask(kind, seed), seed + 1
            yield one
            if kind == CONTROL or one.effect >= SUFFICES:
                break


def interleaved(kinds: Sequence[str], controls: int) -> list[str]:
    """The kinds in order with the controls among them, so that a part of a study has both."""
    share = controls / len(kinds) if kinds else float(controls)
    wanted: list[str] = []
    for at, kind in enumerate(kinds):
        wanted += [kind] + [CONTROL] * (int(share * (at + 1)) - int(share * at))
    return wanted + [CONTROL] * (controls - wanted.count(CONTROL))


def lines(found: Sequence[Told]) -> list[str]:
    """What the study prints at its end."""
    planted = [it for it in found if it.kind != CONTROL]
    sufficed = [it for it in planted if it.effect >= SUFFICES]
    controls = [it for it in found if it.kind == CONTROL]
    by_kind: dict[str, list[Told]] = defaultdict(list)
    for it in sufficed:
        by_kind[it.kind].append(it)
    lines = []
    for kind, rows in by_kind.items():
        right = sum(it.told == kind for it in rows)
        wrong = Counter(it.told for it in rows if it.told not in ("", kind))
        lines.append(
            f"{kind:15} {len(rows):4} planted, {right:4} right, "
            f"{sum(not it.told for it in rows):4} not told, wrong {dict(wrong)}"
        )
    if sufficed:
        right = sum(it.told == it.kind for it in sufficed)
        share = binomtest(right, len(sufficed)).proportion_ci(0.95, "wilson")
        lines.append(
            f"{right} of {len(sufficed)} right where the drive suffices, a share of "
            f"{right / len(sufficed):.3f} ({share.low:.3f} to {share.high:.3f}, 95 %, Wilson); "
            f"{sum(not it.told for it in sufficed)} not told"
        )
        short = len(planted) - len(sufficed)
        lines.append(f"{short} drives more did not suffice, and were not asked")
    if controls:
        lines.append(
            f"{sum(bool(it.told) for it in controls)} of {len(controls)} controls told a cause, "
            f"{sum(bool(it.undecided) for it in controls)} undecided between two"
        )
    lines.append(
        f"{np.mean([it.seconds for it in (*sufficed, *controls)] or [0.0]):.1f} s each, "
        f"{max(it.seconds for it in found):.1f} s at most"
    )
    return lines


def main(words: Sequence[str] | None = None) -> int:
    """0 when all were asked, 130 when somebody stopped it; either way with what there is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--causes", type=int, default=len(KINDS), help="kinds by turns (11)")
    parser.add_argument("--controls", type=int, default=0, help="drives without a cause (0)")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="of the first (0)")
    parser.add_argument("--read-as", choices=READERS, default=READERS[0], help="of a drive (log)")
    parser.add_argument("--only", choices=KINDS, help="one kind of cause")
    parser.add_argument(
        "--into", type=Path, metavar="FILE", help="keep each answer, and go on there"
    )
    parser.add_argument("--show", action="store_true", help="each answer in full")
    args = parser.parse_args(words)
    kinds = (args.only,) if args.only else KINDS if args.read_as == READERS[0] else IN_POSES
    wanted = interleaved([kinds[i % len(kinds)] for i in range(args.causes)], args.controls)
    found: list[Told] = []
    code = 0
    try:
        for one in answers_to(wanted, KeptAnswers(args.into, args.read_as), args.first):
            found.append(one)
            _show(one, args.show)
    except KeyboardInterrupt:
        code = 130
    if found:
        print(*lines(found), sep="\n")
    return code


def _show(one: Told, is_whole: bool) -> None:
    right = "" if one.kind == CONTROL else one.kind
    suffices = one.kind == CONTROL or one.effect >= SUFFICES
    word = "right" if one.told == right else "NOT TOLD" if not one.told else "WRONG"
    print(
        f"seed {one.seed} {one.vehicle} {one.manoeuvre} {one.kind} {one.amount:.3f}, "
        f"{one.effect:.1f} bands: {word if suffices else 'does not suffice'}, "
        f"{one.sentence or one.undecided or 'nothing'} ({one.seconds:.1f} s)",
        flush=True,
    )
    if is_whole or (word != "right" and suffices):
        print(f"    misfit {one.misfit:.2f}; {one.gains}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
