"""Messages to payloads and back, field by field, from the rows of ``messages``.

A payload is one byte of message id and then the fields, little endian. Nothing here allocates
after a message's ``__init__``; that is why there is no ``struct`` (it returns tuples).
"""

from firmware.compat import TYPE_CHECKING, micropython, ptr8

if TYPE_CHECKING:
    from collections.abc import Sequence
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
    """The integer of ``size`` bytes at ``at``; UNREADABLE where it needs more than 31 bits."""
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
        if 64 <= top < 192:
            return -1073741823 - 1  # UNREADABLE; 2**30 itself is no small int on 32 bit
        if top > 127:
            top -= 256
        value += top << 24
    elif signed and top > 127:
        value -= 256
    return value


@micropython.viper
def write_int(data: ptr8, at: int, size: int, value: int) -> int:
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


class Message:
    """One message; its attributes are its fields. Made once and filled again and again."""

    ID = 0
    FIELDS: "tuple[tuple[str, str, int, int, str], ...]" = ()  # name, kind, low, high, unit

    def __init__(self) -> None:
        plan = []
        at = 1
        for name, kind, low, high, _unit in self.FIELDS:
            _, size, signed = _kind(kind)
            setattr(self, name, bytearray(size) if signed < 0 else max(low, 0))
            plan.append((name, at, size, signed, low, high))
            at += size
        self.plan: "Sequence[tuple[str, int, int, int, int, int]]" = tuple(plan)
        self.size = at


def encode_into(message: Message, payload: bytearray) -> int:
    """Write ``message`` to ``payload``; returns its size. Values beyond their range saturate."""
    payload[0] = message.ID
    for name, at, size, signed, low, high in message.plan:
        value = getattr(message, name)
        if signed < 0:
            for i in range(size):
                payload[at + i] = value[i]
        else:
            write_int(payload, at, size, low if value < low else high if value > high else value)
    return message.size


def decode_into(message: Message, payload: bytearray, size: int) -> int:
    """Fill ``message`` from ``payload[:size]``; returns a verdict. Refused messages fill partly."""
    if payload[0] != message.ID:
        return WRONG_MESSAGE
    if size != message.size:
        return WRONG_SIZE
    for name, at, width, signed, low, high in message.plan:
        if signed < 0:
            field = getattr(message, name)
            for i in range(width):
                field[i] = payload[at + i]
        else:
            value = read_int(payload, at, width, signed)
            if value < low or value > high:
                return OUT_OF_RANGE
            setattr(message, name, value)
    return DECODED
