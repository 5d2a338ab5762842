"""Patterns on a status LED and a buzzer, for a car without a screen."""

from firmware.compat import TYPE_CHECKING, micropython

if TYPE_CHECKING:
    from machine import PWM, Pin

const = micropython.const

# Eighths of a second, the first in the highest bit
DARK = 0b00000000
STEADY = 0b11111111
SLOW = 0b11110000
_EIGHTH_US = const(125_000)
_MASK = const((1 << 30) - 1)


class _Sign:
    """The showing of a pattern, an eighth of a second at a time, again and again.

    A new pattern begins at its beginning. Within an eighth there is nothing to do.
    """

    def __init__(self) -> None:
        self._pattern = DARK
        self._began_us = 0
        self._eighth = 0

    def step(self, now_us: int, pattern: int) -> None:
        if pattern != self._pattern:
            self._pattern = pattern
            self._eighth = 0
        elif now_us - self._began_us & _MASK >= _EIGHTH_US:
            self._eighth = (self._eighth + 1) % 8
        else:
            return
        self._began_us = now_us
        self._show(pattern >> (7 - self._eighth) & 1 == 1)  # the highest bit of the byte first

    def _show(self, is_on: bool) -> None:
        raise NotImplementedError


class StatusLed(_Sign):
    """A status LED on ``pin``, which lights when high; dark at first."""

    def __init__(self, pin: "Pin") -> None:
        super().__init__()
        self._pin = pin
        pin.value(0)

    def _show(self, is_on: bool) -> None:
        self._pin.value(is_on)


class Buzzer(_Sign):
    """A passive buzzer on ``pwm``, which is at its tone's frequency already; silent at first."""

    def __init__(self, pwm: "PWM") -> None:
        super().__init__()
        self._pwm = pwm
        pwm.duty_u16(0)

    def _show(self, is_on: bool) -> None:
        self._pwm.duty_u16(32_768 if is_on else 0)
