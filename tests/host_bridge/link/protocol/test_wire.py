"""The host's codec against the car's: both have to say the same about every byte."""

from __future__ import annotations

import random

import pytest

from firmware.protocol import messages
from firmware.protocol.codec import DECODED, OUT_OF_RANGE, Message, decode_into, encode_into
from firmware.protocol.frame import MAX_PAYLOAD, FrameReader, FrameWriter, crc_table
from host_bridge.link.protocol import wire
from tests.host_bridge.link.protocol.fields import fields_of
from tests.support.evidence import some

ALL = messages.TO_BOARD + messages.TO_HOST
TABLE = crc_table()
RANDOM_FRAMES = 10_000  # of each seed
pytestmark = pytest.mark.usefixtures("text")  # of the car's codec, as boards have it


class FirmwareDecoder:
    """What the car makes of a stream: its reader, and its codec for all messages."""

    def __init__(self) -> None:
        self.reader = FrameReader(TABLE)
        self.unknown = 0
        self.out_of_range = 0
        self._messages = {kind.ID: kind() for kind in ALL}

    def feed(self, data: bytes) -> list[tuple[str, dict[str, int | bytes]]]:
        found = []
        at = 0
        while at < len(data):
            at = self.reader.read(data, at, len(data)) + 1
            if at <= len(data):
                size = self.reader.payload_size()
                if size and (message := self._message(size)):
                    found.append((type(message).__name__, fields_of(message)))
        return found

    def _message(self, size: int) -> Message | None:
        message = self._messages.get(self.reader.frame[0])
        verdict = decode_into(message, self.reader.frame, size) if message else None
        if verdict == DECODED:
            return message
        self.out_of_range += verdict == OUT_OF_RANGE
        self.unknown += verdict != OUT_OF_RANGE
        return None

    def counts(self) -> tuple[int, ...]:
        reader = self.reader
        return (reader.good, reader.damaged, reader.oversized, self.unknown, self.out_of_range)


def counts(decoder: wire.MessageDecoder) -> tuple[int, ...]:
    d = decoder
    return (d.good, d.damaged, d.oversized, d.unknown, d.out_of_range)


def taken(decoded: list[Message | wire.RejectedFrame]) -> list[tuple[str, dict[str, int | bytes]]]:
    good = [m for m in decoded if isinstance(m, Message)]
    return [(type(m).__name__, fields_of(m)) for m in good]


def random_field(rng: random.Random, kind: str, low: int, high: int) -> int | bytes:
    if kind[0] == "b":
        return bytes(rng.choice((0, 0, 255, rng.randrange(256))) for _ in range(int(kind[1:])))
    return rng.choice((low, high, min(max(0, low), high), rng.randint(low, high)))


def random_message(rng: random.Random) -> Message:
    kind = rng.choice(ALL)
    return wire.new(kind, **{row[0]: random_field(rng, *row[1:4]) for row in kind.FIELDS})


def firmware_frame(message: Message, writer: FrameWriter) -> bytes:
    filled = type(message)()
    for name, value in fields_of(message).items():
        setattr(filled, name, value)
    return bytes(writer.out[: writer.wrap(encode_into(filled, writer.payload))])


def test_a_range_is_looked_at_only_where_it_is_narrower_than_its_bytes():
    """What ``struct`` refuses by itself takes no time of each claim."""
    wide = {"u8": (0, 255), "i8": (-128, 127), "u16": (0, 65535), "i16": (-32768, 32767)}
    for kind, layout in wire.LAYOUTS.items():
        narrow = tuple(
            (place, low, high)
            for place, (_, code, low, high, _) in enumerate(kind.FIELDS)
            if code[0] != "b" and wide.get(code) != (low, high)
        )
        assert layout.ranges == narrow, kind
    assert wire.LAYOUTS[messages.Claim].ranges


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(10))
def test_both_sides_write_the_same_bytes_and_read_the_same_messages(seed):
    rng = random.Random(seed)
    writer, reader, decoder = FrameWriter(TABLE), FirmwareDecoder(), wire.MessageDecoder()
    for _ in range(RANDOM_FRAMES // 100):
        sent = [random_message(rng) for _ in range(100)]
        stream = b"".join(wire.encode(message) for message in sent)
        assert stream == b"".join(firmware_frame(message, writer) for message in sent)
        expected = [(type(m).__name__, fields_of(m)) for m in sent]
        assert taken(decoder.feed(stream)) == expected
        assert reader.feed(stream) == expected
    assert counts(decoder) == reader.counts() == (RANDOM_FRAMES, 0, 0, 0, 0)


def adversarial_payloads() -> list[bytes]:
    every_value_with_zero = [bytes((v, 0)) for v in range(256)] + [
        bytes((0, v, 0, v)) for v in range(256)
    ]
    runs = [bytes([1]) * size for size in (1, 2, 253, 254, 255, 508, 509)]
    zeros = [bytes(size) for size in range(1, 64)]
    ids = [bytes([kind.ID]) + b"\xff" * size for kind in ALL for size in range(MAX_PAYLOAD)]
    return every_value_with_zero + runs + zeros + ids


def test_both_sides_say_the_same_about_adversarial_frames():
    reader, decoder = FirmwareDecoder(), wire.MessageDecoder()
    for payload in adversarial_payloads():
        stream = wire.frame(payload)
        assert taken(decoder.feed(stream)) == reader.feed(stream)
        assert counts(decoder) == reader.counts(), payload
    good, _, oversized, unknown, out_of_range = counts(decoder)
    assert min(good, oversized, unknown, out_of_range) > 0, "each verdict has been met"


def damaged(rng: random.Random, stream: bytearray) -> bytes:
    for _ in range(rng.randrange(8)):
        at = rng.randrange(len(stream))
        how = rng.randrange(4)
        if how == 0:
            stream[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            del stream[at : at + rng.randrange(1, 20)]
        elif how == 2:
            stream[at:at] = rng.randbytes(rng.randrange(1, 90))
        else:
            stream[at] = 0
        stream += b"\0"
    return bytes(stream)


def test_both_sides_count_the_same_damage_whatever_the_pieces():
    rng = random.Random(2)
    reader, decoder = FirmwareDecoder(), wire.MessageDecoder()
    for _ in range(1000):
        frames = bytearray(b"".join(wire.encode(random_message(rng)) for _ in range(5)))
        stream = damaged(rng, frames)
        cuts = sorted(rng.randrange(len(stream)) for _ in range(3))
        pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
        found = [m for piece in pieces for m in taken(decoder.feed(piece))]
        assert found == reader.feed(stream)
    assert counts(decoder) == reader.counts()
    assert decoder.damaged > 1000


def test_nothing_is_kept_of_an_endless_frame():
    decoder = wire.MessageDecoder()
    for _ in range(100):
        assert decoder.feed(b"\x55" * 10_000) == []
    assert [type(m) for m in decoder.feed(b"\0")] == [wire.RejectedFrame]
    assert decoder.oversized == 1
    assert (
        len(decoder.feed(wire.encode(wire.new(messages.Identify, token=7, challenge=bytes(8)))))
        == 1
    )


@pytest.mark.parametrize("kind", ALL)
def test_a_value_out_of_range_is_named(kind):
    good = {row[0]: bytes(int(row[1][1:])) if row[1][0] == "b" else row[2] for row in kind.FIELDS}
    wire.encode(wire.new(kind, **good))
    for name, wire_kind, low, high, _unit in kind.FIELDS:
        wrongs = (b"", b"12345") if wire_kind[0] == "b" else (low - 1, high + 1, 0.5)
        for wrong in some(wrongs):
            with pytest.raises(ValueError, match=f"{kind.__name__}.{name}"):
                wire.encode(wire.new(kind, **{**good, name: wrong}))


def test_a_message_is_not_made_with_fields_it_does_not_have():
    with pytest.raises(TypeError, match="token"):
        wire.new(messages.Identify, tokn=1)
