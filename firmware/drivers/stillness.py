"""A sensor that says the very same for too long has died: real ones are never that quiet."""

from firmware.compat import micropython, ptr8


@micropython.viper
def _take(data: ptr8, last: ptr8, size: int) -> int:
    """Copy; how many bytes were others."""
    changed = 0
    i = 0
    while i < size:
        if data[i] != last[i]:
            changed += 1
            last[i] = data[i]
        i += 1
    return changed


class Stillness:
    """``is_frozen`` once ``most`` readings in a row were equal in every bit."""

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
