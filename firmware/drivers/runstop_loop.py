"""The wired runstop: a normally closed loop that reads high while closed.

It opens what it can by itself, the drive enable; here it is read, by interrupt and by level. What
is shorter than 20 us is noise; an interrupt comes within 100 us, so that what lasts 200 us is
always taken.
"""

from firmware.compat import TYPE_CHECKING
from firmware.drivers.ticks import age_us

if TYPE_CHECKING:
    from machine import Pin

    from firmware.drivers.ticks import TicksUs

FILTER_US = 20


class RunstopLoop:
    """``on_edge`` is for the pin's falling edge, hard; ``sample`` for the guard's timer and the
    step. ``was_opened`` stays until ``forget``, ``is_closed`` is the level now."""

    def __init__(self, pin: "Pin", ticks_us: "TicksUs") -> None:
        self._pin = pin
        self._ticks_us = ticks_us
        self.is_closed = pin.value() == 1
        self.was_opened = not self.is_closed
        self.glitches = 0  # modulo 2**16

    def on_edge(self, pin: "Pin") -> None:
        self.sample()

    def sample(self) -> None:
        """Open only if it is so for all of the filter's time, which this then waits."""
        if self._pin.value() == 0 and self._is_open_for_long():
            self.is_closed = False
            self.was_opened = True
        else:
            self.is_closed = True

    def _is_open_for_long(self) -> bool:
        started_us = self._ticks_us()
        while self._pin.value() == 0:
            if age_us(self._ticks_us(), started_us) >= FILTER_US:
                return True
        self.glitches = self.glitches + 1 & 0xFFFF
        return False

    def forget(self) -> None:
        """After the stop was taken; what is open is opened still."""
        self.was_opened = not self.is_closed
