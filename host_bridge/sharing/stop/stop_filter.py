"""The filter of a socket that is open to every login: Stop and Identify, and their answers.

A frame is decoded and encoded anew, so that nothing else can hide in what passes.
"""

from __future__ import annotations

from collections.abc import Iterator

from firmware.protocol.frame import WHITENER
from firmware.protocol.messages import Identify, Identity, Stop, StopSeen
from host_bridge.link.protocol import wire

_DELIMITER = b"\0"
_IN = frozenset((Stop.ID, Identify.ID))
_OUT = frozenset((StopSeen.ID, Identity.ID))


def stop_requests(frames: bytes) -> Iterator[bytes]:
    """Yield the Stops and Identifies among these whole frames, each encoded anew."""
    decoder = wire.MessageDecoder()
    for frame in frames.split(_DELIMITER):
        if id_of(frame) in _IN:
            for message in decoder.feed(frame + _DELIMITER):
                if isinstance(message, Stop | Identify):
                    yield wire.encode(message)


def stop_replies(frames: bytes) -> bytes:
    """Return those of these whole frames of the car that answer a Stop or an Identify."""
    found = [frame for frame in frames.split(_DELIMITER) if id_of(frame) in _OUT]
    return b"".join(_DELIMITER + frame + _DELIMITER for frame in found)


def is_stop(frames: bytes) -> bool:
    """Return whether a Stop is among these whole frames, even a damaged one."""
    return any(id_of(frame) == Stop.ID for frame in frames.split(_DELIMITER))


def id_of(frame: bytes) -> int:
    """Return the message id of a frame without its delimiters; 0 if it has none.

    No id is whitened to 0, so COBS leaves its byte in place.
    """
    return frame[1] ^ WHITENER if len(frame) > 1 else 0
