"""The numbers of a log's cars as they reported them, aligned, and thinned for a plot.

Times are in s since the log's first record. Two logs are laid over one another by a moment that
both have: their beginning, their first motion, or a mark of the same words.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import cos, degrees, sin
from pathlib import Path
from typing import Any

from host_bridge.core.texts.table import SHOWN_IF_LOCKED
from host_bridge.logs import reading
from host_bridge.logs.recorder import NOTES
from host_bridge.station.log_views.laps import lap_begins

BEGINNING, FIRST_MOTION = "beginning", "first motion"
EXACT_S = 10.0  # a span that is no longer is drawn from every report: a thousand of a car's status
_MOVES_MPS = 0.05  # more than the rounding of a speed, less than any car creeps
_STEP_M = 0.02  # between two comparisons of distances: a few counts of an encoder
_BUCKETS = 400  # a lowest and a highest each: about as many as a plot has pixels
_TOLD_EVERY = 5000  # records: some progress for each hundredth of a minute's log
_DEGREES = degrees(1.0)
_MARK = re.compile(r"mark at [0-9.]+ s: (.*)", re.DOTALL)  # the note of tandem record --marks
# key of views.signals.SIGNALS: topic, field, factor
FIELDS: dict[str, tuple[str, str, float]] = {
    "speed_mps": ("status", "speed_mps", 1.0),
    "target_mps": ("status", "target_mps", 1.0),
    "steer_deg": ("status", "steer_rad", _DEGREES),
    "brake_percent": ("status", "brake", 100.0),
    "yaw_rate_dps": ("motion", "yaw_rate_radps", _DEGREES),
    "accel_x_mps2": ("motion", "accel_x_mps2", 1.0),
    "accel_y_mps2": ("motion", "accel_y_mps2", 1.0),
    "distance_m": ("motion", "distance_m", 1.0),
    "count_left": ("motion", "count_left", 1.0),
    "count_right": ("motion", "count_right", 1.0),
    "battery_v": ("power", "battery_v", 1.0),
    "temperature_c": ("power", "temperature_c", 1.0),
    "cap_mps": ("outputs", "cap_mps", 1.0),
    "takes_ms": ("inputs", "takes_us", 1e-3),
    "step_ms": ("inputs", "step_us", 1e-3),
    "missed_lately": ("inputs", "missed_lately", 1.0),
    "clock_bound_ms": ("clock_report", "bound_us", 1e-3),
}
POSE = ("x_m", "y_m", "yaw_rad")
_READ: dict[str, tuple[tuple[str, str, float], ...]] = {}  # topic: (key, field, factor)
for _key, (_topic, _field, _factor) in FIELDS.items():
    _READ[_topic] = (*_READ.get(_topic, ()), (_key, _field, _factor))
_READ["motion"] += tuple((name, name, 1.0) for name in POSE)

Point = list[float]


@dataclass
class NumberSeries:
    """A number over time: times in s that never run back, and as many values."""

    times_s: array[float] = field(default_factory=lambda: array("d"))
    values: array[float] = field(default_factory=lambda: array("d"))

    def add(self, time_s: float, value: float) -> None:
        if not self.times_s or time_s >= self.times_s[-1]:
            self.times_s.append(time_s)
            self.values.append(value)

    def at(self, time_s: float) -> float | None:
        """Return the newest value up to this time; None before the first."""
        n = bisect_right(self.times_s, time_s)
        return self.values[n - 1] if n else None

    def within(self, begin_s: float, end_s: float) -> tuple[int, int]:
        """Return the slice from the last value before ``begin_s`` to the first after ``end_s``."""
        first = max(bisect_left(self.times_s, begin_s) - 1, 0)
        return first, min(bisect_right(self.times_s, end_s) + 1, len(self.times_s))


@dataclass
class CarRun:
    """A car in a log: its numbers by key, its states from when each began, when its laps began."""

    numbers: dict[str, NumberSeries] = field(default_factory=dict)
    states: list[tuple[float, str]] = field(default_factory=list)
    laps_s: tuple[float, ...] = ()  # the end of the last whole one too; () without a whole one

    def series(self, key: str) -> NumberSeries:
        return self.numbers.get(key) or NumberSeries()

    def state(self, time_s: float) -> str:
        """Return its state at that time; "" before the first."""
        n = bisect_right([at_s for at_s, _ in self.states], time_s)
        return self.states[n - 1][1] if n else ""

    def pose(self, time_s: float) -> tuple[float, float, float] | None:
        """Return x in m, y in m and yaw in rad at that time by its odometry; None before any."""
        x_m, y_m, yaw_rad = (self.series(name).at(time_s) for name in POSE)
        return None if x_m is None or y_m is None or yaw_rad is None else (x_m, y_m, yaw_rad)

    def moves_from_s(self) -> float | None:
        """Return when it first moved; None if it never did."""
        speed = self.series("speed_mps")
        moving = zip(speed.times_s, speed.values, strict=True)
        return next((at_s for at_s, mps in moving if abs(mps) > _MOVES_MPS), None)


@dataclass
class LogRun:
    """A whole log: its cars by name, its marks, and how long it is."""

    cars: dict[str, CarRun] = field(default_factory=dict)
    marks: list[tuple[float, str]] = field(default_factory=list)
    length_s: float = 0.0

    def moment_s(self, align: str) -> float:
        """Return when its moment of this name is: the beginning, the first motion, or a mark.

        0 where it has no such moment.
        """
        if align == FIRST_MOTION:
            moved = [it.moves_from_s() for it in self.cars.values()]
            return min((at_s for at_s in moved if at_s is not None), default=0.0)
        return next((at_s for at_s, words in self.marks if words == align), 0.0)


def read_run(path: Path, length_s: float, tell: Callable[[float], None]) -> LogRun:
    """Read a whole log of about this length; ``tell`` gets the part that is read, up to 1.

    Raises errors.DataFileFault.
    """
    run = LogRun()
    first_us: int | None = None
    for n, record in enumerate(reading.read(path)):
        first_us = record.time_us if first_us is None else first_us
        time_s = (record.time_us - first_us) * 1e-6
        run.length_s = max(run.length_s, time_s)
        if n % _TOLD_EVERY == 0:
            tell(min(time_s / length_s, 1.0) if length_s > 0.0 else 0.0)
        if isinstance(record.value, bytes):
            continue
        if record.topic == NOTES and not record.car:
            if mark := _MARK.fullmatch(str(record.value.get("text", ""))):
                run.marks.append((time_s, mark[1]))
        elif record.topic in _READ:
            _take(run.cars.setdefault(record.car, CarRun()), record.topic, time_s, record.value)
    for car in run.cars.values():
        car.laps_s = _laps_of(car)
    return run


def _laps_of(car: CarRun) -> tuple[float, ...]:
    moves_s = car.moves_from_s()
    x_m, y_m, yaw_rad = (car.series(name) for name in POSE)
    if moves_s is None or not len(x_m.values) == len(y_m.values) == len(yaw_rad.values):
        return ()
    poses = list(zip(x_m.values, y_m.values, yaw_rad.values, strict=True))
    return lap_begins(x_m.times_s, poses, moves_s)


def _take(car: CarRun, topic: str, time_s: float, row: Mapping[str, Any]) -> None:
    for key, name, factor in _READ[topic]:
        value = row.get(name)
        if isinstance(value, int | float):
            car.numbers.setdefault(key, NumberSeries()).add(time_s, value * factor)
    state = row.get("state")
    if isinstance(state, str) and row.get("causes"):
        state = SHOWN_IF_LOCKED.get(state, state)
    if isinstance(state, str) and (not car.states or car.states[-1][1] != state):
        car.states.append((time_s, state))


def thinned(series: NumberSeries, begin_s: float, end_s: float) -> Iterator[tuple[float, float]]:
    """Yield a span's points in order: all of up to 10 s, else the lowest and highest of each piece.

    So a peak of a single report stays visible however long the log is.
    """
    first, last = series.within(begin_s, end_s)
    if end_s - begin_s <= EXACT_S or last - first <= 2 * _BUCKETS:
        for n in range(first, last):
            yield series.times_s[n], series.values[n]
        return
    width = (last - first) / _BUCKETS
    for bucket in range(_BUCKETS):
        piece = range(first + int(bucket * width), first + int((bucket + 1) * width))
        if piece:
            low = min(piece, key=series.values.__getitem__)
            high = max(piece, key=series.values.__getitem__)
            for n in sorted({low, high}):
                yield series.times_s[n], series.values[n]


def path_from(car: CarRun, from_s: float, until_s: float) -> list[Point]:
    """Return the way up to a time in m, as seen from where the car stood at ``from_s``."""
    x, y = car.series("x_m"), car.series("y_m")
    _, last = x.within(0.0, until_s)
    first = x.within(from_s, until_s)[0]
    every = max((last - first) // (2 * _BUCKETS), 1)
    origin = car.pose(from_s) or car.pose(car.series("x_m").times_s[0] if x.times_s else 0.0)
    if origin is None:
        return []
    return [seen_from(origin, x.values[n], y.values[n]) for n in range(first, last, every)]


def seen_from(origin: tuple[float, float, float], x_m: float, y_m: float) -> Point:
    """Return a place in the frame of a pose: ahead of it and to its left, in m."""
    dx_m, dy_m, yaw_rad = x_m - origin[0], y_m - origin[1], origin[2]
    return [
        round(dx_m * cos(yaw_rad) + dy_m * sin(yaw_rad), 3),
        round(dy_m * cos(yaw_rad) - dx_m * sin(yaw_rad), 3),
    ]


def behind(
    first: CarRun, first_from_s: float, second: CarRun, second_from_s: float
) -> NumberSeries:
    """Return by how many s the second car is later than the first at the same distance driven.

    Times are those of the second since its moment. Both distances count from their moments.
    """
    a, b = first.series("distance_m"), second.series("distance_m")
    start_a, start_b = a.at(first_from_s), b.at(second_from_s)
    found = NumberSeries()
    if start_a is None or start_b is None:
        return found
    n, reached_m = bisect_left(a.times_s, first_from_s), 0.0
    for time_s, distance_m in zip(b.times_s, b.values, strict=True):
        driven_m = distance_m - start_b
        if time_s < second_from_s or driven_m < reached_m + _STEP_M:
            continue  # while it stands it reaches nothing
        reached_m = driven_m
        while n < len(a.values) and a.values[n] - start_a < driven_m:
            n += 1
        if n == len(a.values):
            break
        found.add(time_s - second_from_s, time_s - second_from_s - (a.times_s[n] - first_from_s))
    return found
