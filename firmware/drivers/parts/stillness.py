"""Finds a dead sensor: one that says the very same for too long; real ones are never that quiet."""

from firmware.compat import micropython, ptr8


@micropython.viper
def _take(data: ptr8, last: ptr8, size: int) -> int:
    """Copy ``data`` to ``last``; return how many bytes differed."""
    changed = 0
    i = 0
    while i < size:
        if data[i] != last[i]:
            changed += 1
            last[i] = data[i]
        i += 1
    return changed


class Stillness:
    """A check for a frozen sensor: ``is_frozen`` once ``most`` readings in a row were all equal."""

    def __init__(self, size: int, most: int) -> None:
        self._last = bytearray(size)
        self._size = size
        self._most = most
        self._alike = 0
        self.is_frozen = False

    def take(self, data: bytearray) -> None:
        if _take(data, self._last, self._size):
            self._alike = 0
        elif self._alike < self._most:
            self._alike += 1
        self.is_frozen = self._alike >= self._most
