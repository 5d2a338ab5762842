"""The plant's frames and the car's, told apart on one stream."""

from __future__ import annotations

from typing import Any

from firmware.protocol.codec import DECODED, Message, decode_into
from firmware.protocol.frame import WHITENER, FrameReader, crc_table

_TABLE = crc_table()
_MOST_BYTES = 4096  # without a delimiter: noise


class Frames:
    """A stream cut into frames, without their delimiters; what is begun is kept."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        *frames, rest = (self._rest + data).split(b"\0")
        self._rest = rest[:_MOST_BYTES]
        return [frame for frame in frames if frame]


def kind_of(frame: bytes) -> int:
    """The message id of a whole frame: behind COBS' code byte, for no id is whitened to zero."""
    return frame[1] ^ WHITENER if len(frame) > 1 else 0


class Ear:
    """Frames to messages of a few types."""

    def __init__(self, *kinds: type[Message]) -> None:
        self._messages = {kind.ID: kind() for kind in kinds}
        self._reader = FrameReader(_TABLE)

    def message(self, frame: bytes) -> Any:
        """What the frame says, until the next of its kind; None if it is damaged or no such."""
        data = bytearray(frame + b"\0")
        self._reader.read(data, 0, len(data))
        size = self._reader.payload_size()
        message = self._messages.get(self._reader.frame[0]) if size else None
        if message and decode_into(message, self._reader.frame, size) == DECODED:
            return message
        return None
