"""Frames: the car's code against the ``cobs`` package and zlib, and every stream every way."""

from __future__ import annotations

import random
import zlib

import pytest
from cobs import cobs

from firmware.protocol import frame
from firmware.protocol.frame import MAX_FRAME, MAX_PAYLOAD, FrameReader, FrameWriter
from firmware.protocol.messages import TO_BOARD, TO_HOST
from tests.firmware.protocol.streams import (
    BODY_ROOM,
    TABLE,
    Reading,
    check_every_way,
    filled,
    framed,
    payload_of,
    payloads_in,
    read,
)
from tests.support.evidence import some

# COBS changes its shape where 254 bytes without a zero are full, so lengths go around that.
RUNS = (0, 1, 2, 252, 253, 254, 255, 256, 507, 508, 509, 510, 762, 763)
RANDOM_PAYLOADS = 100_000
pytestmark = pytest.mark.usefixtures("text")


def adversarial() -> list[bytes]:
    """Every value beside a zero, runs about the length of a COBS block, nothing, only zeros."""
    pairs = [bytes(pair) for value in range(256) for pair in ((value,), (value, 0), (0, value))]
    triples = [bytes((value, 0, value)) for value in range(256)]
    runs = [before + b"\x7f" * run + after for run in RUNS for before in ENDS for after in ENDS]
    zeros = [bytes(count) for count in RUNS]
    return [b"", *pairs, *triples, *runs, *zeros, bytes(range(256)) * 3, bytes(range(255, -1, -1))]


WHITENED = bytes(byte ^ 0xA5 for byte in range(256))
ENDS = (b"", b"\0", b"\0\0", b"\1", b"\xff")


def random_payloads() -> list[bytes]:
    """Up to a frame's worth; every second one rich in zeros, and some many COBS blocks long."""
    rng = random.Random(20)
    payloads = []
    for i in range(RANDOM_PAYLOADS):
        payload = rng.randbytes(rng.randint(0, 600 if i % 100 == 0 else MAX_PAYLOAD))
        payloads.append(payload.translate(MANY_ZEROS) if i % 2 else payload)
    return payloads


MANY_ZEROS = bytes(value if value % 4 else 0 for value in range(256))


def encoded(data: bytes) -> bytes:
    out = bytearray(len(data) + len(data) // 254 + 2)
    return bytes(out[: frame.cobs_encode(bytearray(data), len(data), out, 0)])


def decoded(data: bytes) -> bytes | None:
    """None where it is not COBS."""
    buffer = bytearray(data)
    size = frame.cobs_decode(buffer, len(data))
    return None if size < 0 else bytes(buffer[:size])


def crc(data: bytes) -> int:
    register = bytearray(4)
    frame.crc_update(register, bytearray(data), 0, len(data), TABLE)
    return int.from_bytes(register, "little")


@pytest.mark.parametrize("payloads", [adversarial, random_payloads])
def test_cobs_and_crc_agree_with_their_packages(payloads):
    for payload in some(payloads()):
        wire = encoded(payload)
        assert wire == cobs.encode(payload.translate(WHITENED))
        assert decoded(wire) == payload
        assert crc(payload) == zlib.crc32(payload)


def test_what_is_not_cobs_is_refused_as_the_package_refuses_it():
    rng = random.Random(21)
    refused = 0
    for _ in range(RANDOM_PAYLOADS):
        wire = bytes(rng.choice(LOW_CODES) for _ in range(rng.randint(0, 12)))
        try:
            expected = cobs.decode(wire).translate(WHITENED)
        except cobs.DecodeError:
            expected = None
            refused += 1
        assert decoded(wire) == expected
    assert 1000 < refused < RANDOM_PAYLOADS - 1000  # both kinds were met


LOW_CODES = (1, 1, 2, 2, 3, 3, 4, 5, 9, 255)  # no zero: a reader splits there


def test_a_crc_can_be_carried_on():
    data = bytearray(random.Random(22).randbytes(300))
    register = bytearray(4)
    for start in range(0, 300, 7):
        frame.crc_update(register, data, start, min(start + 7, 300), TABLE)
    assert int.from_bytes(register, "little") == zlib.crc32(data)


def test_a_frame_is_what_the_packages_make_of_it():
    rng = random.Random(23)
    for payload in [*adversarial(), *(rng.randbytes(rng.randint(1, 57)) for _ in range(2000))]:
        checked = payload + zlib.crc32(payload).to_bytes(4, "little")
        assert framed(payload) == b"\0" + cobs.encode(checked.translate(WHITENED)) + b"\0"


@pytest.mark.parametrize("capacity", [57, 253, 254, 255, 600])
def test_a_reader_takes_what_a_writer_of_its_capacity_makes(capacity):
    rng = random.Random(capacity)
    writer, reader = FrameWriter(TABLE, capacity), FrameReader(TABLE, capacity)
    for size in (1, capacity - 1, capacity):
        for payload in (bytes(size), b"\x55" * size, rng.randbytes(size)):
            writer.payload[:size] = payload
            wire = bytes(writer.out[: writer.wrap(size)])
            assert list(payloads_in(reader, wire)) == [payload]
    assert (reader.good, reader.damaged, reader.oversized) == (9, 0, 0)


def test_the_largest_payload_makes_the_largest_frame():
    assert len(framed(b"\x55" * MAX_PAYLOAD)) == MAX_FRAME
    assert len(framed(bytes(MAX_PAYLOAD))) == MAX_FRAME


def test_a_payload_of_one_more_is_oversized():
    assert read([framed(b"\x55" * (MAX_PAYLOAD + 1))]) == Reading(oversized=1)


@pytest.mark.parametrize("size", [BODY_ROOM + 1, 255, 100_000])
def test_a_flood_without_a_delimiter_is_one_oversized_frame(size):
    good = framed(b"good")
    assert read([b"\x01" * size, good]) == Reading([b"good"], good=1, oversized=1)


def message_stream() -> tuple[bytes, Reading]:
    rng = random.Random(24)
    payloads = [payload_of(filled(kind, rng)) for kind in TO_BOARD + TO_HOST]
    return b"".join(map(framed, payloads)), Reading(payloads, good=len(payloads))


A, B, LONG = b"\x05one", b"\x06\0two\0", b"\x07" + b"\x55" * (MAX_PAYLOAD - 1)
BROKEN = framed(A)[:-2] + b"\xee\0"  # the last byte of the CRC is another
STREAMS = {
    "every message": message_stream(),
    "nothing": (b"", Reading()),
    "only delimiters": (bytes(5), Reading()),
    "one": (framed(A), Reading([A], good=1)),
    "no first delimiter": (framed(A)[1:], Reading([A], good=1)),
    "shared delimiters": (framed(A) + framed(B)[1:] + framed(A)[1:], Reading([A, B, A], good=3)),
    "many delimiters": (framed(A) + bytes(9) + framed(B), Reading([A, B], good=2)),
    "the same twice": (framed(A) * 2, Reading([A, A], good=2)),
    "largest between small": (
        framed(A) + framed(LONG) + framed(B),
        Reading([A, LONG, B], good=3),
    ),
    "noise before": (b"\x99\x98" + framed(A), Reading([A], good=1, damaged=1)),
    "half a frame before": (framed(LONG)[30:] + framed(A), Reading([A], good=1, damaged=1)),
    "wrong CRC between": (framed(A) + BROKEN + framed(B), Reading([A, B], good=2, damaged=1)),
    "CRC of nothing": (framed(b"") + framed(B), Reading([B], good=1, damaged=1)),
    "oversized between": (
        framed(A) + framed(bytes(80)) + framed(B),
        Reading([A, B], good=2, oversized=1),
    ),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_reads_the_same_every_way(name):
    check_every_way(*STREAMS[name])
