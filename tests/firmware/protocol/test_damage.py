"""Exhaustive damage: no flip of one or two bits and no burst up to 32 bits makes another message.

All of it goes through the car's own ``FrameReader``. It is quick enough for that because each
trial is three frames of which both neighbours are short, and the damage is one exclusive-or of
the stream as an integer. Damage covers the frame, both its delimiters and the delimiters next to
them, since only by those can it run into its neighbours; bursts may reach on into the neighbours.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from firmware.protocol.frame import FrameReader
from firmware.protocol.messages import TO_BOARD, TO_HOST
from tests.firmware.protocol.streams import TABLE, filled, framed, payload_of, payloads_in

MESSAGES = TO_BOARD + TO_HOST
BURST_BITS = 32
RANDOM_BURSTS = -(-1_000_000 // len(MESSAGES))  # of each message; a million in all
BEFORE, AFTER = b"\x15\x00\x07", b"\x2b\x10\x27\x00"  # a ParameterRead and a Power
# What may come out, in this order; two good frames are the most that one damage costs.
ALLOWED = ((0, 1, 2), (0, 1), (0, 2), (1, 2), (0,), (1,), (2,))


class Trial:
    """Three frames in a row; ``bits`` of the stream (from its end, as integers count) are hit."""

    def __init__(self, payload: bytes) -> None:
        stream = framed(BEFORE) + framed(payload) + framed(AFTER)
        self._size = len(stream)
        self._stream = int.from_bytes(stream, "big")
        self._reader = FrameReader(TABLE)
        sent = (BEFORE, payload, AFTER)
        self._allowed = {tuple(sent[i] for i in places) for places in ALLOWED}
        self.low = 8 * (len(framed(AFTER)) - 1)
        self.high = self.low + 8 * (len(framed(payload)) + 2)

    def read(self, damage: int) -> tuple[bytes, ...]:
        data = (self._stream ^ damage).to_bytes(self._size, "big")
        return tuple(payloads_in(self._reader, data))

    def check(self, damage: int) -> None:
        accepted = self.read(damage)
        assert accepted in self._allowed, f"damage {damage:#x} gave {accepted}"


@pytest.fixture(params=MESSAGES, ids=lambda kind: kind.__name__)
def trial(request):
    return Trial(payload_of(filled(request.param, random.Random(request.param.ID))))


def flips(trial: Trial) -> Iterator[int]:
    """Every single bit, then every pair."""
    for first in range(trial.low, trial.high):
        yield 1 << first
        for second in range(first):
            if second >= trial.low:
                yield 1 << first | 1 << second


def solid_bursts(trial: Trial) -> Iterator[int]:
    for size in range(1, BURST_BITS + 1):
        for at in range(trial.low - size + 1, trial.high):
            yield ((1 << size) - 1) << at


def random_bursts(trial: Trial, seed: int) -> Iterator[int]:
    """Of 3 to 32 bits, with the first and the last one hit: shorter ones are flips."""
    rng = random.Random(seed)
    for _ in range(RANDOM_BURSTS):
        size = rng.randint(3, BURST_BITS)
        pattern = rng.getrandbits(size) | 1 | 1 << (size - 1)
        yield pattern << rng.randrange(trial.low - size + 1, trial.high)


def test_a_stream_without_damage_gives_all_three(trial):
    assert len(trial.read(0)) == 3


@pytest.mark.exhaustive
def test_no_flip_of_one_or_two_bits_makes_another_message(trial):
    for damage in flips(trial):
        trial.check(damage)


def test_no_solid_burst_makes_another_message(trial):
    for damage in solid_bursts(trial):
        trial.check(damage)


@pytest.mark.exhaustive
def test_no_random_burst_makes_another_message(trial):
    for damage in random_bursts(trial, seed=trial.high):
        trial.check(damage)


def test_the_check_fails_where_one_good_frame_turns_into_another():
    trial = Trial(b"\x15\x01\x00")
    sent, forged = (int.from_bytes(framed(b"\x15" + last), "big") for last in (b"\1\0", b"\2\0"))
    with pytest.raises(AssertionError, match="damage"):
        trial.check((sent ^ forged) << trial.low + 8)
