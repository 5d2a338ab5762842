"""Encodes and decodes messages, field by field, by the rows of ``messages``.

A payload is one byte of message id and then the fields, little endian. Nothing here allocates after
a message's ``__init__``; that is why there is no ``struct`` (it returns tuples).
"""

from firmware.compat import TYPE_CHECKING, array, micropython, ptr8, ptr32

if TYPE_CHECKING:
    from typing import Any

const = micropython.const

# What read_int returns for what does not fit a small int of a 32-bit port; below every range.
UNREADABLE = const(-1073741823 - 1)

# kind -> size, signed. u30 and i31 are 4 bytes on the wire of which small ints fill 30 and 31 bits.
KINDS = (
    ("u8", 1, 0),
    ("i8", 1, 1),
    ("u16", 2, 0),
    ("i16", 2, 1),
    ("u30", 4, 0),
    ("i31", 4, 1),
    ("b4", 4, -1),
    ("b8", 8, -1),
    ("b16", 16, -1),
)

# Verdicts of decode
DECODED, WRONG_MESSAGE, WRONG_SIZE, OUT_OF_RANGE = 0, 1, 2, 3


@micropython.viper
def read_int(data: ptr8, at: int, size: int, signed: int) -> int:
    """Return the integer of ``size`` bytes at ``at``; UNREADABLE if it needs more than 31 bits."""
    value = data[at]
    top = value
    if size > 1:
        top = data[at + 1]
        value |= top << 8
    if size == 2:
        if signed and top > 127:
            value -= 65536
    elif size == 4:
        value |= data[at + 2] << 16
        top = data[at + 3]
        if 64 <= top < 192:  # bits 30 and 31 differ: beyond 2**30, either way
            return -1073741823 - 1  # UNREADABLE; 2**30 itself is no small int on 32 bit
        if top > 127:
            top -= 256
        value += top << 24
    elif signed and top > 127:
        value -= 256
    return value


@micropython.viper
def write_int(data: ptr8, at: int, size: int, value: int) -> int:
    """Write the low ``size`` bytes (1, 2 or 4) of ``value`` at ``at``, little endian."""
    data[at] = value & 255
    if size > 1:
        data[at + 1] = value >> 8 & 255
    if size > 2:
        data[at + 2] = value >> 16 & 255
        data[at + 3] = value >> 24 & 255
    return 0  # viper wants a word, or no annotation


def _kind(name: str) -> "tuple[str, int, int]":
    for row in KINDS:
        if row[0] == name:
            return row
    raise ValueError(name)


@micropython.viper
def pack(payload: ptr8, values: ptr32, shape: ptr32, many: int) -> int:
    """Write ``many`` integers as ``shape`` says; beyond their range they saturate.

    On 64 bit viper loads 32 bits without their sign, which is restored here.
    """
    half = 65536  # 2**32 in two parts, for it is no word on 32 bit
    i = 0
    row = 0
    while i < many:
        value = values[i]
        if value >> 24 > 127:
            value -= half * half
        low = shape[row + 3]
        if low >> 24 > 127:
            low -= half * half
        if value < low:
            value = low
        elif value > shape[row + 4]:
            value = shape[row + 4]
        at = shape[row]
        size = shape[row + 1]
        payload[at] = value & 255
        if size > 1:
            payload[at + 1] = value >> 8 & 255
        if size > 2:
            payload[at + 2] = value >> 16 & 255
            payload[at + 3] = value >> 24 & 255
        i += 1
        row += 5  # the entries of a row
    return 0  # viper wants a word, or no annotation


@micropython.viper
def unpack(payload: ptr8, values: ptr32, shape: ptr32, many: int) -> int:
    """Read ``many`` integers as ``shape`` says; return 1, or 0 once one is out of its range."""
    half = 65536
    i = 0
    row = 0
    while i < many:
        at = shape[row]
        size = shape[row + 1]
        value = payload[at]
        top = value
        if size > 1:
            top = payload[at + 1]
            value |= top << 8
        if size > 2:
            value |= payload[at + 2] << 16
            top = payload[at + 3]
            if 64 <= top < 192:  # as above, bits 30 and 31 differ
                return 0  # no small int on 32 bit, and beyond every range
            if top > 127:
                top -= 256
            value += top << 24
        elif shape[row + 2] and top > 127:
            value -= 65536 if size > 1 else 256
        low = shape[row + 3]
        if low >> 24 > 127:
            low -= half * half
        if value < low or value > shape[row + 4]:
            return 0
        values[i] = value
        i += 1
        row += 5  # the entries of a row
    return 1


@micropython.viper
def copy(source: ptr8, start: int, out: ptr8, at: int, size: int) -> int:
    """Copy ``source[start:start + size]`` to ``out`` from ``at`` on; slices would allocate."""
    i = 0
    while i < size:
        out[at + i] = source[start + i]
        i += 1
    return 0


class Layout:
    """The places of a message's numbers and texts in its payload, for encoder and decoder.

    ``tandem flash`` makes it of a row's FIELDS, for it would take an RP2040 more than a second
    (host_bridge/deploy/flash/program/constant_folding.py).
    """

    def __init__(
        self,
        numbers: "tuple[str, ...]",
        texts: "tuple[tuple[str, int, int], ...]",
        shape: "array[int] | bytes",
        size: int,
        firsts: "tuple[tuple[str, int], ...]",
    ) -> None:
        self.numbers = numbers
        self.texts = texts  # name, at, size
        self.shape: "Any" = shape  # at, size, signed, low, high of each number; words
        self.size = size  # of the payload
        self.firsts = firsts  # name, value: what cannot be zero


def make_layout(fields: "tuple[tuple[str, str, int, int, str], ...]") -> Layout:
    """Return the layout of rows (name, kind, low, high, unit)."""
    numbers = []
    texts = []
    firsts = []
    shape: "list[int]" = []
    at = 1
    for name, kind, low, high, _unit in fields:
        _, size, signed = _kind(kind)
        if signed < 0:
            texts.append((name, at, size))
        else:
            numbers.append(name)
            shape.extend((at, size, signed, low, high))
            if low > 0:
                firsts.append((name, low))
        at += size
    return Layout(tuple(numbers), tuple(texts), array("i", shape), at, tuple(firsts))


class Message:
    """One message; its attributes are its fields. Made once and filled again and again."""

    ID = 0
    FIELDS: "tuple[tuple[str, str, int, int, str], ...]" = ()  # name, kind, low, high, unit
    LAYOUT: "Layout | None" = None  # of FIELDS, on a board

    def __init__(self) -> None:
        layout = self.LAYOUT or make_layout(self.FIELDS)
        self.numbers = layout.numbers
        self.texts = layout.texts
        self.shape = layout.shape
        self.size = layout.size
        self.values = array("i", bytearray(4 * len(self.numbers)))
        for name in self.numbers:
            setattr(self, name, 0)
        for name, first in layout.firsts:
            setattr(self, name, first)
        for name, _at, size in self.texts:
            setattr(self, name, bytearray(size))


@micropython.native
def encode_into(message: Message, payload: bytearray) -> int:
    """Write ``message`` to ``payload``; return its size. Values beyond their range saturate.

    Values are machine words: those beyond 31 bits are the caller's to refuse.
    """
    fill_values(message)
    return encode_values_into(message, payload)


@micropython.native
def fill_values(message: Message) -> None:
    """Fill ``values`` from the attributes that are numbers."""
    values, get = message.values, getattr  # a built-in is looked for in every other place first
    i = 0
    for name in message.numbers:
        values[i] = get(message, name)
        i += 1


@micropython.native
def encode_values_into(message: Message, payload: bytearray) -> int:
    """Write ``message`` to ``payload`` from its ``values`` and its texts; return its size."""
    payload[0] = message.ID
    values = message.values
    pack(payload, values, message.shape, len(values))
    for name, at, size in message.texts:
        copy(getattr(message, name), 0, payload, at, size)
    return message.size


@micropython.native
def decode_into(message: Message, payload: bytearray, size: int) -> int:
    """Fill ``message`` from ``payload[:size]``; return a verdict. A refused message stays."""
    verdict = decode_values_into(message, payload, size)
    if verdict == DECODED:
        i, values, put = 0, message.values, setattr
        for name in message.numbers:
            put(message, name, values[i])
            i += 1
        for name, at, width in message.texts:
            copy(payload, at, getattr(message, name), 0, width)
    return verdict


@micropython.native
def decode_values_into(message: Message, payload: bytearray, size: int) -> int:
    """Fill ``message``'s ``values`` alone from ``payload[:size]``; return a verdict."""
    if payload[0] != message.ID:
        return WRONG_MESSAGE
    if size != message.size:
        return WRONG_SIZE
    values = message.values
    if not unpack(payload, values, message.shape, len(values)):
        return OUT_OF_RANGE
    return DECODED
