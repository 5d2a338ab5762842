"""What a car without a screen says: a status LED and a buzzer, by patterns."""

from firmware.compat import TYPE_CHECKING, micropython

if TYPE_CHECKING:
    from machine import PWM, Pin

const = micropython.const

# Eighths of a second, the first in the highest bit
DARK = 0b00000000
STEADY = 0b11111111
SLOW = 0b11110000
FAST = 0b10101010
ONE = 0b10000000
TWO = 0b10100000
THREE = 0b10101000
_EIGHTH_US = const(125_000)
_MASK = const((1 << 30) - 1)


class _Pattern:
    """Which eighth of its pattern it is in; a new pattern begins at its beginning."""

    def __init__(self) -> None:
        self._pattern = DARK
        self._began_us = 0
        self._eighth = 0

    def is_on(self, now_us: int, pattern: int) -> bool:
        if pattern != self._pattern:
            self._pattern = pattern
            self._began_us = now_us
            self._eighth = 0
        elif now_us - self._began_us & _MASK >= _EIGHTH_US:  # an age, without a call
            self._began_us = now_us
            self._eighth = (self._eighth + 1) % 8
        return pattern >> (7 - self._eighth) & 1 == 1


class StatusLed:
    """``pin`` lights when high. ``step`` shows ``pattern`` again and again."""

    def __init__(self, pin: "Pin") -> None:
        self._pin = pin
        self._pattern = _Pattern()
        pin.value(0)

    def step(self, now_us: int, pattern: int) -> None:
        self._pin.value(self._pattern.is_on(now_us, pattern))


class Buzzer:
    """A passive buzzer on ``pwm``, which is at its tone's frequency already; silent at first."""

    def __init__(self, pwm: "PWM") -> None:
        self._pwm = pwm
        self._pattern = _Pattern()
        pwm.duty_u16(0)

    def step(self, now_us: int, pattern: int) -> None:
        self._pwm.duty_u16(32_768 if self._pattern.is_on(now_us, pattern) else 0)
