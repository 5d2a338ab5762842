"""A car's lights, its status LED and its buzzer, each of which may be missing.

The lights' byte of a claim: bits 0 and 1 the head lights (0 off, 1 low, 2 high), bit 2 the left
indicator, bit 3 the right one. Brake and reverse lights follow what the car does.
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.drivers.outputs.signs import DARK, SLOW, STEADY

if TYPE_CHECKING:
    from firmware.drivers.outputs.lights import Lights
    from firmware.drivers.outputs.signs import Buzzer, StatusLed

const = micropython.const

_HEAD = const(3)  # two bits: low beam, high beam
_INDICATORS_AT = const(2)
_ROLLS_COUNTS = const(2)  # in a step; fewer is noise of an encoder at rest
_HALF = const(1 << 29)
_MASK = const((1 << 30) - 1)


class Signals:
    def __init__(
        self, lights: "Lights | None", led: "StatusLed | None", buzzer: "Buzzer | None"
    ) -> None:
        self._lights = lights
        self._led = led
        self._buzzer = buzzer
        self._tells_motion = lights is not None or buzzer is not None
        self._last = 0
        self._rolls = 0  # counts since the last step

    def step(self, now_us: int, count: int, effort: int, enable: bool, asked: int) -> None:
        """Update the signals; ``effort``: the drive, by its sign; ``asked``: the lights' byte."""
        if self._led:
            self._led.step(now_us, STEADY if enable else SLOW)
        if not self._tells_motion:
            return
        self._rolls = (count - self._last + _HALF & _MASK) - _HALF
        self._last = count
        is_reversing = enable and (effort < 0 or self._rolls < -_ROLLS_COUNTS)
        if self._buzzer:
            self._buzzer.step(now_us, SLOW if is_reversing else DARK)
        if self._lights:
            is_braking = self._is_braking(effort)
            head, indicators = asked & _HEAD, asked >> _INDICATORS_AT & 3
            self._lights.step(now_us, is_braking, is_reversing, head, indicators)

    def _is_braking(self, effort: int) -> bool:
        """Return whether the car rolls and nothing drives it on."""
        return abs(self._rolls) > _ROLLS_COUNTS and effort * self._rolls <= 0
