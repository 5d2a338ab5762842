"""The codec: round trips, saturation on the way out, refusal on the way in."""

from __future__ import annotations

import random
import struct

import pytest

from firmware.protocol.codec import (
    DECODED,
    OUT_OF_RANGE,
    UNREADABLE,
    WRONG_MESSAGE,
    WRONG_SIZE,
    Message,
    decode_into,
    encode_into,
    read_int,
    write_int,
)
from firmware.protocol.messages import TO_BOARD, TO_HOST
from tests.firmware.protocol.streams import filled, payload_of
from tests.support.evidence import holds_for

pytestmark = pytest.mark.usefixtures("text")
MESSAGES = TO_BOARD + TO_HOST
FORMATS = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u30": "I", "i31": "i"}
NUMBERS = [
    (kind, name, field_kind, low, high)
    for kind in MESSAGES
    for name, field_kind, low, high, _unit in kind.FIELDS
    if field_kind in FORMATS
]


def values(message: Message) -> dict[str, object]:
    return {row[0]: getattr(message, row[0]) for row in message.FIELDS}


def packed(kind: type[Message], given: dict[str, object]) -> bytes:
    """The payload as ``struct`` makes it from the table: an independent writer."""
    parts = [bytes([kind.ID])]
    for name, field_kind, *_ in kind.FIELDS:
        value = given[name]
        is_number = field_kind in FORMATS
        parts.append(struct.pack("<" + FORMATS[field_kind], value) if is_number else bytes(value))
    return b"".join(parts)


def in_range(kind: type[Message]) -> dict[str, object]:
    return values(filled(kind, random.Random(kind.ID)))


def verdict(kind: type[Message], payload: bytes) -> int:
    return decode_into(kind(), bytearray(payload), len(payload))


def refuses_another_id(kind):
    payload = payload_of(kind())
    assert verdict(kind, bytes([payload[0] ^ 0x80]) + payload[1:]) == WRONG_MESSAGE


def test_another_id_is_another_message():
    assert holds_for(((kind,) for kind in MESSAGES), refuses_another_id)


def refuses_another_size(kind):
    payload = payload_of(filled(kind, random.Random(1)))
    assert verdict(kind, payload[:-1]) == WRONG_SIZE
    assert verdict(kind, payload + b"\0") == WRONG_SIZE


def test_a_byte_more_or_less_is_refused():
    assert holds_for(((kind,) for kind in MESSAGES), refuses_another_size)


def takes_only_its_range(kind, name, field_kind, low, high):
    given = in_range(kind)
    for value, expected in (
        (low, DECODED),
        (high, DECODED),
        (low - 1, OUT_OF_RANGE),
        (high + 1, OUT_OF_RANGE),
    ):
        try:
            payload = packed(kind, {**given, name: value})
        except struct.error:
            continue  # the wire cannot say it
        assert verdict(kind, payload) == expected, value


def test_a_value_beyond_its_range_is_refused_and_at_its_ends_taken():
    assert holds_for(NUMBERS, takes_only_its_range)


def saturates(kind, name, field_kind, low, high):
    for value, expected in ((low - 1, low), (-UNREADABLE, high), (high + 1, high), (low, low)):
        message, back = kind(), kind()
        setattr(message, name, value)
        payload = bytearray(payload_of(message))
        assert decode_into(back, payload, message.size) == DECODED
        assert getattr(back, name) == expected


def test_a_value_beyond_its_range_saturates_on_the_way_out():
    assert holds_for(NUMBERS, saturates)


def comes_back(kind):
    rng = random.Random(kind.ID)
    for _ in range(200):
        message, back = filled(kind, rng), kind()
        payload = payload_of(message)
        assert payload == packed(kind, values(message))
        assert decode_into(back, bytearray(payload), len(payload)) == DECODED
        assert values(back) == values(message)


def test_a_message_comes_back_as_it_was():
    assert holds_for(((kind,) for kind in MESSAGES), comes_back)


def shares_no_buffers(kind):
    first, second = kind(), kind()
    for name, field_kind, *_ in kind.FIELDS:
        if field_kind not in FORMATS:
            assert getattr(first, name) is not getattr(second, name)


def test_messages_of_a_kind_share_no_buffers():
    assert holds_for(((kind,) for kind in MESSAGES), shares_no_buffers)


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("signed", [0, 1])
def test_small_integers_are_read_as_struct_reads_them(size, signed):
    code = {1: "bB", 2: "hH"}[size][1 - signed]
    for raw in range(1 << 8 * size):
        data = raw.to_bytes(size, "little")
        assert read_int(bytearray(data), 0, size, signed) == struct.unpack("<" + code, data)[0]


EDGES = [
    0,
    1,
    (1 << 30) - 1,
    1 << 30,
    (1 << 31) - 1,
    1 << 31,
    (3 << 30) - 1,
    3 << 30,
    (1 << 32) - 1,
]


@pytest.mark.parametrize("raw", EDGES)
def test_four_bytes_that_need_more_than_31_bits_are_unreadable(raw):
    value = raw - (1 << 32) if raw >> 31 else raw
    expected = value if -(1 << 30) < value < 1 << 30 else UNREADABLE
    assert read_int(bytearray(b"\xff" + raw.to_bytes(4, "little")), 1, 4, 1) == expected


@pytest.mark.parametrize("size", [1, 2, 4])
def test_integers_are_written_as_struct_writes_them(size):
    rng = random.Random(size)
    span = 1 << min(8 * size, 31) - 1
    for value in [-span, -1, 0, 1, span - 1, *(rng.randrange(-span, span) for _ in range(2000))]:
        data = bytearray(size + 2)
        write_int(data, 1, size, value)
        assert data == b"\0" + value.to_bytes(size, "little", signed=True) + b"\0"


def test_encoding_writes_only_as_much_as_it_says():
    for kind in MESSAGES:
        payload = bytearray(b"\xa5" * 64)
        size = encode_into(filled(kind, random.Random(2)), payload)
        assert payload[size:] == b"\xa5" * (64 - size)


def test_an_unknown_kind_of_field_is_an_error_when_made():
    class Odd(Message):
        FIELDS = (("x", "u24", 0, 1, ""),)

    with pytest.raises(ValueError, match="u24"):
        Odd()
