"""What any command has to fit into: range, slew, the steering envelope.

All take the step's length as an argument and carry the remainder of their integer division, so
that a slow slew is exact in the long run.
"""

from firmware.compat import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firmware.core.params import Params

_ENVELOPE_STEPS = 16


def clamped(value: int, low: int, high: int) -> int:
    return low if value < low else high if value > high else value


def interpolated(points: "Sequence[int]", first: int, place: int, span: int, last: int) -> int:
    """The value at ``place`` of 0..last*span on the polyline ``points[first:first + last + 1]``.

    Neighbours may differ by a million and span be a million at most: the fraction is taken in
    1024ths so that all products stay within 30 bits.
    """
    at = clamped(place // span, 0, last - 1)
    fraction = clamped(place - at * span, 0, span) * 1024 // span
    left = points[first + at]
    return left + (points[first + at + 1] - left) * fraction // 1024


class Slew:
    """Follows a target, no faster than its rates allow."""

    def __init__(self) -> None:
        self.value = 0
        self._carried = 0

    def reset(self, value: int) -> None:
        self.value = value
        self._carried = 0

    def follow(self, target: int, rate_per_s: int, dt_ms: int) -> int:
        """One step towards ``target``; rate * dt under 2**30."""
        allowed = rate_per_s * dt_ms + self._carried
        step = allowed // 1000
        self._carried = allowed - step * 1000
        self.value = clamped(target, self.value - step, self.value + step)
        return self.value


class SteeringEnvelope:
    """The most steering that keeps the lateral acceleration within its limit at a speed.

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
