"""The filter of a radio, each way: frames pass as they are, or not at all.

A radio is open to whoever is near, so what comes in by it may only stop the car: words of runstop
boxes, and Stops. Back go the car's challenges, 25 a second while a box is near, and the
acknowledgements of Stops.
"""

from __future__ import annotations

from firmware.protocol.boxes import BoxHeard, BoxWord
from firmware.protocol.frame import WHITENER
from firmware.protocol.messages import Stop, StopSeen

_DELIMITER = b"\0"
# None of these can arm a car, move it, or change its configuration or its key
_IN = frozenset(kind.ID for kind in (BoxWord, Stop))
_OUT = frozenset(kind.ID for kind in (BoxHeard, StopSeen))


class RadioFilter:
    """A filter for one radio; ``refused`` counts incoming frames that a radio may not send."""

    def __init__(self) -> None:
        self.refused = 0

    def incoming(self, frames: bytes) -> bytes:
        """Return those of these whole frames that may go to the car."""
        incoming = _split(frames)
        allowed = [frame for frame in incoming if _id_of(frame) in _IN]
        self.refused += len(incoming) - len(allowed)
        return b"".join(allowed)

    def outgoing(self, frames: bytes) -> bytes:
        """Return those of these whole frames that a box needs."""
        return b"".join(frame for frame in _split(frames) if _id_of(frame) in _OUT)


def _split(frames: bytes) -> list[bytes]:
    """Split frames; each keeps both delimiters, as on the wire."""
    return [_DELIMITER + part + _DELIMITER for part in frames.split(_DELIMITER) if part]


def _id_of(frame: bytes) -> int:
    """Return a frame's message id; 0 if it has none.

    No id is whitened to 0, so COBS leaves its byte in place.
    """
    return frame[2] ^ WHITENER if len(frame) > 3 else 0
