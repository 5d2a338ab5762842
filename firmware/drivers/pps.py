"""The pulse per second of a time receiver, on a pin: when each whole second began."""

from firmware.compat import TYPE_CHECKING
from firmware.drivers.ticks import Freshness, age_us

if TYPE_CHECKING:
    from machine import Pin

    from firmware.drivers.ticks import TicksUs

# A second; two pulses may be lost before the receiver counts as silent
_SECOND_US = 1_000_000
_TOLERANCE_US = 500  # crystals are within 100 ppm; an interrupt is late by up to 100 us
_LOST_US = 2_500_000  # two pulses lost, and half a second


class Pps:
    """A pulse per second; ``on_edge`` is for its rising edge, a hard interrupt.

    ``second_us`` is when the last whole second began; ``count`` how many came, modulo 2**16. Edges
    that are no second after another are refused.
    """

    def __init__(self, ticks_us: "TicksUs") -> None:
        self._ticks_us = ticks_us
        self._edge_us = 0
        self._has_edge = False
        self._taken = 0
        self.freshness = Freshness(_LOST_US)
        self.second_us = 0
        self.count = 0
        self.refused = 0

    def on_edge(self, pin: "Pin") -> None:
        self.edge(self._ticks_us())

    def edge(self, at_us: int) -> None:
        gap_us = age_us(at_us, self._edge_us)
        if self._has_edge and gap_us < _SECOND_US - _TOLERANCE_US:
            self.refused += 1
            return
        if self._has_edge and gap_us <= _SECOND_US + _TOLERANCE_US:
            self.second_us = at_us
            self.count = self.count + 1 & 0xFFFF
        self._edge_us = at_us
        self._has_edge = True

    def step(self, now_us: int) -> None:
        count = self.count
        if count != self._taken:
            self._taken = count
            self.freshness.hear(self.second_us)
        self.freshness.step(now_us)
