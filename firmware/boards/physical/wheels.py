"""The wheel counts of each side: the mean of its counters."""

from firmware.compat import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol

    class Counter(Protocol):
        @property
        def count(self) -> int: ...

        def read(self, now_us: int) -> None: ...


_MASK = (1 << 30) - 1
_HALF = 1 << 29


class Side:
    """One side's wheel ``count``: the mean of its counters, modulo 2**30; 0 without any."""

    def __init__(self, counters: "tuple[Counter, ...]") -> None:
        self._counters = counters
        self._lasts = [counter.count for counter in counters]
        self._rest = 0
        self.count = 0

    def read(self, now_us: int) -> None:
        total = self._rest
        for i in range(len(self._counters)):
            counter = self._counters[i]
            counter.read(now_us)
            total += (counter.count - self._lasts[i] + _HALF & _MASK) - _HALF
            self._lasts[i] = counter.count
        if self._counters:
            whole = total // len(self._counters)
            self._rest = total - whole * len(self._counters)
            self.count = self.count + whole & _MASK


def side_of(counters: "tuple[Counter, ...]") -> "Counter":
    """Return the counter of a side: its single one, or the mean of several."""
    return counters[0] if len(counters) == 1 else Side(counters)
