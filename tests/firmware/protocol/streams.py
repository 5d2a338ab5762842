"""Streams of frames for the tests: made by the car's writer, read by the car's reader.

``check_every_way`` is the one helper that each stream case goes through: whole, byte by byte, in
uneven pieces, with trailing data, with every byte lost and with every bit flipped.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from firmware.protocol.codec import Message, encode_into
from firmware.protocol.frame import MAX_PAYLOAD, FrameReader, FrameWriter, crc_table

TABLE = crc_table()
BODY_ROOM = MAX_PAYLOAD + 5  # what a reader holds between two delimiters: payload, CRC, COBS code
LOST_TO_ONE_DAMAGE = 2  # good frames, at most

_writer = FrameWriter(TABLE)


def framed(payload: bytes) -> bytes:
    """A frame with both delimiters, of any payload, by the car's own writer."""
    writer = _writer if len(payload) <= MAX_PAYLOAD else FrameWriter(TABLE, len(payload))
    writer.payload[: len(payload)] = payload
    return bytes(writer.out[: writer.wrap(len(payload))])


def payload_of(message: Message) -> bytes:
    payload = bytearray(message.size)
    return bytes(payload[: encode_into(message, payload)])


def filled(kind: type[Message], rng: random.Random) -> Message:
    """A message with every second value at random, the others as made: zeros matter to COBS."""
    message = kind()
    for name, wire_kind, low, high, _unit in kind.FIELDS:
        if rng.random() < 0.5:
            is_text = wire_kind[0] == "b"
            value = (
                bytearray(rng.randbytes(int(wire_kind[1:]))) if is_text else rng.randint(low, high)
            )
            setattr(message, name, value)
    return message


@dataclass
class Reading:
    """What a reader made of a stream."""

    payloads: list[bytes] = field(default_factory=list)
    good: int = 0
    damaged: int = 0
    oversized: int = 0


def payloads_in(reader: FrameReader, data: bytes) -> Iterator[bytes]:
    """The good payloads that end in ``data``; what the reader holds of the next one, it keeps."""
    room, at, size = bytearray(data), 0, len(data)  # as a board has it; machine code insists
    while True:
        at = reader.read(room, at, size) + 1
        if at > size:
            return
        length = reader.payload_size()
        if length:
            yield bytes(reader.frame[:length])


def read(pieces: Iterable[bytes]) -> Reading:
    reader = FrameReader(TABLE)
    payloads = [payload for piece in pieces for payload in payloads_in(reader, piece)]
    return Reading(payloads, reader.good, reader.damaged, reader.oversized)


def bytewise(data: bytes) -> Iterator[bytes]:
    return (data[i : i + 1] for i in range(len(data)))


def uneven(data: bytes, rng: random.Random, most: int = 97) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        size = rng.randint(1, most)
        yield data[at : at + size]
        at += size


def missing(sent: Sequence[bytes], accepted: Sequence[bytes]) -> int:
    """How many of ``sent`` are not in ``accepted``; fails if anything else or out of order is."""
    coming = iter(sent)
    for payload in accepted:
        assert payload in coming, f"accepted what was not sent: {payload.hex(' ')}"
    return len(sent) - len(accepted)


def check_every_way(stream: bytes, expected: Reading) -> None:
    """``expected`` is what the stream holds when nothing happens to it; it ends in step."""
    assert read([stream]) == expected
    assert read(bytewise(stream)) == expected
    assert read(uneven(stream, random.Random(len(stream)))) == expected
    _check_trailing(stream, expected)
    _check_damaged(_each_lost(stream), expected)
    _check_damaged(_each_flipped(stream), expected)


_LAST = bytes([255]) + b"the frame after"


def _check_trailing(stream: bytes, expected: Reading) -> None:
    after = framed(_LAST)
    for cut in range(len(after)):
        assert read([stream, after[:cut]]) == expected, "half a frame counts for nothing yet"
    whole = read([stream, after])
    assert whole.payloads == [*expected.payloads, _LAST]
    assert (whole.damaged, whole.oversized) == (expected.damaged, expected.oversized)


def _each_lost(stream: bytes) -> Iterator[bytes]:
    return (stream[:i] + stream[i + 1 :] for i in range(len(stream)))


def _each_flipped(stream: bytes) -> Iterator[bytes]:
    for i in range(len(stream)):
        for bit in range(8):
            yield stream[:i] + bytes([stream[i] ^ 1 << bit]) + stream[i + 1 :]


def _check_damaged(streams: Iterable[bytes], expected: Reading) -> None:
    sent = [*expected.payloads, _LAST]
    after = framed(_LAST)
    for stream in streams:
        reading = read([stream, after])
        assert missing(sent, reading.payloads) <= LOST_TO_ONE_DAMAGE
        assert reading.payloads[-1:] == [_LAST], "not in step at the next delimiter"
