"""A counter of few bits that wraps, extended to 30 bits."""

from firmware.compat import micropython

const = micropython.const

_MASK = const((1 << 30) - 1)


class WideCount:
    """The count of a narrow counter, modulo 2**30, as the board offers it.

    It is right while fewer than half of the narrow counter's range pass between two calls of
    ``take`` (32768 counts for 16 bits). A 32-bit count would be an object on the heap of a 32-bit
    port.
    """

    def __init__(self, bits: int) -> None:
        self._half = 1 << (bits - 1)
        self._narrow_mask = (1 << bits) - 1
        self._last = 0
        self._has_last = False
        self.count = 0

    @micropython.native
    def take(self, narrow: int) -> int:
        """Take the counter's reading; return the count, which begins with the first reading."""
        count = self.count
        if self._has_last:
            half = self._half
            step = (narrow - self._last + half & self._narrow_mask) - half
            self.count = count = count + step & _MASK
        self._last = narrow
        self._has_last = True
        return count
