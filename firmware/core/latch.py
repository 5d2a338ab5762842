"""Conditions that stay until somebody clears them: stop causes, faults."""

from firmware.core.deadlines import elapsed_us, shifted_us
from firmware.protocol.codes import NO_CAUSE
from firmware.protocol.ranges import AGE_MS


class Latch:
    """A bit set with the first that came and its age, beside the bits that hold at this moment."""

    def __init__(self) -> None:
        self.bits = 0
        self.present = 0
        self.first = NO_CAUSE
        self.age_ms = 0  # since the first came
        self.news = 0  # latched since whoever reports looked last
        self._counted_us = 0  # up to when its age is counted

    def step(self, now_us: int) -> None:
        """Time passes, before anything is latched. Counted, for the clock wraps in 18 minutes."""
        if self.first == NO_CAUSE:
            self._counted_us = now_us
        else:
            passed_ms = max(elapsed_us(now_us, self._counted_us) // 1000, 0)
            self._counted_us = shifted_us(self._counted_us, passed_ms * 1000)
            self.age_ms = min(self.age_ms + passed_ms, AGE_MS)

    def set(self, bit: int, holds: bool) -> None:
        """A condition with a duration: latch it while it holds."""
        if holds:
            self.present |= 1 << bit
            self.latch(bit)
        else:
            self.present &= ~(1 << bit)

    def hold(self, bits: int, among: int) -> None:
        """The same for several: of the bits ``among``, ``bits`` are the ones that hold now."""
        self.present = self.present & ~among | bits
        if bits & ~self.bits:
            bit = 0
            while bits >> bit:
                if bits >> bit & 1:
                    self.latch(bit)
                bit += 1

    def latch(self, bit: int) -> None:
        """A condition of a moment."""
        if not self.bits >> bit & 1:
            self.bits |= 1 << bit
            self.news |= 1 << bit
            if self.first == NO_CAUSE:
                self.first = bit

    def clear(self) -> None:
        """What is still present stays, and becomes the first."""
        self.bits = self.age_ms = 0
        self.first = NO_CAUSE
        bit = 0
        while self.present >> bit:
            if self.present >> bit & 1:
                self.latch(bit)
            bit += 1
