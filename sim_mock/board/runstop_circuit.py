"""The runstop circuit of a virtual car: the supply of relay K1's coil, independent of the program.

Without the off-delay the loop carries the coil. With it (``hardware/bom/runstop_off_delay.csv``) a
transistor does, whose gate a capacitor holds up for a while after the loop has opened. A latch lets
the closed loop charge that capacitor only while the life signal is off. So a loop that bounces does
not restart the delay, and no program can lengthen it.
"""

from __future__ import annotations

OFF_DELAY_US = 690_000  # the shortest that the parts allow; tests/hardware computes it


class RunstopCircuit:
    """The supply of the drive relay's coil by the runstop loop, with an optional off-delay.

    ``off_delay_us`` is 0 where none is fitted. ``is_delay_open`` (the capacitor is lost) and
    ``is_delay_shorted`` (the transistor is welded, or nothing discharges the capacitor) are faults
    to be injected.
    """

    def __init__(self, off_delay_us: int = 0) -> None:
        self.off_delay_us = off_delay_us
        self.is_delay_open = False
        self.is_delay_shorted = False
        self._is_set = True
        self._opened_us = 0

    def feeds(self, loop_is_closed: bool, is_live: bool, now_us: int) -> bool:
        """Return whether the coil has its supply; ``is_live``: the life signal lifts Q1's gate."""
        if not self.off_delay_us or self.is_delay_open:
            return loop_is_closed
        if not loop_is_closed and self._is_set:
            self._is_set = False
            self._opened_us = now_us
        elif loop_is_closed and not is_live:
            self._is_set = True
        if self._is_set or self.is_delay_shorted:
            return True
        return now_us - self._opened_us <= self.off_delay_us
