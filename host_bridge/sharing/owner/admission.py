"""Rate limits towards a car, so that nothing waits on its line in front of a stop.

A board takes 512 bytes on each of its steps; what is more waits or is lost. So the owner lets less
through than fits, all clients together, and reserves room for Stops, each of which passes at once.
What is too much is dropped in whole frames: a claim that waited is worthless.
"""

from __future__ import annotations

# So the longest step, 20 ms, takes all of it and a Stop besides
LINE_BYTES_PER_S, LINE_DEPTH_BYTES = 24_000, 240
# Less than the line's, so that one client at its limit leaves room for one that drives
CLIENT_BYTES_PER_S, CLIENT_DEPTH_BYTES = 14_000, 224
# One Stop per client every 10 ms; more of them say nothing new
STOP_BYTES_PER_S, STOP_DEPTH_BYTES = 3_200, 32
_SLOW_LINE_SHARE = 0.75  # of a slower line; the rest is for Stops


class TokenBucket:
    """A token bucket: a rate in bytes/s, and a depth up to which unused allowance is kept."""

    def __init__(self, bytes_per_s: float, depth_bytes: int) -> None:
        self._bytes_per_s = bytes_per_s
        self._depth = float(depth_bytes)
        self._left = self._depth
        self._counted_us: int | None = None

    def has(self, size: int, now_us: int) -> bool:
        """Return whether so many bytes may go now."""
        if self._counted_us is not None:
            won = (now_us - self._counted_us) * 1e-6 * self._bytes_per_s
            self._left = min(self._left + max(won, 0.0), self._depth)
        self._counted_us = now_us
        return size <= self._left

    def take(self, size: int) -> None:
        """Deduct bytes that go; call ``has`` before."""
        self._left -= size


def line_bucket(bytes_per_s: float | None) -> TokenBucket:
    """Return the allowance of all clients together, by what the line carries if that is known."""
    if bytes_per_s is None:
        return TokenBucket(LINE_BYTES_PER_S, LINE_DEPTH_BYTES)
    return TokenBucket(min(_SLOW_LINE_SHARE * bytes_per_s, LINE_BYTES_PER_S), LINE_DEPTH_BYTES)


def client_bucket() -> TokenBucket:
    """Return the allowance of one client."""
    return TokenBucket(CLIENT_BYTES_PER_S, CLIENT_DEPTH_BYTES)


def stop_bucket() -> TokenBucket:
    """Return one client's allowance for Stops, which do not count against the others."""
    return TokenBucket(STOP_BYTES_PER_S, STOP_DEPTH_BYTES)
