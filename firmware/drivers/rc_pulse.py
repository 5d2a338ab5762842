"""An RC channel as pulses on a pin: 900 to 2100 us, lost after 50 ms without one."""

from firmware.compat import TYPE_CHECKING
from firmware.drivers.ticks import Freshness, age_us

if TYPE_CHECKING:
    from machine import Pin

    from firmware.drivers.ticks import TicksUs

SHORTEST_US = 900
LONGEST_US = 2100
LOST_US = 50_000


class RcPulse:
    """``on_edge`` is for the pin's interrupt, at both edges, hard where the port has hard ones;
    ``ticks_us`` is ``time.ticks_us`` or what stands for it. Pulses out of range count in
    ``refused`` and refresh nothing."""

    def __init__(self, ticks_us: "TicksUs") -> None:
        self._ticks_us = ticks_us
        self._rose_us = 0
        self._is_high = False
        self._came_us = 0
        self._came = 0
        self._taken = 0
        self.hearing = Freshness(LOST_US)
        self.pulse_us = 0
        self.refused = 0

    def on_edge(self, pin: "Pin") -> None:
        self.edge(pin.value(), self._ticks_us())

    def edge(self, level: int, at_us: int) -> None:
        """The pin went to ``level`` at ``at_us``. A pulse whose start was not seen is none."""
        if level:
            self._rose_us = at_us
            self._is_high = True
        elif self._is_high:
            self._is_high = False
            self._end(age_us(at_us, self._rose_us), at_us)

    def _end(self, pulse_us: int, at_us: int) -> None:
        if SHORTEST_US <= pulse_us <= LONGEST_US:
            self.pulse_us = pulse_us
            self._came_us = at_us
            self._came = self._came + 1 & 0xFFFF
        else:
            self.refused += 1

    def step(self, now_us: int) -> None:
        came = self._came  # before the time: a pulse that comes between counts at the next step
        if came != self._taken:
            self._taken = came
            self.hearing.hear(self._came_us)
        self.hearing.step(now_us)
