"""CPython's counterparts of viper functions against the functions' own text, buffers and all."""

import random

import pytest

from firmware import c_library
from firmware.protocol import codec, frame

CRC_TABLE = frame.crc_table()
LOW_CODES = bytes((0, 1, 1, 2, 2, 3, 5, 9, 255))
ROUNDS = 3000


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


# function -> what it may be called with
CASES = {
    frame.crc_update: crc_update,
    frame.cobs_encode: cobs_encode,
    frame.cobs_decode: cobs_decode,
    frame.copy_until_delimiter: copy_until_delimiter,
    codec.copy: copy,
}


@pytest.mark.parametrize("counterpart", CASES, ids=lambda function: function.__name__)
def test_a_counterpart_leaves_what_the_own_text_leaves(counterpart):
    rng = random.Random(counterpart.__name__)
    for _ in range(ROUNDS):
        size = rng.choice((rng.randint(0, 70), rng.randint(0, 70), rng.randint(250, 800)))
        arguments = CASES[counterpart](rng, some_bytes(rng, size))
        again = [bytearray(one) if isinstance(one, bytearray) else one for one in arguments]
        assert counterpart(*arguments) == counterpart.__wrapped__(*again)
        assert list(arguments) == again


def test_every_counterpart_has_taken_a_place():
    offered = {function for _, functions in c_library._SOONER for function in functions}
    assert offered == set(CASES)
    own = {(one.__wrapped__.__module__, one.__wrapped__.__name__) for one in offered}
    assert len(own) == len(offered)


def test_what_has_no_counterpart_stays_itself():
    assert c_library.sooner(some_bytes) is some_bytes
    assert c_library.sooner(copy) is copy  # of that name, but of another module
