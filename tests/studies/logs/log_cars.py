"""Made cars whose numbers are known, and logs of their drives as ``tandem calibrate`` reads them.

A log of each kind lacks something: its speed hardly varies, it has no gyro, cameras alone saw the
car, two floors had another grip, or the car is driven at the rear. The plant is that of the virtual
car, under the loop of its board; its wheels wander, as those of real cars do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import atan, exp
from typing import Any, NamedTuple

import numpy as np

from calibration.arrays import Floats
from calibration.logs.trace import DriveTrace, Series
from calibration.simulation.board_loop import BoardLoop
from calibration.simulation.plant_numbers import plant_parameters
from host_bridge.core import Vehicle
from host_bridge.sharing.services import make_host
from sim_mock.plant.vehicle_plant import Plant

F1TENTH = make_host().vehicles.load("f1tenth")
STEP_S = 0.001  # of the plant
ROW_STEPS = 2  # steps of the board to a row of the log
RESTS_S = 2.0  # before and after the drive, beside the time in which its ESC arms
HOLD_S = (1.2, 6.0)  # a steering angle, a speed
ANGLES_RAD = (-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3)
LATERAL_MPS2 = (
    3.5  # most that is asked of the tyres: a third of their grip, where they are straight
)
STEER_RADPS = 3.0  # the commands' own ramp, below that of board and servo
WANDER_RAD, WANDER_S = 0.006, 0.3  # of the wheels: floor and linkage; the time that it remembers
CAMERA_M, CAMERA_RAD = 0.0005, 0.003  # noise of a tracked pose
LATE_S = 0.03  # by so much a tracked pose is late
FLOORS = (1.0, 0.75)  # stiffness of the tyres, of the first floor's


class Kind(NamedTuple):
    """One kind of log, and what a drive of that kind suffices for, fixed before any was made."""

    speeds_mps: tuple[float, ...]
    tells: frozenset[str]
    driven: str = "all"
    has_gyro: bool = True
    has_wheels: bool = True
    floors: int = 1


_MAP = frozenset({"steer_trim_rad", "steer_gain_left", "steer_gain_right"})
_TIMING = frozenset({"steer_delay_s", "steer_lag_s"})
_TYRES = frozenset({"understeer_s2_per_m2"})
_PLAY = frozenset({"steer_play_rad"})
_VARIED = (1.0, 1.8, 2.6)
KINDS = {
    "all sensors": Kind(_VARIED, _MAP | _TIMING | _TYRES | _PLAY),
    "constant speed": Kind((1.3,), _MAP | _TIMING | _PLAY),
    "no gyro": Kind(_VARIED, _MAP | {"steer_lag_s"} | _TYRES | _PLAY, has_gyro=False),
    "motion capture": Kind(_VARIED, _MAP | _TYRES | _PLAY, has_gyro=False, has_wheels=False),
    "two floors": Kind(_VARIED, _MAP | _TIMING | _PLAY, floors=2),
    "rear drive": Kind(_VARIED, _MAP | _TIMING | _TYRES | _PLAY, driven="rear"),
}


@dataclass(frozen=True)
class LoggedCar:
    """``values`` by the names of what a log tells; ``ahead_m`` of the rear axle it is tracked."""

    kind: Kind
    values: dict[str, float]
    stiffness: tuple[float, float]  # front and rear, of the vehicle file's
    length: float  # of the wheelbase in the vehicle file
    ahead_m: float

    def vehicle(self) -> Vehicle:
        """Return the vehicle that whoever calibrates holds it for."""
        plant: dict[str, Any] = dict(F1TENTH.plant)
        plant["drive"] = {**plant["drive"], "driven": self.kind.driven}
        return replace(F1TENTH, plant=plant)

    def understeer(self, grip: float) -> float:
        """Return its understeer in s^2/m^2 on a floor of this grip."""
        plant: dict[str, Any] = F1TENTH.plant
        front, rear = (
            grip * share * plant["tyre"][f"stiffness_{axle}_per_rad"]
            for share, axle in zip(self.stiffness, ("front", "rear"), strict=True)
        )
        body = plant["body"]
        return float((1 / front - 1 / rear) / (9.81 * self.length * (body["lf_m"] + body["lr_m"])))

    def truths(self, name: str) -> list[float]:
        """Return the true values of a parameter, one for each floor."""
        if name in _TYRES:
            return [self.understeer(grip) for grip in FLOORS[: self.kind.floors]]
        return [self.values[name]]


def logged_car(seed: int, kind: str) -> LoggedCar:
    """Draw a car; the errors that an interval has to assume are drawn as it assumes them."""
    rng = np.random.default_rng([seed, [*KINDS].index(kind)])
    gain, side = rng.uniform(0.8, 1.15), rng.uniform(-0.05, 0.05)
    length = 1.0 + 0.005 * rng.normal()  # the wheelbase as measured (regression/README.md)
    values = {
        "steer_trim_rad": 0.03 * rng.normal(),
        "steer_gain_left": gain * (1 + side),
        "steer_gain_right": gain * (1 - side),
        "steer_delay_s": rng.uniform(0.005, 0.08),
        "steer_lag_s": rng.uniform(0.02, 0.1),
        "steer_play_rad": 0.0,
    }
    axles = exp(0.15 * rng.normal()), exp(0.15 * rng.normal())  # as single_track.py assumes
    return LoggedCar(KINDS[kind], values, axles, length, float(rng.uniform(0.0, 0.33)))


def drive_logs(car: LoggedCar, seed: int, seconds: float) -> list[DriveTrace]:
    """Drive the car on each floor, for so long in all."""
    rng = np.random.default_rng([seed, 7])
    floors = FLOORS[: car.kind.floors]
    return [_driven(car, grip, seconds / len(floors), rng) for grip in floors]


def _plant(car: LoggedCar, grip: float, seed: int) -> Plant:
    vehicle = car.vehicle()
    plant: dict[str, Any] = vehicle.plant
    front, rear = (grip * share for share in car.stiffness)
    body, tyre, values = plant["body"], plant["tyre"], car.values
    changed = {
        **plant,
        "body": {**body, "lf_m": car.length * body["lf_m"], "lr_m": car.length * body["lr_m"]},
        "tyre": {
            **tyre,
            "stiffness_front_per_rad": front * tyre["stiffness_front_per_rad"],
            "stiffness_rear_per_rad": rear * tyre["stiffness_rear_per_rad"],
        },
        "servo": {"rate_rad_s": 100.0, "dead_time_s": values["steer_delay_s"],
                  "lag_s": values["steer_lag_s"]},
    }  # fmt: skip
    channels = [_bent(one, values) for one in vehicle.channels]
    return Plant(plant_parameters(replace(vehicle, plant=changed, channels=tuple(channels))), seed)


def _bent(channel: dict[str, object], values: dict[str, float]) -> dict[str, object]:
    """Return the steering as it is: its trim and the gains of its sides, in fine steps."""
    if channel["kind"] != "servo_steering":
        return channel
    commanded, pulses = np.array(channel["curve"], float).T
    fine = np.union1d(np.linspace(commanded[0], commanded[-1], 41), values["steer_trim_rad"])
    off = fine - values["steer_trim_rad"]
    gains = np.where(off > 0.0, values["steer_gain_left"], values["steer_gain_right"])
    curve = np.column_stack([off * gains, np.interp(fine, commanded, pulses)]).tolist()
    return {**channel, "curve": curve}


def _schedule(kind: Kind, seconds: float, step_s: float, rng: np.random.Generator) -> Floats:
    """Return the commands of each step of the board: speed in m/s and steering in rad, (2, n)."""
    speeds, angles = np.zeros((2, round(seconds / step_s)))
    hold_s, leg_s = HOLD_S
    first = int(rng.integers(len(kind.speeds_mps)))
    for begin_s in np.arange(0.0, seconds, leg_s):
        part = slice(round(begin_s / step_s), round((begin_s + leg_s) / step_s))
        speeds[part] = kind.speeds_mps[(first + int(begin_s / leg_s)) % len(kind.speeds_mps)]
    for begin_s in np.arange(0.0, seconds, hold_s):
        part = slice(round(begin_s / step_s), round((begin_s + hold_s) / step_s))
        most_rad = atan(F1TENTH.wheelbase_m * LATERAL_MPS2 / max(speeds[part].max(), 0.1) ** 2)
        angles[part] = np.clip(rng.choice(ANGLES_RAD), -most_rad, most_rad)
    return np.array([speeds, _ramped(angles, STEER_RADPS * step_s)])


def _ramped(values: Floats, most: float) -> Floats:
    found, now = np.zeros(len(values)), 0.0
    for at, wanted in enumerate(values):
        now += min(max(float(wanted) - now, -most), most)
        found[at] = now
    return found


def _wander(count: int, step_s: float, rng: np.random.Generator) -> Floats:
    """Return a noise with a deviation of WANDER_RAD that remembers itself for WANDER_S."""
    keep = exp(-step_s / WANDER_S)
    fresh = WANDER_RAD * (1 - keep**2) ** 0.5 * rng.normal(size=count)
    for at in range(1, count):
        fresh[at] += keep * fresh[at - 1]
    return np.asarray(fresh)


def _driven(car: LoggedCar, grip: float, seconds: float, rng: np.random.Generator) -> DriveTrace:
    plant = _plant(car, grip, int(rng.integers(1 << 30)))
    board = BoardLoop(F1TENTH.parameters, is_ramped=False)
    armed_s = getattr(plant.parameters.esc, "arm_s", 0.0)
    steps = round((RESTS_S + armed_s) / board.step_s)
    schedule = _schedule(car.kind, seconds, board.step_s, rng)
    schedule = np.pad(schedule, ((0, 0), (steps, round(RESTS_S / board.step_s))))
    wander = _wander(schedule.shape[1], board.step_s, rng)
    per_m = 1e9 / F1TENTH.parameters["nm_per_count"][0]
    rows, poses = [], []
    for step, (target_mps, steer_rad) in enumerate(schedule.T):
        t_s = step * board.step_s
        if step % ROW_STEPS == 0:
            # a command waits for half a step of the board, on average
            told_s = t_s - 0.5 * board.step_s
            rolled_m = sum(plant.counts()) / 2 / per_m
            # and the gyro's sample is as new as can be, where a board's is half a step old
            felt_s = t_s + 0.5 * board.step_s
            rows.append((told_s, steer_rad, felt_s, t_s, rolled_m, 1e-3 * plant.yaw_rate_mrad_s))
        poses.append((t_s, *plant.truth.values()[:3]))
        off_rad = float(steer_rad + wander[step])
        outputs = board.outputs(plant, float(target_mps), off_rad, brakes=False)
        for _ in range(round(board.step_s / STEP_S)):
            plant.step(STEP_S, outputs, True)
    return _trace(car, np.array(rows), np.array(poses), per_m, rng)


def _trace(
    car: LoggedCar, rows: Floats, poses: Floats, per_m: float, rng: np.random.Generator
) -> DriveTrace:
    told_s, steered, felt_s, t_s, rolled, yaw = rows.T
    nothing = np.zeros_like(yaw)
    kind = car.kind
    return DriveTrace(
        "made", "", "made", "f1tenth",
        steering=Series(told_s, steered[None, :]),
        travel=Series(t_s, rolled[None, :]) if kind.has_wheels else Series(),
        inertial=Series(felt_s, np.array([yaw, nothing, nothing])) if kind.has_gyro else Series(),
        places=Series() if kind.has_gyro else _seen(car, poses, rng),
        counts_per_m=per_m if kind.has_wheels else 0.0,
    )  # fmt: skip


def _seen(car: LoggedCar, poses: Floats, rng: np.random.Generator) -> Series:
    """Return what tracked it: a motion capture points at 100 Hz, a localiser poses at 25 Hz."""
    taken = poses if not car.kind.has_wheels else poses[::4]
    t_s, x, y, yaw = taken.T
    body: Any = F1TENTH.plant["body"]
    ahead_m = car.ahead_m - car.length * body["lr_m"]
    place = x + 1j * y + ahead_m * np.exp(1j * yaw)
    place = place + CAMERA_M * (rng.normal(size=len(t_s)) + 1j * rng.normal(size=len(t_s)))
    columns: Sequence[Floats] = [place.real, place.imag]
    if car.kind.has_wheels:
        columns = [*columns, yaw + CAMERA_RAD * rng.normal(size=len(t_s))]
    return Series(t_s + LATE_S, np.array(columns))
