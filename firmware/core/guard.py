"""Ring 1: what lets the car fall when its program hangs. Called by a hard timer and a pin.

Integers only, nothing allocated, and it can only stop. ``tick`` is called every half millisecond,
so that with the filter's time a promise of one is kept, and ``edge`` on both edges of the runstop
loop; a real board calls both from interrupts, a virtual one from its world. While ``is_gating``
the drive is gated: enable off, pulses at their fallback. It stays so until the program has seen
it and has put out a write with the drive off.
"""

from firmware.compat import micropython
from firmware.core.deadlines import elapsed_us

# The loop's filter: what is open for less is a spike (under 20 us never counts), and what an
# interrupt's jitter of some 40 us may shorten still counts from 200 us on.
_FILTER_US = 100


class Guard:
    def __init__(self) -> None:
        self.is_gating = True  # until the first write
        self.has_seen_loop_open = False  # since the program looked last
        self.is_late = False  # the program missed its beat
        self._limit_us = 0
        self._beat_us = 0
        self._has_begun = False
        self._opened_us = 0
        self._is_loop_open = False
        self._is_told = False

    def begin(self, limit_us: int) -> None:
        """How long the program may be away."""
        self._limit_us = limit_us

    @micropython.native
    def edge(self, is_closed: int, now_us: int) -> None:
        """The runstop loop opened or closed."""
        if not is_closed and not self._is_loop_open:
            self._is_loop_open = True
            self._opened_us = now_us
        elif is_closed and self._is_loop_open:
            self._judge_loop(now_us)
            self._is_loop_open = False

    @micropython.native
    def _judge_loop(self, now_us: int) -> None:
        if elapsed_us(now_us, self._opened_us) >= _FILTER_US:
            self.has_seen_loop_open = True
            self._let_fall()

    def _let_fall(self) -> None:
        self.is_gating = True
        self._is_told = False

    @micropython.native
    def tick(self, is_closed: int, now_us: int) -> None:
        """The level counts as well as the edge: an interrupt can be lost."""
        self.edge(is_closed, now_us)
        if self._is_loop_open:
            self._judge_loop(now_us)
        if self._has_begun and elapsed_us(now_us, self._beat_us) > self._limit_us:
            self._has_begun = False
            self.is_late = True
            self._let_fall()

    def read(self) -> None:
        """The program looks: what it is shown from here on it has seen."""
        self._is_told = True

    @micropython.native
    def beat(self, enable: bool, now_us: int) -> None:
        """The program wrote. With the drive off, and knowing why, the gate closes again."""
        self._beat_us = now_us
        self._has_begun = True
        if not enable and self._is_told and not self._is_loop_open:
            self.is_gating = False
            self.is_late = False
            self.has_seen_loop_open = False
