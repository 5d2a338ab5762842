"""CPython's counterparts of viper functions against the functions' own text, buffers and all."""

import random
import subprocess
import sys
from array import array
from copy import deepcopy
from pathlib import Path

import pytest

from firmware import c_library
from firmware.protocol import codec, frame
from firmware.protocol.messages import TO_BOARD, TO_HOST

REFUSING = {
    frame.cobs_decode: {-1},
    codec.unpack: {0},
    codec.decode_into: {codec.WRONG_MESSAGE, codec.WRONG_SIZE, codec.OUT_OF_RANGE},
    codec.decode_values_into: {codec.WRONG_MESSAGE, codec.WRONG_SIZE, codec.OUT_OF_RANGE},
}
LEAVING_OTHERS = {(codec.unpack, 0), (frame.cobs_decode, -1)}  # bytes, which nobody reads
CRC_TABLE = frame.crc_table()
LOW_CODES = bytes((0, 1, 1, 2, 2, 3, 5, 9, 255))
ROUNDS = 3000
ROOT = Path(__file__).resolve().parent.parent.parent


def some_bytes(rng, size):
    """At random, poor in zeros, rich in zeros and low codes, or one byte again and again."""
    data = rng.randbytes(size)
    kinds = (data, data.replace(b"\0", b"\7"), bytes(LOW_CODES[b % 9] for b in data), b"\5" * size)
    return bytearray(rng.choice(kinds))


def crc_update(rng, data):
    start = rng.randint(0, len(data))
    register = bytearray(rng.choice((bytes(4), rng.randbytes(4))))
    return register, data, start, rng.randint(start, len(data)), CRC_TABLE


def cobs_encode(rng, data):
    start = rng.randint(0, 3)
    room = start + len(data) + len(data) // 254 + 2 + rng.randint(0, 3)
    return data, rng.randint(0, len(data)), bytearray(rng.randbytes(room)), start


def cobs_decode(rng, data):
    data = data.replace(b"\0", b"\1")  # what is between two zeros holds none
    return data, rng.randint(0, len(data))


def copy_until_delimiter(rng, data):
    start = rng.randint(0, len(data))
    room = rng.randint(0, 70)
    at = rng.randint(0, room + 2)
    return data, start, rng.randint(start, len(data)), bytearray(rng.randbytes(room)), at, room


def copy(rng, data):
    start = rng.randint(0, len(data))
    size = rng.randint(0, len(data) - start)
    at = rng.randint(0, 5)
    return data, start, bytearray(rng.randbytes(at + size + rng.randint(0, 5))), at, size


def numbers_within(shape, rng):
    """In range, at its ends, beyond it, and whatever 32 bits hold."""
    spread = rng.choice((0, 1, 2, 1 << 32))
    for low, high in zip(shape[3::5], shape[4::5], strict=True):
        value = rng.choice((rng.randint(low, high), low - spread, high + spread))
        yield min(max(value, -1 << 31), (1 << 31) - 1)


def pack(rng, data):
    message = rng.choice(TO_BOARD + TO_HOST)()
    values = array("i", numbers_within(message.shape, rng))
    return bytearray(rng.randbytes(message.size)), values, message.shape, len(values)


def unpack(rng, data):
    payload, values, shape, many = pack(rng, data)
    if rng.random() < 0.9:  # else what is there is noise, and most of it refused
        for i in range(many):
            codec.write_int(payload, shape[5 * i], shape[5 * i + 1], values[i])
    return payload, values, shape, many


def message_of(rng):
    """One of all, its numbers in range, at its ends or beyond, its texts at random."""
    message = rng.choice(TO_BOARD + TO_HOST)()
    for name, value in zip(message.numbers, numbers_within(message.shape, rng), strict=True):
        setattr(message, name, value)
    for name, _, size in message.texts:
        getattr(message, name)[:] = rng.randbytes(size)
    return message


def encode_into(rng, data):
    message = message_of(rng)
    return message, bytearray(rng.randbytes(message.size + rng.randint(0, 5)))


def decode_into(rng, data):
    """Into one of the same kind or of another; whole, short, long, or with a byte that is wrong."""
    said, into = message_of(rng), message_of(rng) if rng.random() < 0.1 else None
    payload = bytearray(64)
    size = codec.encode_into.__wrapped__(said, payload)
    if rng.random() < 0.3:
        payload[rng.randrange(size)] ^= 1 << rng.randrange(8)
    return into or type(said)(), payload, size + rng.choice((0, 0, 0, 0, 1, -1))


# function -> what it may be called with
CASES = {
    frame.crc_update: crc_update,
    frame.cobs_encode: cobs_encode,
    frame.cobs_decode: cobs_decode,
    frame.copy_until_delimiter: copy_until_delimiter,
    codec.copy: copy,
    codec.pack: pack,
    codec.unpack: unpack,
    codec.encode_into: encode_into,
    codec.decode_into: decode_into,
    codec.decode_values_into: decode_into,
}


def copied(one):
    return deepcopy(one) if isinstance(one, bytearray | array | codec.Message) else one


def said(one):
    """What a message says: its ``values`` are scratch."""
    if not isinstance(one, codec.Message):
        return one
    return type(one), {name: getattr(one, name) for name in one.__dict__ if name != "values"}


@pytest.mark.parametrize("counterpart", CASES, ids=lambda function: function.__name__)
def test_a_counterpart_leaves_what_the_own_text_leaves(counterpart):
    rng = random.Random(counterpart.__name__)
    results = set()
    for _ in range(ROUNDS):
        size = rng.choice((rng.randint(0, 70), rng.randint(0, 70), rng.randint(250, 800)))
        arguments = CASES[counterpart](rng, some_bytes(rng, size))
        again = [copied(one) for one in arguments]
        result = counterpart(*arguments)
        assert result == counterpart.__wrapped__(*again)
        if (counterpart, result) not in LEAVING_OTHERS:
            assert [*map(said, arguments)] == [*map(said, again)]
        if counterpart is codec.decode_values_into and result == codec.DECODED:
            assert arguments[0].values == again[0].values
        results.add(result)
    assert counterpart not in REFUSING or REFUSING[counterpart] < results, "both were met"


@pytest.mark.parametrize("data", [b"\0", b"\0\7", b"\2\7\0", b"\2\7\0\7\7"], ids=bytes.hex)
def test_a_zero_in_the_place_of_a_code_is_no_cobs(data):
    for decode in (frame.cobs_decode, frame.cobs_decode.__wrapped__):
        assert decode(bytearray(data), len(data)) == -1


def test_every_counterpart_has_taken_a_place():
    offered = set(c_library.C_COUNTERPARTS)
    assert offered == set(CASES)
    own = {(one.__wrapped__.__module__, one.__wrapped__.__name__) for one in offered}
    assert len(own) == len(offered)


def test_what_has_no_counterpart_stays_itself():
    assert c_library.c_counterpart(some_bytes) is some_bytes
    assert c_library.c_counterpart(copy) is copy  # of that name, but of another module


@pytest.mark.process
def test_a_bare_cpython_runs_the_car_too():
    asked = (
        "from firmware import app, c_library; from firmware.protocol import frame;"
        "out = bytearray(9); size = frame.cobs_encode(b'\\7\\245\\7', 3, out, 1);"
        "print(c_library.cobs, out[1:size].hex())"
    )
    bare = [sys.executable, "-S", "-c", asked]  # without any package
    done = subprocess.run(bare, cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["None", "02a202a2"]
