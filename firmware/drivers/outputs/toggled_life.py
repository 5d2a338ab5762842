"""The drive enable's life signal where there is no state machine: a pin that a timer toggles.

The relay hangs on a charge pump: only a toggling line holds it, neither level does. On RP2
``rp2_life_signal`` makes the signal without the processor. Whether the relay's contact follows is
the program's to judge (core/stops/fault_monitor.py).
"""

from firmware.compat import TYPE_CHECKING

if TYPE_CHECKING:
    from machine import Pin


class ToggledLife:
    """A life signal by a pin that each ``renew`` toggles, called from the guard's timer.

    It ends when the timer ends, or low with ``cut``.
    """

    def __init__(self, pin: "Pin") -> None:
        self._pin = pin
        self._level = 0
        pin.value(0)

    def renew(self) -> None:
        self._level = 1 - self._level
        self._pin.value(self._level)

    def cut(self) -> None:
        self._level = 0
        self._pin.value(0)
