"""Latched flags, for stop causes and faults: they stay until a person clears them."""

from firmware.core.deadlines import elapsed_us, shifted_us
from firmware.protocol.codes import NO_CAUSE
from firmware.protocol.ranges import AGE_MS


class Latch:
    """A set of latched bits, the first of them with its age, and the bits that hold now."""

    def __init__(self) -> None:
        self.bits = 0
        self.present = 0
        self.first = NO_CAUSE
        self.age_ms = 0  # since the first came
        self.news = 0  # latched since the last report
        self._counted_us = 0  # the time up to which its age is counted

    def step(self, now_us: int) -> None:
        """Advance the age, before anything is latched on this step.

        It is summed up step by step, because the clock wraps in 18 minutes.
        """
        if self.first == NO_CAUSE:
            self._counted_us = now_us
        else:
            passed_ms = max(elapsed_us(now_us, self._counted_us) // 1000, 0)
            self._counted_us = shifted_us(self._counted_us, passed_ms * 1000)
            self.age_ms = min(self.age_ms + passed_ms, AGE_MS)

    def set(self, bit: int, holds: bool) -> None:
        """Set whether a lasting condition holds now; latch its bit if it does."""
        if holds:
            self.present |= 1 << bit
            self.latch(bit)
        else:
            self.present &= ~(1 << bit)

    def hold(self, bits: int, among: int) -> None:
        """Set which conditions of the mask ``among`` hold now, ``bits``; latch those."""
        self.present = self.present & ~among | bits
        if bits & ~self.bits:
            bit = 0
            while bits >> bit:
                if bits >> bit & 1:
                    self.latch(bit)
                bit += 1

    def latch(self, bit: int) -> None:
        """Latch the bit of a condition that lasts for a moment only."""
        if not self.bits >> bit & 1:
            self.bits |= 1 << bit
            self.news |= 1 << bit
            if self.first == NO_CAUSE:
                self.first = bit

    def clear(self) -> None:
        """Clear all bits but those still present; the lowest of these becomes the first."""
        self.bits = self.age_ms = 0
        self.first = NO_CAUSE
        bit = 0
        while self.present >> bit:
            if self.present >> bit & 1:
                self.latch(bit)
            bit += 1
