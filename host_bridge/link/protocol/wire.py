"""The host's fast codec between messages and frames, from the same table as the car's.

``firmware.protocol`` is written for a chip (no ``struct``, nothing allocated); this is written for
CPython, whose ``struct``, ``zlib`` and ``cobs`` are C. The tests hold the two against each other.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from struct import Struct, error
from typing import Any, TypeVar

from cobs import cobs

from firmware.protocol.codec import Message
from firmware.protocol.frame import CRC_SIZE, MAX_PAYLOAD, WHITENER, crc_table
from firmware.protocol.messages import TO_BOARD, TO_HOST, Claim
from firmware.protocol.version import protocol_hash

# the table's kind -> struct's format; u30 and i31 are checked against their row's range
FORMATS = {
    "u8": "B",
    "i8": "b",
    "u16": "H",
    "i16": "h",
    "u30": "I",
    "i31": "i",
    "b4": "4s",
    "b8": "8s",
    "b16": "16s",
}
_WIDTHS = {"B": (0, 255), "H": (0, 65535), "b": (-128, 127), "h": (-32768, 32767)}

# A frame between its delimiters: one COBS code byte before up to 254 others
_ROOM = MAX_PAYLOAD + CRC_SIZE + 1
# The CRC-32 of any data followed by its own CRC, little endian
_CRC_RESIDUE = 0x2144DF1C

_WHITENED = bytes(byte ^ WHITENER for byte in range(256))  # its own inverse

DAMAGED, OVERSIZED, UNKNOWN, OUT_OF_RANGE = "damaged", "oversized", "unknown", "out_of_range"

AnyMessage = TypeVar("AnyMessage", bound=Message)


@dataclass(frozen=True, slots=True)
class RejectedFrame:
    """A frame that was rejected. ``kind`` is one of the four above; ``size`` is in bytes."""

    kind: str
    size: int


class MessageLayout:
    """The layout of one kind of message: its row of the table, prepared for ``struct``."""

    def __init__(self, kind: type[Message]) -> None:
        self.kind = kind
        self.names = tuple(row[0] for row in kind.FIELDS)
        self.name_set = frozenset(self.names)
        formats = [FORMATS[row[1]] for row in kind.FIELDS]
        self.struct = Struct("<B" + "".join(formats))
        self.ranges = tuple(
            (place, row[2], row[3])
            for place, (row, code) in enumerate(zip(kind.FIELDS, formats, strict=True))
            if code[-1] != "s" and _WIDTHS.get(code) != (row[2], row[3])
        )
        self.sizes = tuple((i, int(f[:-1])) for i, f in enumerate(formats) if f[-1] == "s")
        self.read = _reader(self.names)

    def is_in_range(self, values: tuple[Any, ...]) -> bool:
        for place, low, high in self.ranges:  # noqa: SIM110 - half as long as any or all
            if not low <= values[place] <= high:
                return False
        return True

    def payload(self, message: Message) -> bytes:
        """Return message id and fields, without frame. Raises ValueError as ``encode`` does."""
        values = self.read(message)
        for place, size in self.sizes:
            if len(values[place]) != size:
                raise self._wrong(values)
        if not self.is_in_range(values):
            raise self._wrong(values)
        try:
            return self.struct.pack(self.kind.ID, *values)
        except error:
            raise self._wrong(values) from None

    def _wrong(self, values: tuple[Any, ...]) -> ValueError:
        for (name, kind, low, high, unit), value in zip(self.kind.FIELDS, values, strict=True):
            field = f"{self.kind.__name__}.{name}"
            if kind[0] == "b":
                if len(value) != int(kind[1:]):
                    return ValueError(f"{field}: expected {kind[1:]} bytes, got {len(value)}")
            elif not isinstance(value, int) or not low <= value <= high:
                return ValueError(f"{field}: expected {low} to {high} {unit}, got {value!r}")
        return ValueError(f"{self.kind.__name__}: cannot be packed: {values!r}")


def _reader(names: tuple[str, ...]) -> Callable[[Message], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    only = attrgetter(names[0])  # which returns a bare value, not a tuple of one
    return lambda message: (only(message),)


LAYOUTS: dict[type[Message], MessageLayout] = {
    kind: MessageLayout(kind) for kind in TO_BOARD + TO_HOST
}
_BY_ID = {kind.ID: layout for kind, layout in LAYOUTS.items()}
CLAIM_SIZE = LAYOUTS[Claim].struct.size  # payload bytes per claim that the running CRC covers


def new(kind: type[AnyMessage], /, **fields: int | bytes) -> AnyMessage:
    """Return a message with these fields. Raises TypeError unless they are exactly the table's."""
    if fields.keys() != LAYOUTS[kind].name_set:
        raise TypeError(f"{kind.__name__} has the fields {LAYOUTS[kind].names}, got {[*fields]}")
    message = kind.__new__(kind)  # skips __init__: the chip's plan is of no use to the host
    message.__dict__.update(fields)
    return message


def payload(message: Message) -> bytes:
    """Return the bytes that the car's running CRC over accepted claims covers.

    Raises as ``encode`` does.
    """
    return LAYOUTS[type(message)].payload(message)


def encode(message: Message) -> bytes:
    """Return the frame of a message, both delimiters included.

    Raises ValueError naming the field, its range and the value if one does not fit.
    """
    return frame(LAYOUTS[type(message)].payload(message))


def frame(payload: bytes) -> bytes:
    """Return the frame of a payload: COBS of payload and CRC-32, whitened, between zero bytes."""
    crc = zlib.crc32(payload).to_bytes(CRC_SIZE, "little")
    coded: bytes = cobs.encode((payload + crc).translate(_WHITENED))
    return b"\0" + coded + b"\0"


def own_protocol_hash() -> bytes:
    """Return the hash of the table that this host was built with, 4 bytes."""
    return bytes(protocol_hash(crc_table()))


class MessageDecoder:
    """A decoder from bytes, in pieces of any size, to messages; bad frames are counted too."""

    def __init__(self) -> None:
        self.good = 0  # frames with the right CRC, unknown and out of range ones included
        self.damaged = 0
        self.oversized = 0
        self.unknown = 0
        self.out_of_range = 0
        self._rest = b""

    def feed(self, data: bytes) -> list[Message | RejectedFrame]:
        pieces = (self._rest + data).split(b"\0")
        # of a frame that is too long, only enough is kept to know that it is
        self._rest = pieces.pop()[: _ROOM + 1]
        return [self._decode(piece) for piece in pieces if piece]

    def reset(self) -> None:
        """Forget an incomplete frame, because the line was closed in the middle of it."""
        self._rest = b""

    def _decode(self, piece: bytes) -> Message | RejectedFrame:
        if len(piece) > _ROOM:
            self.oversized += 1
            return RejectedFrame(OVERSIZED, len(piece))
        try:
            data = cobs.decode(piece).translate(_WHITENED)
        except cobs.DecodeError:
            data = b""
        if len(data) <= CRC_SIZE or zlib.crc32(data) != _CRC_RESIDUE:
            self.damaged += 1
            return RejectedFrame(DAMAGED, len(piece))
        self.good += 1
        return self._message(data)

    def _message(self, data: bytes) -> Message | RejectedFrame:
        layout = _BY_ID.get(data[0])
        if layout is None or layout.struct.size != len(data) - CRC_SIZE:
            self.unknown += 1
            return RejectedFrame(UNKNOWN, len(data))
        values = layout.struct.unpack_from(data)[1:]
        if not layout.is_in_range(values):
            self.out_of_range += 1
            return RejectedFrame(OUT_OF_RANGE, len(data))
        message = layout.kind.__new__(layout.kind)
        message.__dict__.update(zip(layout.names, values, strict=True))
        return message
