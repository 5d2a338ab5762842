"""How much may go to a car in a while, so that nothing waits on its line in front of a stop.

A board takes 512 bytes on each of its steps, and what is more waits or is lost. So the owner lets
less through than fits, all clients together, and keeps room for Stops, each of which passes at
once. What is too much is dropped, whole frames of it: a claim that waited is worth nothing.
"""

from __future__ import annotations

# A step of 20 ms, the longest, then takes all of it and a Stop besides
LINE_BYTES_PER_S, LINE_DEPTH_BYTES = 24_000, 240
# Beside one that says all it can there is room for one that drives
CLIENT_BYTES_PER_S, CLIENT_DEPTH_BYTES = 14_000, 224
# Each client one Stop every 10 ms: whoever says more says the same
STOP_BYTES_PER_S, STOP_DEPTH_BYTES = 3_200, 32
_SLOW_LINE_SHARE = 0.75  # of a line that carries less: the rest is for Stops


class Allowance:
    """So many bytes a second, so many at once: what was not used is kept up to that."""

    def __init__(self, bytes_per_s: float, depth_bytes: int) -> None:
        self._bytes_per_s = bytes_per_s
        self._depth = float(depth_bytes)
        self._left = self._depth
        self._counted_us: int | None = None

    def has(self, size: int, now_us: int) -> bool:
        """Whether so many bytes may go now."""
        if self._counted_us is not None:
            won = (now_us - self._counted_us) * 1e-6 * self._bytes_per_s
            self._left = min(self._left + max(won, 0.0), self._depth)
        self._counted_us = now_us
        return size <= self._left

    def take(self, size: int) -> None:
        """They go: after ``has``."""
        self._left -= size


def of_line(bytes_per_s: float | None) -> Allowance:
    """What all clients together may say on a line, by what it carries if that is known."""
    if bytes_per_s is None:
        return Allowance(LINE_BYTES_PER_S, LINE_DEPTH_BYTES)
    return Allowance(min(_SLOW_LINE_SHARE * bytes_per_s, LINE_BYTES_PER_S), LINE_DEPTH_BYTES)


def of_client() -> Allowance:
    """What one client may say."""
    return Allowance(CLIENT_BYTES_PER_S, CLIENT_DEPTH_BYTES)


def of_stops() -> Allowance:
    """What of that may be Stops, which count for nothing else."""
    return Allowance(STOP_BYTES_PER_S, STOP_DEPTH_BYTES)
