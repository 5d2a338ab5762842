"""What a car does with the words of boxes: its own one's run and stop, and a stranger's."""

from array import array
from types import SimpleNamespace

import pytest

from firmware.core.deadlines import Deadline
from firmware.core.stops import pairing as under_test
from firmware.core.stops.pairing import PairedBox, make_pairing
from firmware.core.stops.runstop import UNAUTHENTICATED
from firmware.protocol.boxes import BoxWord
from firmware.protocol.codes import (
    BOX_HAS_NO_KEY,
    BOX_RUNS,
    PAIRING_ANSWERS,
    PAIRING_BARE_BOX,
    PAIRING_NO_CIPHER,
    PAIRING_SILENT,
    PAIRING_STRANGE,
    STOP_SOURCE_RUNSTOP_BOX,
)

BIT = 1 << STOP_SOURCE_RUNSTOP_BOX
UNSAID = object()


class Boxes:
    """In the place of the real ones: what a word is worth is a test's to say."""

    def __init__(self, board, outbox):
        self.worth_us, self.is_time = 0, True
        self.asked, self.steps, self.forgotten = [], [], 0

    def left_us(self, values, payload, source, now_us):
        self.asked.append((list(values), payload, source, now_us))
        return self.worth_us

    def step(self, counts, now_us):
        self.steps.append((counts, now_us))
        return self.is_time

    def forget(self):
        self.forgotten += 1


class Rig:
    def __init__(self, monkeypatch):
        monkeypatch.setattr(under_test, "Boxes", Boxes)
        self.source = SimpleNamespace(says_stop=UNSAID, heard=Deadline(), is_fresh=False)
        self.sources = SimpleNamespace(paired=self.source, heard_mask=0)
        self.board = SimpleNamespace(pairing=UNSAID)
        self.frame = bytearray(64)
        self.routes = []
        reader = SimpleNamespace(frame=self.frame)
        receiver = SimpleNamespace(route_by_values=self.routes.extend, reader=reader)
        self.pairing = PairedBox(self.board, self.sources, receiver, None)
        self.boxes = self.pairing._boxes

    def hear(self, says, worth_us, now_us=0):
        word = BoxWord()
        word.values[:4] = array("i", (says, 3, 4, 5))
        self.boxes.worth_us = worth_us
        ((_, take),) = self.routes
        take(word, now_us)
        return word


@pytest.fixture
def rig(monkeypatch):
    return Rig(monkeypatch)


def test_it_hears_the_words_of_boxes(rig):
    ((message, _),) = rig.routes
    assert isinstance(message, BoxWord)
    assert not rig.pairing.is_spoken_to
    word = rig.hear(BOX_RUNS, 7, now_us=11)
    assert rig.pairing.is_spoken_to
    assert rig.boxes.asked == [(list(word.values), rig.frame, rig.source, 11)]


@pytest.mark.parametrize("worth_us", [1, 250_000])
def test_its_own_box_s_run_counts_for_what_it_is_worth(rig, worth_us):
    rig.hear(BOX_RUNS, worth_us, now_us=100)
    assert (rig.source.says_stop, rig.source.is_fresh, rig.sources.heard_mask) == (False, True, 0)
    rig.source.heard.step(100 + worth_us - 1)
    assert rig.source.heard.is_open
    rig.source.heard.step(100 + worth_us)
    assert not rig.source.heard.is_open
    assert rig.pairing.state() == PAIRING_ANSWERS
    rig.source.is_fresh = False
    assert rig.pairing.state() == PAIRING_SILENT, "it is no stranger's"


@pytest.mark.parametrize("worth_us", [1, 250_000])
def test_its_own_box_s_stop_is_its_own(rig, worth_us):
    rig.hear(0, worth_us)
    assert (rig.source.says_stop, rig.source.is_fresh) == (True, True)
    assert rig.sources.heard_mask == BIT


def test_a_strangers_run_counts_for_nothing(rig):
    rig.hear(BOX_RUNS, 0)
    assert (rig.source.says_stop, rig.source.is_fresh) == (UNSAID, False)
    assert not rig.source.heard.is_open
    assert rig.sources.heard_mask == 0
    assert rig.pairing.state() == PAIRING_STRANGE


@pytest.mark.parametrize("is_paired", [True, False])
def test_a_strangers_stop_is_a_stop_and_named(rig, is_paired):
    if not is_paired:
        rig.sources.paired = None
    rig.sources.heard_mask = 1 << 2
    rig.hear(0, 0)
    assert rig.sources.heard_mask == 1 << 2 | BIT | BIT << UNAUTHENTICATED
    assert rig.source.says_stop is UNSAID
    assert len(rig.boxes.asked) == int(is_paired)


def test_a_car_that_waits_for_no_box_believes_none(rig):
    rig.sources.paired = None
    rig.hear(BOX_RUNS, 250_000)
    assert rig.boxes.asked == []
    assert rig.sources.heard_mask == 0
    assert rig.pairing.state() == PAIRING_STRANGE
    rig.pairing.step(10)
    assert rig.boxes.steps == []
    assert rig.board.pairing is UNSAID


@pytest.mark.parametrize(
    ("says", "state"),
    [
        (BOX_HAS_NO_KEY, PAIRING_BARE_BOX),
        (BOX_HAS_NO_KEY | BOX_RUNS, PAIRING_BARE_BOX),
        (BOX_RUNS, PAIRING_STRANGE),
        (0, PAIRING_STRANGE),
    ],
)
def test_a_word_that_is_not_believed_is_told_for_a_second(rig, says, state):
    assert rig.pairing.state() == PAIRING_SILENT
    rig.hear(says, 0, now_us=500)
    rig.pairing.step(500 + 999_999)
    assert rig.pairing.state() == rig.board.pairing == state
    rig.pairing.step(500 + 1_000_000)
    assert rig.pairing.state() == rig.board.pairing == PAIRING_SILENT


def test_its_own_answer_is_told_before_a_strangers(rig):
    rig.hear(BOX_RUNS, 0)
    rig.hear(BOX_RUNS, 1000)
    assert rig.pairing.state() == PAIRING_ANSWERS
    rig.source.is_fresh = False
    assert rig.pairing.state() == PAIRING_STRANGE


def test_a_box_is_challenged_for_two_seconds_after_its_last_word(rig):
    rig.hear(BOX_RUNS, 1000, now_us=50)
    rig.pairing.step(60)
    rig.source.is_fresh = False
    rig.pairing.step(50 + 1_999_999)
    assert rig.boxes.steps == [(True, 60), (False, 50 + 1_999_999)]
    assert rig.pairing.is_spoken_to
    assert rig.boxes.forgotten == 0
    rig.source.is_fresh = True
    rig.pairing.step(50 + 2_000_000)
    assert not rig.pairing.is_spoken_to
    assert rig.boxes.forgotten == 1
    assert rig.board.pairing == PAIRING_SILENT


def test_what_is_told_changes_with_a_challenge(rig):
    rig.hear(BOX_RUNS, 1000)
    rig.boxes.is_time = False
    rig.pairing.step(10)
    assert rig.board.pairing is UNSAID
    rig.boxes.is_time = True
    rig.pairing.step(20)
    assert rig.board.pairing == PAIRING_ANSWERS


def test_without_a_cipher_there_is_none_and_it_is_told(monkeypatch, rig):
    def no_cipher(board, outbox):
        raise ValueError

    monkeypatch.setattr(under_test, "Boxes", no_cipher)
    assert make_pairing(rig.board, rig.sources, None, None) is None
    assert rig.board.pairing == PAIRING_NO_CIPHER


def test_with_one_it_is_made(monkeypatch, rig):
    receiver = SimpleNamespace(route_by_values=rig.routes.extend)
    assert isinstance(make_pairing(rig.board, rig.sources, receiver, None), PairedBox)
