"""Planted accidents, asked of ``tandem why``: does it blame what was planted, and nobody else?

Each is a drive of a virtual car by the complete host, in lockstep, which stops late for one reason
that a seed draws: the driver let go late, the floor was slippery, the cap was raised, the line was
slow or lost what mattered, the driver's program died. What it truly cost is the way of the same
drive without that reason. Controls are drives that stop as they should. Ten seconds for each. With
--into every answer is kept as it is given, and the same words again go on.

    python -m tests.studies.accident_study --accidents 200 --controls 100 --into accidents.jsonl
    python -m tests.studies.accident_study --accidents 6 --show
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from math import hypot
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binomtest

from calibration.commands.why import explained
from host_bridge.core import DriveCommand, Vehicle
from host_bridge.core.codes import Profile
from host_bridge.core.errors import TandemError
from host_bridge.drive.lockstep.car import LockstepCar, open_in_lockstep
from host_bridge.drive.lockstep.loop import LockstepDrive
from host_bridge.link.transports.lossy_line import LineParameters, LossyLine
from host_bridge.sharing.owner.recording import new_recorder
from host_bridge.sharing.services import make_host
from sim_mock.programs import children
from sim_mock.runtime import compiled
from tests.support.kept_rows import KeptRows, sources_of
from tests.support.one_drive import OneDrive

HOST = make_host()
KINDS = ("release", "grip", "cap", "delay", "loss", "lease")
CONTROL = "control"
VEHICLES = ("f1tenth", "f1tenth_vesc", "autorally", "hunter_se")
CAPPED = ("f1tenth", "hunter_se")  # those whose cap on a track keeps them slow
SLOWEST_COST_M, LEAST_SHARE = 0.15, 0.12  # a reason that cost less was no accident: drawn again
SEEN_S = 5.0  # after it set out: by then every one of these cars is at its speed
GONE_US = 10**9
SOURCES = (
    "calibration/accidents/*.py", "calibration/commands/why.py", "firmware/**/*.py",
    "hardware/vehicles/**/*.toml", "host_bridge/cars/*.py", "host_bridge/config/**/*.py",
    "host_bridge/core/**/*.py", "host_bridge/drive/*.py", "host_bridge/drive/lockstep/*.py",
    "host_bridge/link/**/*.py", "host_bridge/logs/*.py", "sim_mock/**/*.py",
    "tests/studies/accident_study.py", "tests/support/one_drive.py",
)  # fmt: skip


@dataclass(frozen=True)
class Accident:
    """One drive: its car, and how each of the possible reasons is in it."""

    kind: str
    vehicle: str
    seed: int
    speed_mps: float
    steer_rad: float
    react_s: float
    mu_scale: float
    delay_ms: float
    loss: float
    burst_s: tuple[float, float]  # all frames to the car are lost, after the driver let go
    dies: bool  # the driver's program ends instead of letting go
    cap_mps: float | None  # to which somebody has raised the cap of the profile track
    changes: dict[str, Any]

    def without(self) -> Accident:
        """The same drive without its reason."""
        track_mps = HOST.vehicles.load(self.vehicle).profile_caps_mps["track"]
        return replace(
            self,
            react_s=min(self.react_s, 0.2),
            mu_scale=1.0,
            delay_ms=min(self.delay_ms, 5.0),
            loss=0.0,
            burst_s=(0.0, 0.0),
            dies=False,
            speed_mps=min(self.speed_mps, track_mps),
        )


def drawn(kind: str, seed: int) -> Accident:
    """One accident, or one control; what is not its reason is as on an ordinary day."""
    rng = np.random.default_rng([seed, 7])
    vehicle = str(rng.choice(CAPPED if kind == "cap" else VEHICLES))
    facts = HOST.vehicles.load(vehicle)
    script = facts.source("script")
    top_mps = min(facts.profile_caps_mps["track"], script.speed_cap_mps, 6.0)
    cap_mps = None
    speed_mps, changes = float(rng.uniform(0.7, 1.0)) * top_mps, {}
    if kind == "cap":
        cap_mps = 4.0  # m/s: the most that a blind distance of half a metre allows
        speed_mps = float(rng.uniform(0.9, 1.0)) * cap_mps
    if kind == "lease" and rng.random() < 0.5:
        longest_s = min(0.29, facts.blind_m / top_mps)
        changes = {"sources.script.lease_s": round(float(rng.uniform(0.12, longest_s)), 3),
                   "sources.script.speed_cap_mps": top_mps}  # fmt: skip
    burst_s = (0.0, 0.0)
    if kind == "loss":
        burst_s = (-float(rng.uniform(0.0, 0.02)), float(rng.uniform(0.07, 0.3)))
    return Accident(
        kind, vehicle, seed, speed_mps,
        steer_rad=float(rng.choice([0.0, 0.0, 0.05, -0.03])),
        react_s=float(rng.uniform(0.6, 1.6) if kind == "release" else rng.uniform(0.05, 0.2)),
        mu_scale=float(rng.uniform(0.12, 0.4) if kind == "grip" else rng.uniform(0.97, 1.0)),
        delay_ms=float(rng.uniform(35, 60) if kind == "delay" else rng.uniform(0, 8)),
        loss=float(rng.uniform(0.0, 0.03)), burst_s=burst_s,
        dies=kind == "lease", cap_mps=cap_mps, changes=changes,
    )  # fmt: skip


class RaisedCaps:
    """Vehicle files whose cap on a track was raised behind the files' own rules."""

    def __init__(self, cap_mps: float) -> None:
        self._cap_mps = cap_mps

    def load(self, name: str, changes: Mapping[str, Any] | None = None) -> Vehicle:
        found = HOST.vehicles.load(name, changes)
        of, cap_mm_s = found.parameters, round(self._cap_mps * 1e3)
        profiles, sources = list(of["profile_cap_mm_s"]), list(of["source_cap_mm_s"])
        script = found.source("script")
        profiles[Profile.TRACK] = sources[script.id] = cap_mm_s
        return replace(
            found,
            parameters={**of, "profile_cap_mm_s": profiles, "source_cap_mm_s": sources},
            profile_caps_mps={**found.profile_caps_mps, "track": self._cap_mps},
            sources=tuple(
                replace(it, speed_cap_mps=self._cap_mps) if it.id == script.id else it
                for it in found.sources
            ),
        )


class Driver(OneDrive):
    """A driver who holds a speed until it has seen a reason to stop, and has reacted."""

    def __init__(self, accident: Accident) -> None:
        super().__init__()
        self._accident = accident
        self.seen_us = self.let_go_us = GONE_US

    def begin(self, now_us: int) -> None:
        super().begin(now_us)
        self.seen_us = now_us + round(SEEN_S * 1e6)
        self.let_go_us = self.seen_us + round(self._accident.react_s * 1e6)

    def driven(self, since_us: int) -> DriveCommand:
        if self.now_us >= self.let_go_us:
            return self.released(0 if self._accident.dies else None)
        is_moving = since_us > 300_000  # us: neutral first
        return self.held(self._accident.steer_rad, self._accident.speed_mps if is_moving else 0.0)

    @property
    def is_over(self) -> bool:
        return self.now_us > self.let_go_us + 8_000_000  # us: every one of them stands by then


class BadLine:
    """The line between host and car: late, lossy, and dead for a while.

    It is good until the car is armed and drives, since a bad one keeps a car from being armed.
    """

    def __init__(self, car: LockstepCar, accident: Accident, driver: Driver) -> None:
        delay = LineParameters(loss=accident.loss, delay_us=round(accident.delay_ms * 1000))
        self._up = LossyLine(delay, f"{accident.seed}/up")
        self._down = LossyLine(replace(delay, loss=0.0), f"{accident.seed}/down")
        self._car, self._accident, self._driver = car, accident, driver
        self._feed, self._advance = car.world.feed, car.world.advance
        car.world.feed, car.world.advance = self.feed, self.advance  # type: ignore[method-assign]

    def feed(self, data: bytes) -> None:
        now_us = self._car.clock.now_us()
        begin_s, end_s = self._accident.burst_s
        since_s = (now_us - self._driver.let_go_us) * 1e-6
        if not self._is_bad():
            self._feed(data)
        elif not begin_s <= since_s < end_s:
            self._up.pass_(data, now_us)

    def _is_bad(self) -> bool:
        began_us = self._driver.began_us
        return began_us is not None and self._car.clock.now_us() > began_us + 1_000_000

    def advance(self, until_us: int) -> bytes:
        for frame in self._up.due(self._car.clock.now_us()):
            self._feed(frame)
        heard = self._advance(until_us)
        if not self._is_bad():
            return heard
        self._down.pass_(heard, self._car.clock.now_us())
        return b"".join(self._down.due(self._car.clock.now_us()))


class Driven(NamedTuple):
    """What became of a drive: the way in m from the reason to rest, and when it was seen, in s."""

    way_m: float
    seen_s: float


def drive(accident: Accident, log: Path | None) -> Driven:
    """Drive it, into a log or not."""
    uri = f"sim://{accident.vehicle}?seed={accident.seed}"
    files = RaisedCaps(accident.cap_mps) if accident.cap_mps else HOST.vehicles
    car = open_in_lockstep(files, uri, accident.changes)
    car.log = new_recorder(log, car.clock) if log else None
    driver = Driver(accident)
    BadLine(car, accident, driver)
    run = LockstepDrive([car], driver)
    plant = car.world.plant
    truth, usual = plant.truth, plant.parameters.mu
    way_m, began_us, still = 0.0, run.now_us, 0
    try:
        while still < 60 and run.now_us < began_us + 30_000_000:  # us: more than any of them lasts
            x_m, y_m = truth.x_m, truth.y_m
            run.tick()
            if driver.began_us is None and run.now_us > began_us + 5_000_000:
                raise SystemExit(f"this car did not set out: {accident}")
            if run.now_us > driver.seen_us:
                plant.set_grip(accident.mu_scale * usual)  # the floor is slippery from there on
                step_m = hypot(truth.x_m - x_m, truth.y_m - y_m)
                way_m += step_m
                still = still + 1 if step_m < 1e-5 else 0
        for _ in range(100):
            car.step()
    finally:
        run.close()
        car.close()
        if car.log:
            car.log.close()
    return Driven(way_m, (driver.seen_us - began_us) * 1e-6)


@contextmanager
def driver() -> Iterator[Callable[[Accident, Path | None], Driven]]:
    """Drives in machine code where it is built, in a process of their own.

    What ``tandem why`` runs again it copies, which machine code cannot be.
    """
    if not compiled.is_built():
        yield drive
        return
    before = os.environ.get(compiled.ASKED)
    os.environ[compiled.ASKED] = "1"
    try:
        with children.pool(1) as process:
            yield lambda accident, log: process.submit(drive, accident, log).result()
    finally:
        os.environ.pop(compiled.ASKED)
        if before is not None:
            os.environ[compiled.ASKED] = before


Drives = Callable[[Accident, "Path | None"], Driven]


class Asked(NamedTuple):
    """One answer of ``tandem why``: what it blames, and what was true; seconds of a core."""

    accident: Accident
    cost_m: float
    answered: bool
    blamed: list[str]
    seconds: float
    finding: str


def asked(kind: str, seed: int, drive: Drives = drive) -> Asked | None:
    """Plant, drive and ask; None for a reason that cost next to nothing."""
    accident = drawn(kind, seed)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "drive.mcap"
        driven = drive(accident, log)
        cost_m = 0.0
        if kind != CONTROL:
            cost_m = driven.way_m - drive(accident.without(), None).way_m
            if cost_m < max(SLOWEST_COST_M, LEAST_SHARE * driven.way_m):
                return None
        began = time.process_time()
        try:
            report = explained(log, "", HOST.vehicles.load, driven.seen_s, None)
        except TandemError as fault:
            spent_s = time.process_time() - began
            return Asked(accident, cost_m, False, [], spent_s, str(fault))
        spent_s = time.process_time() - began
    row = report.row()
    return Asked(
        accident, cost_m, row["answered"], row["blamed"], spent_s, "\n    ".join(report.lines())
    )


class KeptAnswers:
    """Answers by kind and seed: those that a file has, and new ones, which it gets at once."""

    def __init__(self, file: Path | None, drive: Drives = drive) -> None:
        self._drive = drive
        self._kept = KeptRows(file, sources_of(SOURCES)) if file else None
        rows = self._kept.rows if self._kept else []
        self._known = {(row["kind"], row["seed"]): _answer_of(row["answer"]) for row in rows}

    def ask(self, kind: str, seed: int) -> Asked | None:
        """As ``asked``."""
        if (kind, seed) in self._known:
            return self._known[kind, seed]
        found = asked(kind, seed, self._drive)
        if self._kept:
            plain = found and {**found._asdict(), "accident": asdict(found.accident)}
            self._kept.add({"kind": kind, "seed": seed, "answer": plain})
        return found


def _answer_of(row: dict[str, Any] | None) -> Asked | None:
    if row is None:
        return None
    planted = row["accident"]
    accident = Accident(**{**planted, "burst_s": tuple(planted["burst_s"])})
    return Asked(**{**row, "accident": accident})


def lines(found: Sequence[Asked]) -> list[str]:
    """What the study prints at its end."""
    accidents = [it for it in found if it.accident.kind != CONTROL]
    controls = [it for it in found if it.accident.kind == CONTROL]
    lines = []
    by_kind: dict[str, list[Asked]] = defaultdict(list)
    for it in accidents:
        by_kind[it.accident.kind].append(it)
    for kind, rows in by_kind.items():
        answered = [it for it in rows if it.answered]
        first = sum(it.blamed[:1] == [kind] for it in answered)
        lines.append(f"{kind:8} {len(rows):4} planted, {len(answered):4} answered, {first:4} first")
    answered = [it for it in accidents if it.answered]
    if answered:
        first = sum(it.blamed[:1] == [it.accident.kind] for it in answered)
        low = binomtest(first, len(answered)).proportion_ci(0.95, "wilson").low
        lines.append(
            f"{len(answered)} of {len(accidents)} answered; the planted cause first in {first}, "
            f"a share of {low:.3f} at least (95 %, Wilson)"
        )
    if controls:
        wrong = sum(bool(it.blamed) for it in controls)
        answered = [it for it in controls if it.answered]
        lines.append(f"{wrong} of {len(controls)} controls blamed, {len(answered)} answered")
    seconds = [it.seconds for it in found]
    lines.append(f"{np.mean(seconds):.1f} s each, {max(seconds):.1f} s at most")
    return lines


def main(words: Sequence[str] | None = None) -> int:
    """0 when all were asked, 130 when somebody stopped it; either way with what there is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--accidents", type=int, default=12, help="kinds by turns (12)")
    parser.add_argument("--controls", type=int, default=0, help="stops as they should be (0)")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="of the first (0)")
    parser.add_argument("--only", choices=KINDS, help="one kind of reason")
    parser.add_argument(
        "--into", type=Path, metavar="FILE", help="keep each answer, and go on there"
    )
    parser.add_argument("--show", action="store_true", help="each answer in full")
    args = parser.parse_args(words)
    kinds = (args.only,) if args.only else KINDS
    wanted = [kinds[i % len(kinds)] for i in range(args.accidents)] + [CONTROL] * args.controls
    found: list[Asked] = []
    code = 0
    try:
        with driver() as drive_one:
            for one in answers_to(wanted, KeptAnswers(args.into, drive_one), args.first):
                found.append(one)
                _show(one, args.show)
    except KeyboardInterrupt:
        code = 130
    if found:
        print(*lines(found), sep="\n")
    return code


def answers_to(wanted: Sequence[str], answers: KeptAnswers, seed: int) -> Iterator[Asked]:
    """One of each kind, from this seed on; what was no accident is drawn again."""
    for kind in wanted:
        one = None
        while one is None:
            one, seed = answers.ask(kind, seed), seed + 1
        yield one


def _show(one: Asked, is_whole: bool) -> None:
    planted = one.accident
    right = [] if planted.kind == CONTROL else [planted.kind]
    word = "no answer" if not one.answered else "right" if one.blamed[:1] == right else "WRONG"
    print(
        f"seed {planted.seed} {planted.vehicle} {planted.kind} {one.cost_m:.2f} m: {word}, "
        f"{', '.join(one.blamed) or 'nothing'} ({one.seconds:.1f} s)",
        flush=True,
    )
    if is_whole or word != "right":
        print(f"    {one.finding}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
