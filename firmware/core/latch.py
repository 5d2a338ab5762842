"""Conditions that stay until somebody clears them: stop causes, faults."""

from firmware.protocol.codes import NO_CAUSE


class Latch:
    """A bit set with the first that came kept, beside the bits that hold at this moment."""

    def __init__(self) -> None:
        self.bits = 0
        self.present = 0
        self.first = NO_CAUSE
        self.news = 0  # latched since whoever reports looked last

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
        self.bits = 0
        self.first = NO_CAUSE
        bit = 0
        while self.present >> bit:
            if self.present >> bit & 1:
                self.latch(bit)
            bit += 1
