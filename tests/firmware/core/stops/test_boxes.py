"""A car's challenges, and which answers keep its box's word fresh: number by number."""

from types import SimpleNamespace

import pytest

from firmware.core.stops.boxes import Boxes
from firmware.protocol.boxes import BoxHeard, BoxWord
from firmware.protocol.codec import encode_into
from tests.safety.support.paired_box import tag_of

KEY = b"a key of 16 byte"
FIRST, NONCE = 700, 0x2A3B4C5D  # what the board draws: the number before the first, and the nonce
MASK = (1 << 30) - 1
EVERY_US, KEPT = 40_000, 32
SILENCE_US = 250_000


class Outbox:
    def __init__(self):
        self.payload = bytearray(64)
        self.sent = []

    def post(self, size):
        self.sent.append(bytes(self.payload[:size]))


class Talk:
    """One car's half, and a box's words for it with tags of this test's making."""

    def __init__(self, first=FIRST, nonce=NONCE, key=KEY + b"and what follows it"):
        self.outbox = Outbox()
        drawn = iter((first, nonce))
        board = SimpleNamespace(key=key, entropy=lambda: next(drawn))
        self.boxes = Boxes(board, self.outbox)
        self.nonce = nonce
        self.source = SimpleNamespace(is_fresh=False, silence_us=SILENCE_US)

    def challenged(self, count=1, at_us=0):
        """After so many challenges, the last of them at that time."""
        for before in range(count - 1, -1, -1):
            assert self.boxes.step(False, at_us - before * EVERY_US & MASK)
        return self

    def left_us(self, now_us, key=KEY, **changes):
        fields = {"says": 1, "challenge": FIRST + 1, "epoch": 9, "sequence": 5, "since_100us": 0}
        word = BoxWord()
        for at, (name, value) in enumerate({**fields, **changes}.items()):
            setattr(word, name, value)
            word.values[at] = value
        payload = bytearray(64)
        encode_into(word, payload)
        word.tag[:] = tag_of(key, self.nonce, bytes(payload))
        encode_into(word, payload)
        return self.boxes.left_us(word.values, payload, self.source, now_us)


def said(challenge, counts=0, epoch=0, sequence=0, nonce=NONCE):
    """What is on the wire then, whose tag is over its first 16 bytes."""
    heard = BoxHeard()
    heard.counts, heard.challenge, heard.epoch = counts, challenge, epoch
    heard.sequence, heard.nonce = sequence, nonce
    payload = bytearray(64)
    encode_into(heard, payload)
    heard.tag[:] = tag_of(KEY, nonce, bytes(payload))
    return bytes(payload[: encode_into(heard, payload)])


@pytest.mark.parametrize("now_us", [0, 5, 3 << 28, MASK])
def test_it_challenges_at_once_and_each_40_ms(now_us):
    talk = Talk()
    assert talk.boxes.step(False, now_us)
    assert talk.boxes.step(False, now_us + EVERY_US - 1 & MASK) is False
    assert talk.boxes.step(True, now_us + EVERY_US & MASK)
    assert talk.outbox.sent == [said(FIRST + 1), said(FIRST + 2, counts=1)]


@pytest.mark.parametrize(("first", "numbers"), [(MASK - 1, [MASK, 1, 2]), (MASK, [1, 2, 3])])
def test_its_numbers_leave_out_0_which_is_none(first, numbers):
    talk = Talk(first).challenged(3)
    assert talk.outbox.sent == [said(number) for number in numbers]


def test_it_says_which_word_it_took_last():
    talk = Talk().challenged()
    assert talk.left_us(0, epoch=77, sequence=1 << 29) == SILENCE_US
    talk.boxes.step(True, EVERY_US)
    assert talk.outbox.sent[-1] == said(FIRST + 2, counts=1, epoch=77, sequence=1 << 29)


def test_nothing_counts_before_the_first_challenge():
    talk = Talk()
    assert [talk.left_us(0, challenge=FIRST + it) for it in (-1, 0, 1)] == [0, 0, 0]


@pytest.mark.parametrize("at_us", [0, MASK])
@pytest.mark.parametrize(
    ("after_us", "since_100us", "left_us"),
    [
        (0, 0, SILENCE_US),
        (1000, 0, SILENCE_US - 1000),
        (1000, 10, SILENCE_US),  # it was heard as it was said
        (1000, 4, SILENCE_US - 600),
        (8000, 100, SILENCE_US),  # 2 ms that its clock may have gained
        (7999, 100, 0),
        (0, 100, 0),
        (SILENCE_US - 1, 0, 1),
        (SILENCE_US, 0, 0),
        (SILENCE_US + 1, 0, 0),
    ],
)
def test_a_word_counts_from_its_challenge_less_what_it_waited(
    at_us, after_us, since_100us, left_us
):
    talk = Talk().challenged(at_us=at_us)
    assert talk.left_us(at_us + after_us & MASK, since_100us=since_100us) == left_us


def test_a_word_that_came_too_late_is_not_taken_for_the_last_one():
    talk = Talk().challenged()
    assert talk.left_us(SILENCE_US, sequence=6) == 0
    assert talk.left_us(0, sequence=5) == SILENCE_US


def test_of_the_challenges_the_last_32_may_be_answered():
    talk = Talk().challenged(40, at_us=39 * EVERY_US)
    talk.source.silence_us = 2_000_000
    now_us, newest = 39 * EVERY_US, FIRST + 40
    assert talk.left_us(now_us, challenge=newest + 1) == 0
    assert talk.left_us(now_us, challenge=newest - KEPT) == 0
    oldest = talk.left_us(now_us, challenge=newest - KEPT + 1, sequence=6)
    assert oldest == 2_000_000 - (KEPT - 1) * EVERY_US
    assert talk.left_us(now_us, challenge=newest, sequence=7) == 2_000_000


def test_as_many_may_be_answered_as_were_said():
    talk = Talk().challenged(3, at_us=2 * EVERY_US)
    talk.source.silence_us = 2_000_000
    assert talk.left_us(2 * EVERY_US, challenge=FIRST) == 0
    assert talk.left_us(2 * EVERY_US, challenge=FIRST + 1) == 2_000_000 - 2 * EVERY_US


def test_a_box_s_numbers_rise():
    talk = Talk().challenged()
    talk.source.is_fresh = True
    assert talk.left_us(0, epoch=9, sequence=5) == 0, "the first box's silence is not over"
    talk.source.is_fresh = False
    assert talk.left_us(0, epoch=9, sequence=5) == SILENCE_US
    talk.source.is_fresh = True
    assert talk.left_us(0, epoch=9, sequence=4) == 0
    assert talk.left_us(0, epoch=9, sequence=5) == 0
    assert talk.left_us(0, epoch=9, sequence=6) == SILENCE_US


def test_a_box_that_began_anew_waits_for_its_silence():
    talk = Talk().challenged()
    talk.left_us(0, epoch=9, sequence=5)
    talk.source.is_fresh = True
    assert talk.left_us(0, epoch=10, sequence=6) == 0
    talk.source.is_fresh = False
    assert talk.left_us(0, epoch=10, sequence=1) == SILENCE_US


def test_a_word_with_another_tag_changes_nothing():
    talk = Talk().challenged()
    assert talk.left_us(0, key=b"another 16 bytes", sequence=8) == 0
    assert talk.left_us(0, sequence=7) == SILENCE_US
    talk.nonce += 1
    assert talk.left_us(0, sequence=9) == 0


def test_what_is_forgotten_is_not_answered_and_it_begins_at_once():
    talk = Talk().challenged(5)
    talk.boxes.forget()
    assert talk.left_us(0, challenge=FIRST + 5) == 0
    assert talk.boxes.step(False, 1)
    assert talk.left_us(1, challenge=FIRST + 6) == SILENCE_US
    assert talk.left_us(1, challenge=FIRST + 5, sequence=6) == 0
