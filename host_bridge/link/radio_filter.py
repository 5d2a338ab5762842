"""What may go over a radio, each way: frames are let through as they are, or not at all.

A radio is open to whoever is near, so what comes in by it may only stop: words of stop sources,
Stops, and what their session needs. The way back is slow: status is thinned.
"""

from __future__ import annotations

from firmware.protocol.frame import WHITENER
from firmware.protocol.messages import Alive, Bind, Bound, Inputs, Status, Stop, StopSeen, Sync

_DELIMITER = b"\0"
# Nothing of these can arm a car, move it or change its configuration
_IN = frozenset(kind.ID for kind in (Alive, Stop, Bind, Sync))
_OUT = frozenset(kind.ID for kind in (Bound, Inputs, StopSeen))
_STATUS_EVERY_US = 50_000  # with fifty words a second that is a third of 57 600 baud


class RadioFilter:
    """``refused`` counts frames that a radio may not say."""

    def __init__(self) -> None:
        self.refused = 0
        self._next_status_us = 0

    def incoming(self, frames: bytes) -> bytes:
        """What of these whole frames may go to the car."""
        said = _split(frames)
        allowed = [frame for frame in said if _id_of(frame) in _IN]
        self.refused += len(said) - len(allowed)
        return b"".join(allowed)

    def outgoing(self, frames: bytes, now_us: int) -> bytes:
        """What of these whole frames a box needs to know."""
        return b"".join(frame for frame in _split(frames) if self._is_needed(frame, now_us))

    def _is_needed(self, frame: bytes, now_us: int) -> bool:
        if _id_of(frame) != Status.ID or now_us < self._next_status_us:
            return _id_of(frame) in _OUT
        self._next_status_us = now_us + _STATUS_EVERY_US
        return True


def _split(frames: bytes) -> list[bytes]:
    """Each with both delimiters, as they are on the wire."""
    return [_DELIMITER + part + _DELIMITER for part in frames.split(_DELIMITER) if part]


def _id_of(frame: bytes) -> int:
    """No message has a number that is whitened to 0, so COBS leaves its byte in its place."""
    return frame[2] ^ WHITENER if len(frame) > 3 else 0
