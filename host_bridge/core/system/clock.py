"""Clocks: code that needs the time is handed a clock, or the time itself."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """A monotonic clock in microseconds, with an arbitrary origin."""

    def now_us(self) -> int: ...


class MonotonicClock:
    """The machine's monotonic clock, which no setting of the time of day moves."""

    def now_us(self) -> int:
        return time.monotonic_ns() // 1000


class ManualClock:
    """A clock that stands still until it is advanced, for tests and virtual time."""

    def __init__(self, now_us: int = 0) -> None:
        self._now_us = now_us

    def now_us(self) -> int:
        return self._now_us

    def advance(self, by_us: int) -> None:
        """Advance by ``by_us``.

        Raises ValueError for a negative step: a monotonic clock never goes back.
        """
        if by_us < 0:
            raise ValueError(f"expected 0 us or more, got {by_us}")
        self._now_us += by_us
