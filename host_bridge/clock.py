"""Where time comes from. Whoever needs the time gets a clock, or the time itself, handed in."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Microseconds that never run backwards, from an origin of no meaning."""

    def now_us(self) -> int: ...


class MonotonicClock:
    """The machine's own."""

    def now_us(self) -> int:
        return time.monotonic_ns() // 1000


class ManualClock:
    """Stands still until it is told to advance: tests, and virtual time."""

    def __init__(self, now_us: int = 0) -> None:
        self._now_us = now_us

    def now_us(self) -> int:
        return self._now_us

    def advance(self, by_us: int) -> None:
        """Raises ValueError for a negative step: a monotonic clock does not go back."""
        if by_us < 0:
            raise ValueError(f"by_us: expected 0 or more, got {by_us}")
        self._now_us += by_us
