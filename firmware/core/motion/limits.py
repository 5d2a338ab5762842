"""Limiters of commands: range, slew, ramp and the steering envelope.

Slew and ramp take the step's length as an argument and carry the remainder of their integer
division, so that a slow slew is exact in the long run.
"""

from firmware.compat import TYPE_CHECKING, micropython

if TYPE_CHECKING:
    from firmware.core.settings.params import Params

const = micropython.const

# intervals of its table, of the speeds up to a quarter above the top one
_ENVELOPE_STEPS = const(16)


@micropython.viper
def clamped(value: int, low: int, high: int) -> int:
    return low if value < low else high if value > high else value


@micropython.viper
def interpolated(points: object, first: int, place: int, span: int, last: int) -> int:
    """Return the value at ``place`` of 0..last*span on the line ``points[first:first + last + 1]``.

    Neighbours may differ by a million and span be a million at most: the fraction is taken in
    1024ths so that all products stay within 30 bits. ``points`` are a sequence of integers, which
    is no type of viper's.
    """
    if place < 0:
        place = 0
    at = place // span
    if at >= last:
        at = last - 1
    away = place - at * span
    fraction = 1024 if away > span else away * 1024 // span  # a fraction of ten bits: see above
    left = int(points[first + at])  # type: ignore[index]
    right = int(points[first + at + 1])  # type: ignore[index]
    return left + (right - left) * fraction // 1024  # a fraction of ten bits


class Slew:
    """A rate limiter: ``value`` follows a target no faster than a rate."""

    def __init__(self) -> None:
        self.value = 0
        self._carried = 0

    def reset(self, value: int) -> None:
        self.value = value
        self._carried = 0

    @micropython.native
    def follow(self, target: int, rate_per_s: int, dt_ms: int) -> int:
        """Take one step towards ``target`` and return the value; rate * dt under 2**30."""
        allowed = rate_per_s * dt_ms + self._carried
        step = allowed // 1000
        self._carried = allowed - step * 1000
        self.value = clamped(target, self.value - step, self.value + step)
        return self.value


class Ramp:
    """A limiter of acceleration and jerk: ``value`` follows a target, softly at both ends."""

    def __init__(self) -> None:
        self.value = 0
        self.rate = 0  # per second
        self._carried = 0

    def reset(self, value: int) -> None:
        self.value = value
        self.rate = 0
        self._carried = 0

    def follow(self, target: int, rate_max: int, jerk: int, dt_ms: int) -> int:
        """Take one step towards ``target`` and return the value.

        ``rate_max`` is up to 30000, ``target`` within 60000, jerk * dt under 2**30.
        """
        gap = (target - self.value) * 1000 - self._carried
        sign = -1 if gap < 0 else 1
        rate = self.rate * sign  # positive is towards the target
        change = max(jerk * dt_ms // 1000, 1)
        reach = gap * sign // dt_ms  # the rate that closes the gap on this step
        if reach <= min(change, rate_max) and reach - change <= rate <= change:
            self.reset(target)
            self.rate = reach * sign  # small, and 0 on the next step
            return self.value
        next_rate = max(min(rate + change, rate_max), rate - change)
        if not _can_end(next_rate, change, reach):
            next_rate = rate if _can_end(rate, change, reach) else rate - change
        self.rate = next_rate * sign
        moved = self.rate * dt_ms + self._carried
        step = moved // 1000
        self._carried = moved - step * 1000
        self.value += step
        return self.value


def _can_end(rate: int, change: int, reach: int) -> bool:
    """Return whether steps of rate, rate - change ... down to 0 add up to ``reach`` at most."""
    if rate <= change:
        return rate <= reach
    whole = rate // change
    rest = rate - whole * change
    return rest * (whole + 1) + change * whole * (whole + 1) // 2 <= reach


class SteeringEnvelope:
    """The largest steering angle by speed that keeps the lateral acceleration within its limit.

    lateral acceleration = v^2 tan(steer) / wheelbase (kinematic bicycle), with steer in place of
    tan(steer): at 0.4 rad that is 5 % more than the limit, at the speeds where it matters less.
    """

    def __init__(self) -> None:
        self._limits = [0] * (_ENVELOPE_STEPS + 1)
        self._span_mm_s = 1

    def configure(self, params: "Params") -> None:
        top = max(params.get("speed_max_mm_s"), params.get("reverse_max_mm_s"))
        self._span_mm_s = top * 5 // (4 * _ENVELOPE_STEPS) + 1  # a quarter above the top speed
        steer_max = params.get("steer_max_urad")
        reach = params.get("lateral_accel_mm_s2") * params.get("wheelbase_um") * 1000
        for i in range(_ENVELOPE_STEPS + 1):
            speed = i * self._span_mm_s
            self._limits[i] = min(steer_max, reach // (speed * speed)) if i else steer_max

    def limit_urad(self, speed_mm_s: int) -> int:
        # the polyline between the points lies above the hyperbola: take the faster end instead
        at = abs(speed_mm_s) // self._span_mm_s + 1
        return self._limits[at if at < _ENVELOPE_STEPS else _ENVELOPE_STEPS]
