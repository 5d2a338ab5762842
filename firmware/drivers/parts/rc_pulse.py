"""An RC channel as pulses on a pin: their width and their count.

Which are valid, and when there are too few, core/arbitration/rc_receiver.py decides.
"""

from firmware.compat import TYPE_CHECKING
from firmware.drivers.ticks import age_us

if TYPE_CHECKING:
    from machine import Pin

    from firmware.drivers.ticks import TicksUs

_LONGEST_US = 1_000_000  # beyond, it is no pulse but a line that was left high
_COUNT_MASK = (1 << 30) - 1


class RcPulse:
    """The pulses on a pin; ``count`` is modulo 2**30.

    ``on_edge`` is for the pin's interrupt, at both edges, hard where the port has hard ones;
    ``ticks_us`` is ``time.ticks_us`` or what stands for it.
    """

    def __init__(self, ticks_us: "TicksUs") -> None:
        self._ticks_us = ticks_us
        self._rose_us = 0
        self._is_high = False
        self.pulse_us = 0
        self.count = 0

    def on_edge(self, pin: "Pin") -> None:
        self.edge(pin.value(), self._ticks_us())

    def edge(self, level: int, at_us: int) -> None:
        """Take a change of the pin to ``level``. A pulse whose start was not seen is none."""
        if level:
            self._rose_us = at_us
            self._is_high = True
        elif self._is_high:
            self._is_high = False
            self.pulse_us = min(age_us(at_us, self._rose_us), _LONGEST_US)
            self.count = self.count + 1 & _COUNT_MASK
