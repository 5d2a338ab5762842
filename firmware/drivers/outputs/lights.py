"""The lights of a car as Nigel's: tail and brake, low and high beam, reverse, two indicators."""

from firmware.compat import TYPE_CHECKING
from firmware.drivers.ticks import age_us

if TYPE_CHECKING:
    from machine import PWM, Pin

HEAD_OFF, HEAD_LOW, HEAD_HIGH = 0, 1, 2
NONE, LEFT, RIGHT, BOTH = 0, 1, 2, 3  # indicators: a bit for each side
BLINK_US = 500_000  # on, and as long off
_BRAKE_U16 = 65_535
_TAIL_U16 = 65_535 * 15 // 255  # dim, with the head lights


class Lights:
    """The lights' pins, which light when high.

    ``step`` takes what the car does, ``is_braking`` and ``is_reversing``, and what is asked for:
    ``head`` and ``indicators`` of the constants above. Indicators begin lit.
    """

    def __init__(
        self,
        tail: "PWM",
        head_low: "Pin",
        head_high: "Pin",
        reverse: "Pin",
        left: "Pin",
        right: "Pin",
    ) -> None:
        self._tail = tail
        self._head_low = head_low
        self._head_high = head_high
        self._reverse = reverse
        self._sides = (left, right)
        self._asked = NONE
        self._turned_us = 0
        self._is_lit = False
        self.step(0, False, False, HEAD_OFF, NONE)

    def step(
        self, now_us: int, is_braking: bool, is_reversing: bool, head: int, indicators: int
    ) -> None:
        dim = _TAIL_U16 if head else 0
        self._tail.duty_u16(_BRAKE_U16 if is_braking else dim)
        self._head_low.value(head != HEAD_OFF)
        self._head_high.value(head == HEAD_HIGH)
        self._reverse.value(is_reversing)
        self._blink(now_us, indicators)
        for side in range(2):
            self._sides[side].value(self._is_lit and indicators >> side & 1 == 1)

    def _blink(self, now_us: int, indicators: int) -> None:
        if indicators != self._asked:
            self._asked = indicators
            self._turned_us = now_us
            self._is_lit = True
        elif age_us(now_us, self._turned_us) >= BLINK_US:
            self._turned_us = now_us
            self._is_lit = not self._is_lit
