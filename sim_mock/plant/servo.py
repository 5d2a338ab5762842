"""A steering servo: from a pulse in ns to the wheels' angle, with dead time, lag and rate limit."""

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf

NO_PULSE = 0
_HAIR_S = 1e-9  # tolerance for the rounding of sums of steps

Curve = Sequence[tuple[float, float]]  # (commanded steer_rad, pulse_ns)


@dataclass(frozen=True, slots=True)
class ServoParameters:
    """The rate at the road wheel, the dead time until motion, and a first-order lag (0: none)."""

    rate_rad_s: float
    dead_time_s: float
    lag_s: float = 0.0


class CalibrationCurve:
    """The map from pulse to angle, linear between its points and constant beyond its ends.

    It is the inverse of the curve in the car's program; ``wheel_ratio`` is the road wheel's angle
    per commanded angle (-1 where the rear steers against the front).
    """

    __slots__ = ("_angles_rad", "_pulses_ns")

    def __init__(self, points: Curve, wheel_ratio: float = 1.0) -> None:
        by_pulse = sorted((pulse_ns, steer_rad * wheel_ratio) for steer_rad, pulse_ns in points)
        self._pulses_ns = [pulse_ns for pulse_ns, _ in by_pulse]
        self._angles_rad = [angle_rad for _, angle_rad in by_pulse]

    def angle_rad(self, pulse_ns: float) -> float:
        pulses, angles = self._pulses_ns, self._angles_rad
        at = bisect_right(pulses, pulse_ns)
        if at == 0:
            return angles[0]
        if at == len(pulses):
            return angles[-1]
        share = (pulse_ns - pulses[at - 1]) / (pulses[at] - pulses[at - 1])
        return angles[at - 1] + share * (angles[at] - angles[at - 1])


class Servo:
    """One servo; without pulses it holds the last commanded angle, as digital servos do."""

    __slots__ = ("_curve", "_due", "_feels_s", "_now_s", "_p", "_pulse_ns", "_target_rad",
                 "angle_rad")  # fmt: skip

    def __init__(self, curve: CalibrationCurve, parameters: ServoParameters) -> None:
        self._curve = curve
        self._p = parameters
        self._due: deque[tuple[float, float]] = deque()  # (time of effect, target in rad)
        self._feels_s = inf  # the first of these times
        self._now_s = 0.0
        self._pulse_ns = NO_PULSE
        self._target_rad = 0.0
        self.angle_rad = 0.0

    def step(self, dt_s: float, pulse_ns: int) -> float:
        """Advance by ``dt_s`` with this pulse on the wire; return the road-wheel angle in rad."""
        if pulse_ns != self._pulse_ns:
            self._take(pulse_ns)
        self._now_s += dt_s
        while self._feels_s < self._now_s - _HAIR_S:
            self._feel()
        if self.angle_rad != self._target_rad:
            self._turn(dt_s)
        return self.angle_rad

    def _take(self, pulse_ns: int) -> None:
        self._pulse_ns = pulse_ns
        if pulse_ns != NO_PULSE:
            target_rad = self._curve.angle_rad(pulse_ns)
            self._due.append((self._now_s + self._p.dead_time_s, target_rad))
            self._feels_s = self._due[0][0]

    def _feel(self) -> None:
        self._target_rad = self._due.popleft()[1]
        self._feels_s = self._due[0][0] if self._due else inf

    def _turn(self, dt_s: float) -> None:
        error_rad = self._target_rad - self.angle_rad
        most_rad = self._p.rate_rad_s * dt_s
        if self._p.lag_s > 0.0:
            error_rad *= 1.0 - exp(-dt_s / self._p.lag_s)
        elif abs(error_rad) <= most_rad:
            self.angle_rad = self._target_rad
            return
        self.angle_rad += min(max(error_rad, -most_rad), most_rad)
