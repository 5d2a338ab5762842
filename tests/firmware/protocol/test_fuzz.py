"""Fuzz: ten million bytes of good, damaged and random data, each run with its own seed.

Two kinds. *Injected* damage knows what it did, so the payloads and all counters must come out
equal. *Blind* damage hits anywhere, delimiters too; there the bounds must hold.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from firmware.protocol.frame import MAX_PAYLOAD
from host_bridge.link.protocol.wire import MessageDecoder
from tests.firmware.protocol.streams import (
    BODY_ROOM,
    LOST_TO_ONE_DAMAGE,
    Reading,
    framed,
    missing,
    read,
    uneven,
)

BYTES_PER_RUN = 1_000_000
RUNS = 5  # of each of the two kinds
SOAK_RUNS = 50
READ_SIZE = 256  # as much as the car takes from its link at once


class Traffic:
    """Numbered payloads of any size, and what a reader must make of what became of them."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.expected = Reading()
        self._sent = 0

    def payload(self) -> bytes:
        self._sent += 1
        number = self._sent.to_bytes(4, "big")
        return number + self.rng.randbytes(self.rng.randint(0, MAX_PAYLOAD - len(number)))

    def frame(self) -> bytes:
        return framed(self.payload())

    def good(self) -> bytes:
        payload = self.payload()
        self.expected.payloads.append(payload)
        self.expected.good += 1
        return framed(payload)

    def junk(self, data: bytes) -> bytes:
        """``data`` with no good frame in it: each stretch between zeros counts once."""
        for stretch in data.split(b"\0"):
            self.expected.oversized += len(stretch) > BODY_ROOM
            self.expected.damaged += 0 < len(stretch) <= BODY_ROOM
        return data


def good(traffic: Traffic) -> bytes:
    return traffic.good()


def doubled(traffic: Traffic) -> bytes:
    frame = traffic.good()
    traffic.expected.payloads.append(traffic.expected.payloads[-1])
    traffic.expected.good += 1
    return frame * 2


def flipped(traffic: Traffic) -> bytes:
    body = bytearray(traffic.frame()[1:-1])
    for at in traffic.rng.sample(range(8 * len(body)), traffic.rng.randint(1, 9)):
        body[at // 8] ^= 1 << at % 8
    return traffic.junk(bytes(body))


def truncated(traffic: Traffic) -> bytes:
    frame = traffic.frame()
    return traffic.junk(frame[: traffic.rng.randint(0, len(frame) - 2)])


def beheaded(traffic: Traffic) -> bytes:
    frame = traffic.frame()
    return traffic.junk(frame[traffic.rng.randint(2, len(frame)) :])


def byte_lost(traffic: Traffic) -> bytes:
    frame = traffic.frame()
    at = traffic.rng.randint(1, len(frame) - 2)
    return traffic.junk(frame[:at] + frame[at + 1 :])


def byte_doubled(traffic: Traffic) -> bytes:
    frame = traffic.frame()
    at = traffic.rng.randint(1, len(frame) - 2)
    return traffic.junk(frame[:at] + frame[at:][:1] + frame[at:])


def merged(traffic: Traffic) -> bytes:
    """Both delimiters between two frames are lost: the most that one damage can do."""
    return traffic.junk(traffic.frame()[:-1] + traffic.frame()[1:])


def oversized(traffic: Traffic) -> bytes:
    size = traffic.rng.randint(MAX_PAYLOAD + 1, 600)
    return traffic.junk(framed(traffic.rng.randbytes(size).replace(b"\0", b"\1")))


def noise(traffic: Traffic) -> bytes:
    return traffic.junk(traffic.rng.randbytes(traffic.rng.randint(0, 400)))


def crc_of_nothing(traffic: Traffic) -> bytes:
    return traffic.junk(framed(b""))


KINDS = (
    good,
    good,
    good,
    doubled,
    flipped,
    truncated,
    beheaded,
    byte_lost,
    byte_doubled,
    merged,
    oversized,
    noise,
    crc_of_nothing,
)


def injected(traffic: Traffic, size: int) -> bytes:
    """A delimiter before each, since some have lost theirs; it is the next one's in real life."""
    pieces: list[bytes] = []
    total = 0
    while total < size:
        pieces.append(b"\0" + traffic.rng.choice(KINDS)(traffic))
        total += len(pieces[-1])
    return b"".join(pieces) + b"\0"


def check_injected(seed: int) -> None:
    traffic = Traffic(seed)
    stream = injected(traffic, BYTES_PER_RUN)
    assert read(uneven(stream, traffic.rng, READ_SIZE)) == traffic.expected


def burst(traffic: Traffic, stream: bytearray, at: int) -> None:
    size = traffic.rng.randint(1, 32)
    span = int.from_bytes(stream[at : at + 5], "big")
    span ^= traffic.rng.getrandbits(size) << traffic.rng.randint(0, 40 - size)
    stream[at : at + 5] = span.to_bytes(5, "big")


def loss(_traffic: Traffic, stream: bytearray, at: int) -> None:
    del stream[at]


def repetition(_traffic: Traffic, stream: bytearray, at: int) -> None:
    stream.insert(at, stream[at])


def insertion(traffic: Traffic, stream: bytearray, at: int) -> None:
    stream[at:at] = traffic.rng.randbytes(traffic.rng.randint(1, 200))


BLIND = (burst, loss, repetition, insertion)
BLOCK_FRAMES = 25  # one damage in every so many frames


def block(traffic: Traffic) -> tuple[bytes, list[bytes]]:
    """Some frames with one damage well inside, so that what is next to it is there."""
    payloads = [traffic.payload() for _ in range(BLOCK_FRAMES)]
    stream = bytearray(b"".join(map(framed, payloads)))
    traffic.rng.choice(BLIND)(traffic, stream, traffic.rng.randrange(200, len(stream) - 200))
    return bytes(stream), payloads


def blocks(traffic: Traffic, size: int) -> Iterator[tuple[bytes, list[bytes]]]:
    total = 0
    while total < size:
        stream, payloads = block(traffic)
        total += len(stream)
        yield stream, payloads


def check_blind(seed: int) -> None:
    traffic = Traffic(seed)
    for stream, sent in blocks(traffic, BYTES_PER_RUN):
        reading = read(uneven(stream, traffic.rng, READ_SIZE))
        assert missing(sent, reading.payloads) <= LOST_TO_ONE_DAMAGE
        assert reading.payloads[-1] == sent[-1], "not in step again"


def check_host(seed: int) -> None:
    traffic, decoder = Traffic(seed), MessageDecoder()
    for piece in uneven(injected(traffic, BYTES_PER_RUN), traffic.rng, READ_SIZE):
        decoder.feed(piece)
    expected = traffic.expected
    assert (decoder.good, decoder.damaged, decoder.oversized) == (
        expected.good,
        expected.damaged,
        expected.oversized,
    )


def check_random(seed: int) -> None:
    data = random.Random(seed).randbytes(BYTES_PER_RUN)
    reading = read([data])
    stretches = [len(stretch) for stretch in data.split(b"\0")[:-1] if stretch]
    assert reading.payloads == []
    assert reading.oversized == sum(size > BODY_ROOM for size in stretches)
    assert reading.damaged == sum(size <= BODY_ROOM for size in stretches)


@pytest.mark.parametrize("seed", range(RUNS))
def test_counters_equal_the_injected_damage_and_nothing_else_is_accepted(seed):
    check_injected(seed)


@pytest.mark.parametrize("seed", range(RUNS))
def test_one_damage_anywhere_costs_at_most_two_good_frames(seed):
    check_blind(seed)


def test_the_host_counts_the_same_damage_as_the_car():
    check_host(seed=29)


def test_random_bytes_are_no_message():
    check_random(seed=30)


@pytest.mark.soak
@pytest.mark.parametrize("check", [check_injected, check_blind])
@pytest.mark.parametrize("seed", range(1000, 1000 + SOAK_RUNS))
def test_a_hundred_million_bytes_change_nothing(check, seed):
    check(seed)
