"""The divergence of a car and its twin, and whether it exceeds its limits. Pure computation.

Both are sampled in the host's time. They are compared at the newest time that both have reached;
the one that is ahead is interpolated between its samples.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from host_bridge.core import DivergenceLimits

PERSIST_US = 300_000  # an alarm rises or falls after the condition held for this long
_KEPT = 256  # samples of each car: 2.5 s at 100 Hz, longer than any lag between two cars


@dataclass(frozen=True, slots=True)
class MotionSample:
    """A car's motion at one moment of the host's time; the pose is its own dead reckoning."""

    time_us: int
    steer_rad: float
    speed_mps: float
    yaw_rate_radps: float
    x_m: float
    y_m: float
    yaw_rad: float


@dataclass(frozen=True, slots=True)
class Difference:
    """One compared quantity: the size of the difference, its limit, and when an alarm rose."""

    what: str
    unit: str
    amount: float
    limit: float
    since_us: int | None

    def __str__(self) -> str:
        state = "differs" if self.since_us is not None else "agrees"
        return f"{self.what} {state}: {self.amount:.3g} {self.unit}, limit {self.limit:.3g}"


def interpolated(earlier: MotionSample, later: MotionSample, time_us: int) -> MotionSample:
    """Return the car's motion between two samples; the yaw takes the shorter way round."""
    span_us = later.time_us - earlier.time_us
    part = (time_us - earlier.time_us) / span_us if span_us else 1.0

    def between(a: float, b: float) -> float:
        return a + (b - a) * part

    turn_rad = math.remainder(later.yaw_rad - earlier.yaw_rad, math.tau)
    return MotionSample(
        time_us,
        between(earlier.steer_rad, later.steer_rad),
        between(earlier.speed_mps, later.speed_mps),
        between(earlier.yaw_rate_radps, later.yaw_rate_radps),
        between(earlier.x_m, later.x_m),
        between(earlier.y_m, later.y_m),
        earlier.yaw_rad + turn_rad * part,
    )


def position_from(origin: MotionSample, sample: MotionSample) -> tuple[float, float]:
    """Return the position in m ahead and to the left of the origin's pose."""
    dx, dy = sample.x_m - origin.x_m, sample.y_m - origin.y_m
    cos, sin = math.cos(origin.yaw_rad), math.sin(origin.yaw_rad)
    return dx * cos + dy * sin, dy * cos - dx * sin


class MotionHistory:
    """The recent samples of one car, in order."""

    def __init__(self) -> None:
        self._samples: deque[MotionSample] = deque(maxlen=_KEPT)

    def add(self, sample: MotionSample) -> None:
        """Append a sample.

        One that is not newer than the last is dropped: a clock correction can cause that.
        """
        if not self._samples or sample.time_us > self._samples[-1].time_us:
            self._samples.append(sample)

    def latest_us(self) -> int | None:
        return self._samples[-1].time_us if self._samples else None

    def at(self, time_us: int) -> MotionSample | None:
        """Return the car's motion at a time between its samples, else None."""
        later: MotionSample | None = None
        for sample in reversed(self._samples):
            if sample.time_us <= time_us:
                return interpolated(sample, later, time_us) if later else _if_at(sample, time_us)
            later = sample
        return None


def _if_at(sample: MotionSample, time_us: int) -> MotionSample | None:
    return sample if sample.time_us == time_us else None


class Alarm:
    """An alarm that rises after PERSIST_US above a limit, and falls after as long below it.

    ``since_us`` is when what it tells of began, None while it is down.
    """

    def __init__(self) -> None:
        self.since_us: int | None = None
        self._changed_us: int | None = None  # since when the condition contradicts the alarm

    def step(self, exceeds: bool, time_us: int) -> None:
        if exceeds == (self.since_us is not None):
            self._changed_us = None
            return
        if self._changed_us is None:
            self._changed_us = time_us
        if time_us - self._changed_us >= PERSIST_US:
            self.since_us = self._changed_us if exceeds else None
            self._changed_us = None


# what, unit, its limit, its difference between two samples
_SIMPLE: tuple[
    tuple[
        str, str, Callable[[DivergenceLimits], float], Callable[[MotionSample, MotionSample], float]
    ],
    ...,
] = (
    ("steering", "rad", lambda m: m.steer_rad, lambda a, b: a.steer_rad - b.steer_rad),
    ("speed", "m/s", lambda m: m.speed_mps, lambda a, b: a.speed_mps - b.speed_mps),
    (
        "yaw rate",
        "rad/s",
        lambda m: m.yaw_rate_radps,
        lambda a, b: a.yaw_rate_radps - b.yaw_rate_radps,
    ),
)


class Divergence:
    """The comparison of a car with its twin: feed both, call ``step``, read ``differences``."""

    def __init__(self, limits: DivergenceLimits) -> None:
        self.car = MotionHistory()
        self.twin = MotionHistory()
        self.differences: tuple[Difference, ...] = ()
        self.compared = 0  # instants
        self._limits = limits
        self._alarms = {name: Alarm() for name in ("steering", "speed", "yaw rate", "path")}
        self._origins: tuple[MotionSample, MotionSample] | None = None
        self._last_us: int | None = None

    def reset(self) -> None:
        """Start over: paths are measured from the poses at the next compared instant."""
        self._origins = None
        self._alarms = {name: Alarm() for name in self._alarms}
        self.differences = ()

    def step(self) -> None:
        """Compare at the newest instant that both have reached, if it is new."""
        times = (self.car.latest_us(), self.twin.latest_us())
        if times[0] is None or times[1] is None or min(times[0], times[1]) == self._last_us:
            return
        self._last_us = min(times[0], times[1])
        car, twin = self.car.at(self._last_us), self.twin.at(self._last_us)
        if car is not None and twin is not None:
            self._compare(car, twin)

    def alarms(self) -> tuple[Difference, ...]:
        return tuple(d for d in self.differences if d.since_us is not None)

    def must_stop(self) -> str:
        """Return the quantity for which the cars have to stop; "" if there is none.

        There is none either if ``on_exceed`` only tells.
        """
        alarms = self.alarms() if self._limits.on_exceed == "stop" else ()
        return alarms[0].what if alarms else ""

    def _compare(self, car: MotionSample, twin: MotionSample) -> None:
        self.compared += 1
        found = [
            self._judge(what, unit, abs(amount(car, twin)), limit(self._limits), car.time_us)
            for what, unit, limit, amount in _SIMPLE
        ]
        path_m = self._path_m(car, twin)
        found.append(self._judge("path", "m", path_m, self._limits.path_m, car.time_us))
        self.differences = tuple(found)

    def _path_m(self, car: MotionSample, twin: MotionSample) -> float:
        if self._origins is None:
            self._origins = (car, twin)
        car_m = position_from(self._origins[0], car)
        twin_m = position_from(self._origins[1], twin)
        return math.dist(car_m, twin_m)

    def _judge(self, what: str, unit: str, amount: float, limit: float, time_us: int) -> Difference:
        alarm = self._alarms[what]
        alarm.step(amount > limit, time_us)
        return Difference(what, unit, amount, limit, alarm.since_us)
