"""The two messages of a stop, which never change, for callers that must not import the rest.

They are written out by hand, since they are frozen: the protocol's table and codec take 20 ms to
import, and its codes alone three times as long as this.
tests/host_bridge/sharing/stop/test_quick_stop.py checks every number here against them.
"""

from __future__ import annotations

from struct import Struct
from zlib import crc32

__all__ = ("SENDER_COMMAND", "SENDER_FLEET", "STATES", "StopAckReader", "stop_frame")

# The names of domain.State
STATES = ("STARTING", "STANDBY", "ACTIVE", "HOLD", "STOPPING", "STOPPED", "FAULT")
SENDER_COMMAND, SENDER_FLEET = 4, 3  # firmware.protocol.codes
STOP, STOP_SEEN = 3, 4  # message ids
_STOP = Struct("<BHB16s")  # id, token, sender, sender_name
_STOP_SEEN = Struct("<BHBB16s")  # id, token, state, sender, sender_name
_CRC = Struct("<I")
_SEEN_SIZE = _STOP_SEEN.size + _CRC.size + 1  # of its frame between two delimiters
_NAME_SIZE = 16
_LONGEST = 512  # more bytes than this without a delimiter hold no frame
_WHITENED = bytes(byte ^ 0xA5 for byte in range(256))  # firmware.protocol.frame.WHITENER


def stop_frame(token: int, sender_name: str, sender: int = SENDER_COMMAND) -> bytes:
    """Return the frame of a Stop; the name is cut to 16 bytes of UTF-8."""
    name = sender_name.encode()[:_NAME_SIZE].decode("utf-8", "ignore").encode()
    payload = _STOP.pack(STOP, token, sender, name)
    return b"\0" + _stuffed((payload + _CRC.pack(crc32(payload))).translate(_WHITENED)) + b"\0"


class StopAckReader:
    """A search for the acknowledgement of one stop; ``state`` is the car's state in it."""

    def __init__(self, token: int) -> None:
        self.is_seen = False
        self.state = ""
        self._token = token
        self._rest = b""

    def feed(self, data: bytes) -> None:
        *frames, rest = (self._rest + data).split(b"\0")
        self._rest = rest[:_LONGEST]
        for frame in frames:
            if len(frame) == _SEEN_SIZE:  # else to decode it would take most of a stop's time
                self._look_at(_unstuffed(frame).translate(_WHITENED))

    def _look_at(self, stuffed: bytes) -> None:
        payload, crc = stuffed[: -_CRC.size], stuffed[-_CRC.size :]
        if len(payload) != _STOP_SEEN.size or crc != _CRC.pack(crc32(payload)):
            return
        kind, token, state, *_ = _STOP_SEEN.unpack(payload)
        if kind == STOP_SEEN and token == self._token:
            self.is_seen = True
            self.state = STATES[state] if state < len(STATES) else f"unknown ({state})"


def _stuffed(data: bytes) -> bytes:
    """Encode fewer than 254 bytes by COBS."""
    return b"".join(bytes([len(part) + 1]) + part for part in data.split(b"\0"))


def _unstuffed(frame: bytes) -> bytes:
    """Decode COBS; return nothing for invalid data."""
    found = []
    at = 0
    while at < len(frame):
        part = frame[at + 1 : at + frame[at]]
        if len(part) != frame[at] - 1:
            return b""
        found.append(part)
        at += frame[at]
    return b"\0".join(found)
