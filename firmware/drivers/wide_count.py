"""A count of few bits that wraps, made one of 30 bits."""

from firmware.compat import micropython

const = micropython.const

_MASK = const((1 << 30) - 1)


class WideCount:
    """``count`` is modulo 2**30, as the board offers it; right while fewer than half of the
    narrow counter's range pass between two calls of ``take`` (32768 counts for 16 bits).

    A 32-bit count would be an object on the heap of a 32-bit port.
    """

    def __init__(self, bits: int) -> None:
        self._half = 1 << (bits - 1)
        self._narrow_mask = (1 << bits) - 1
        self._last = 0
        self._has_last = False
        self.count = 0

    @micropython.native
    def take(self, narrow: int) -> int:
        """The counter reads ``narrow``; its first reading is where the count begins."""
        count = self.count
        if self._has_last:
            half = self._half
            step = (narrow - self._last + half & self._narrow_mask) - half
            self.count = count = count + step & _MASK
        self._last = narrow
        self._has_last = True
        return count
