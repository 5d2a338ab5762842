"""The calibration drives, as rows of commands for ``tandem calibrate --guide``.

Speeds are shares of the top speed, steering is a share of full lock, as ``--input csv:`` reads
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from host_bridge.core import Vehicle

Row = tuple[float, str, float]  # s, channel, part
_REST_S = 4.0  # a car that stood shows its sensors' bias, and its clock is good by then
_WALK_MPS = 0.7  # so slow that tyres do not slip and a person walks beside it
_RAMP_S = 2.0
_RAMP_ROWS = 8  # steps of the ramp: none is a jump for the motor


class Speeds(NamedTuple):
    """Three speeds of one car in m/s: a walk, and two that are faster."""

    slow: float
    middle: float
    fast: float


class CalibrationDrive(NamedTuple):
    """A drive of the calibration guide: where it takes place, how it goes, what follows from it.

    ``rows`` makes it for a vehicle and for the steering that drives straight, a share of full lock.
    ``determines``: a parameter that follows from it if it was driven well. ``question``: to be
    answered with y. ``is_taped``: somebody measures the distance driven.
    """

    name: str
    where: str
    text: str
    rows: Callable[[Vehicle, float], Iterator[Row]]
    determines: str = ""
    question: str = ""
    is_taped: bool = False


def speeds_of(vehicle: Vehicle) -> Speeds:
    """Return the speeds, within the cap of the vehicle's profile."""
    # of what it may: the drive's own limits are not met
    most = 0.9 * min(vehicle.speed_max_mps, vehicle.profile_caps_mps[vehicle.profile])
    # Three speeds in the ratio 1 to 2 to 3, so that slope and dead share are told apart
    slow = min(_WALK_MPS, most / 3.0)
    return Speeds(slow, 2.0 * slow, 3.0 * slow)


def straight_m(vehicle: Vehicle) -> float:
    """Return the length of the straight drive: enough for a tape, and it fits a room."""
    return max(2.0, 15.0 * vehicle.wheelbase_m)  # wheelbases: 5 m for an F1TENTH


def seconds_of(manoeuvre: CalibrationDrive, vehicle: Vehicle) -> float:
    """Return the duration of a manoeuvre in s."""
    return max(row[0] for row in manoeuvre.rows(vehicle, 0.0))


def _part(vehicle: Vehicle, speed_mps: float) -> float:
    return speed_mps / vehicle.speed_max_mps


def _stand(vehicle: Vehicle, straight: float) -> Iterator[Row]:
    # Seconds at rest, then the wheels turn without a drive, each way
    yield 0.0, "throttle", 0.0
    yield 8.0, "steering", 0.5
    yield 10.0, "steering", -0.5
    yield 12.0, "steering", 0.0
    yield 13.0, "throttle", 0.0


def _circles(vehicle: Vehicle, straight: float) -> Iterator[Row]:
    slow = _part(vehicle, speeds_of(vehicle).slow)
    yield 0.0, "throttle", 0.0
    yield _REST_S, "throttle", slow
    at_s = _REST_S + 1.0
    # parts of full lock, rising, each way: gain, bend and play show
    for part in (0.25, -0.25, 0.5, -0.5, 0.8, -0.8):
        yield at_s, "steering", part
        at_s += 4.0  # s: it settles within 1.5 s, and the rest is measured
    yield at_s, "steering", 0.0
    yield at_s + 1.0, "throttle", 0.0
    yield at_s + 4.0, "throttle", 0.0


def _sides(vehicle: Vehicle, straight: float) -> Iterator[Row]:
    slow = _part(vehicle, speeds_of(vehicle).slow)
    yield 0.0, "throttle", 0.0
    yield 2.0, "throttle", slow
    # s: twelve turns of 0.8 s from side to side, a straight piece, and rest
    for at in range(12):
        # at a third of lock: delay and lag show in each turn
        yield 4.0 + 0.8 * at, "steering", straight + (0.35 if at % 2 == 0 else -0.35)
    yield 14.0, "steering", straight
    yield 15.0, "throttle", 0.0
    yield 18.0, "throttle", 0.0


def _straight(vehicle: Vehicle, straight: float) -> Iterator[Row]:
    """Yield a straight drive that speeds up and slows down so gently that no wheel slides."""
    speed_mps = speeds_of(vehicle).middle
    long_s = straight_m(vehicle) / speed_mps
    yield 0.0, "throttle", 0.0
    yield 0.1, "steering", straight  # after the first row, so that rows are in order
    ramp = [(i + 1) / _RAMP_ROWS for i in range(_RAMP_ROWS)]
    for share in ramp:
        yield 2.0 + share * _RAMP_S, "throttle", share * _part(vehicle, speed_mps)
    begin_s = 2.0 + _RAMP_S + long_s
    for share in ramp:
        yield begin_s + share * _RAMP_S, "throttle", (1.0 - share) * _part(vehicle, speed_mps)
    yield begin_s + _RAMP_S + 4.0, "throttle", 0.0


def _speeds(vehicle: Vehicle, straight: float) -> Iterator[Row]:
    """Yield steady speeds and starts from rest in a wide circle, so that it fits a hall."""
    speeds = speeds_of(vehicle)
    yield 0.0, "throttle", 0.0
    yield 0.1, "steering", straight + 0.3  # a third of lock: a circle that fits a hall
    at_s = 2.0
    for speed_mps in (speeds.slow, speeds.middle, speeds.fast, speeds.middle, speeds.slow):
        yield at_s, "throttle", _part(vehicle, speed_mps)
        at_s += 5.0  # s: it settles within 1.5 s, and the rest is measured
    for at in range(4):
        yield at_s, "throttle", 0.0
        speed_mps = speeds.fast if at % 2 else speeds.middle
        # s of rest before each start: the wheels stand
        yield at_s + 3.0, "throttle", _part(vehicle, speed_mps)
        at_s += 5.0  # s, as above
    yield at_s, "throttle", 0.0
    yield at_s + 3.0, "throttle", 0.0  # s of rest: the car has stopped in the log


MANOEUVRES = (
    CalibrationDrive(
        "stand", "on the stand, its wheels off the ground",
        "It stands for 8 s, untouched, and then steers left, right and straight. Nothing drives.",
        _stand, question="Did the front wheels turn to the left first, and then to the right",
    ),
    CalibrationDrive(
        "circles", "on the floor, 8 car lengths free on each side",
        "It drives at a walk, in circles to the left and right by turns, wide ones first.",
        _circles, "steer_trim_rad",
    ),
    CalibrationDrive(
        "sides", "on the floor, 30 car lengths free ahead",
        "It drives ahead at a walk, and throws its steering from side to side.",
        _sides, "steer_delay_s",
    ),
    CalibrationDrive(
        "straight", "on the floor, 25 car lengths free ahead",
        "Mark where its rear wheels touch the floor, both times: before it drives and where it "
        "comes to stand. It drives straight ahead, and starts and stops gently.",
        _straight, "counts_per_m", is_taped=True,
    ),
    CalibrationDrive(
        "speeds", "on the floor, 15 car lengths free to the left",
        "It drives a wide circle at three speeds, and starts four times.",
        _speeds, "full_effort_mps",
    ),
)  # fmt: skip
