"""Steering: limits the angle, and converts it to the pulse of each steering servo.

The host compiles geometry (Ackermann, rear axle) and calibration (linkage, trim) of each servo into
a curve of CURVE_POINTS pulses over the angle from full right to full left; here it is only read.
"""

from firmware.compat import TYPE_CHECKING
from firmware.core.motion.limits import Slew, SteeringEnvelope, clamped, interpolated
from firmware.core.settings.params import CURVE_POINTS

if TYPE_CHECKING:
    from firmware.core.settings.params import Params


class Steering:
    def __init__(self) -> None:
        self.steer_urad = 0  # the angle that is put out
        self._slew = Slew()
        self._envelope = SteeringEnvelope()
        self._max_urad = 1
        self._rate_urad_s = 0
        self._span_urad = 1
        self._curves: "list[int]" = []

    def configure(self, params: "Params") -> None:
        self._envelope.configure(params)
        self._max_urad = params.get("steer_max_urad")
        self._rate_urad_s = params.get("steer_rate_urad_s")
        # rounded up, so that the last point lies at or beyond full left
        self._span_urad = -(-2 * self._max_urad // (CURVE_POINTS - 1))
        self._curves = params.get_all("channel_curve")

    def step(self, target_urad: int, speed_mm_s: int, dt_ms: int) -> None:
        """Limit, then slew: no vehicle file has a servo slower than the envelope narrows."""
        limit = self._envelope.limit_urad(speed_mm_s)
        target_urad = clamped(target_urad, -limit, limit)
        self.steer_urad = self._slew.follow(target_urad, self._rate_urad_s, dt_ms)

    def pulse_ns(self, channel: int) -> int:
        place = self.steer_urad + self._max_urad
        return interpolated(
            self._curves, channel * CURVE_POINTS, place, self._span_urad, CURVE_POINTS - 1
        )
