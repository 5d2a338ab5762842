"""Ages of times that wrap: microseconds modulo 2**30, as the board counts them."""

from firmware.compat import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    # ``time.ticks_us`` or what stands for it; its stub hides that it is an int
    TicksUs = Callable[[], Any]

_MASK = (1 << 30) - 1
SILENCE_US = 50_000  # of a sensor that is read or speaks a hundred times a second


def age_us(now_us: int, then_us: int) -> int:
    """Return how long ago ``then_us`` was, 0 to 2**30 - 1 (17.9 minutes, then it begins again).

    Whoever may wait longer than that must remember that it was too long: see ``Freshness``.
    """
    return now_us - then_us & _MASK


class Freshness:
    """A flag for what was heard within ``limit_us``; silence lasts until it is heard again.

    ``step`` must be called more often than every 17 minutes.
    """

    def __init__(self, limit_us: int) -> None:
        self._limit_us = limit_us
        self.heard_us = 0
        self.is_fresh = False

    def hear(self, now_us: int) -> None:
        self.heard_us = now_us
        self.is_fresh = True

    def step(self, now_us: int) -> None:
        if age_us(now_us, self.heard_us) > self._limit_us:
            self.is_fresh = False
