"""Separation of the plant's frames from the car's on one byte stream."""

from __future__ import annotations

from typing import Any

from firmware.protocol.codec import DECODED, Message, decode_into
from firmware.protocol.frame import WHITENER, FrameReader, crc_table

_TABLE = crc_table()
_MOST_BYTES = 4096  # more without a delimiter is noise


class FrameSplitter:
    """A splitter of a byte stream into frames without delimiters; it keeps an incomplete frame."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        *frames, rest = (self._rest + data).split(b"\0")
        self._rest = rest[:_MOST_BYTES]
        return [frame for frame in frames if frame]


def kind_of(frame: bytes) -> int:
    """Return the message id of a whole frame.

    It follows COBS' code byte, as no id is whitened to zero.
    """
    return frame[1] ^ WHITENER if len(frame) > 1 else 0


class FrameDecoder:
    """A decoder of frames into messages of the given types."""

    def __init__(self, *kinds: type[Message]) -> None:
        self._messages = {kind.ID: kind() for kind in kinds}
        self._reader = FrameReader(_TABLE)

    def message(self, frame: bytes) -> Any:
        """Return the frame's message, or None if it is damaged or of another type.

        The object is reused for the next frame of its type.
        """
        data = bytearray(frame + b"\0")
        self._reader.read(data, 0, len(data))
        size = self._reader.payload_size()
        message = self._messages.get(self._reader.frame[0]) if size else None
        if message and decode_into(message, self._reader.frame, size) == DECODED:
            return message
        return None
