"""What may pass by a socket that is open to every login: Stop and Identify, and their answers.

A frame is taken apart and made anew, so nothing else can hide in what passes.
"""

from __future__ import annotations

from collections.abc import Iterator

from firmware.protocol.frame import WHITENER
from firmware.protocol.messages import Identify, Identity, Stop, StopSeen
from host_bridge.link import wire

_DELIMITER = b"\0"
_IN = frozenset((Stop.ID, Identify.ID))
_OUT = frozenset((StopSeen.ID, Identity.ID))


def asked(frames: bytes) -> Iterator[bytes]:
    """The Stops and the Identifies among these whole frames, each made anew."""
    decoder = wire.Decoder()
    for frame in frames.split(_DELIMITER):
        if id_of(frame) in _IN:
            for message in decoder.feed(frame + _DELIMITER):
                if isinstance(message, Stop | Identify):
                    yield wire.encode(message)


def answers(frames: bytes) -> bytes:
    """What of these whole frames of the car answers a Stop or an Identify."""
    found = [frame for frame in frames.split(_DELIMITER) if id_of(frame) in _OUT]
    return b"".join(_DELIMITER + frame + _DELIMITER for frame in found)


def is_stop(frames: bytes) -> bool:
    """Whether a Stop is among these whole frames, be it a damaged one."""
    return any(id_of(frame) == Stop.ID for frame in frames.split(_DELIMITER))


def id_of(frame: bytes) -> int:
    """The message id of a frame without its delimiters; 0 for what is none. No id is whitened to
    0, so COBS leaves its byte in its place."""
    return frame[1] ^ WHITENER if len(frame) > 1 else 0
