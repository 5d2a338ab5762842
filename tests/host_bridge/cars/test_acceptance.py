"""What two cars report of their claims: what agreed, what was lost, what differs."""

from __future__ import annotations

import random
import zlib

import pytest

from host_bridge.cars.acceptance import Acceptance, AcceptanceReport, Agreement, newest_common
from host_bridge.link.protocol.wire import CLAIM_SIZE

LAST = 0xFFFF


class Board:
    """Accepts claims, and reports as a car does."""

    def __init__(self, first: int = 1) -> None:
        self.record = Acceptance()
        self.count = 0
        self.crc = 0
        self.sequence = first - 1 & LAST

    def take(self, *claims: bytes) -> Board:
        """One after the other; None of them is reported before ``say``."""
        for claim in claims:
            self.lose()
            self.count += 1
            self.crc = zlib.crc32(claim, self.crc)
        return self

    def lose(self, claims: int = 1) -> Board:
        self.sequence = self.sequence + claims & LAST
        return self

    def say(self) -> AcceptanceReport:
        report = AcceptanceReport(self.sequence, self.count & LAST, self.crc, None)
        self.record.take(report)
        return report


class Twins:
    def __init__(self, first: int = 1, *, begins: bool = True) -> None:
        self.boards = (Board(first), Board(first))
        self.agreement = Agreement(self.boards[0].record, self.boards[1].record)
        self._random = random.Random(1)
        if begins:
            self.agreement.begin(first)

    def claim(self, differs: bool = False) -> tuple[bytes, bytes]:
        one = self._random.randbytes(CLAIM_SIZE)
        return one, (self._random.randbytes(CLAIM_SIZE) if differs else one)

    def both_take(
        self, many: int = 1, *, differs: bool = False, lost_by: int | None = None
    ) -> None:
        for _ in range(many):
            for at, (board, claim) in enumerate(zip(self.boards, self.claim(differs), strict=True)):
                board.lose() if at == lost_by else board.take(claim)

    def say(self) -> Agreement:
        for board in self.boards:
            board.say()
        self.agreement.step()
        return self.agreement


def report(sequence: int, count: int = 1, crc: int = 0) -> AcceptanceReport:
    return AcceptanceReport(sequence, count, crc, None)


# --- one car's reports


def test_a_report_is_found_by_its_sequence_and_the_latest_is_the_last():
    record = Acceptance()
    assert (record.latest, record.at(1)) == (None, None)
    first, second = report(1), report(2, 2)
    record.take(first)
    record.take(second)
    assert (record.latest, record.at(1), record.at(2), record.at(3)) == (
        second,
        first,
        second,
        None,
    )


def test_what_was_reported_already_is_kept_as_it_was():
    """A car says its last claim on each step: the time at which it was first said is the one."""
    record = Acceptance()
    first = AcceptanceReport(5, 1, 7, 100)
    record.take(first)
    record.take(AcceptanceReport(5, 1, 7, 200))
    assert record.latest is first
    other_count, other_sequence = AcceptanceReport(5, 2, 7, 300), AcceptanceReport(6, 2, 7, 400)
    record.take(other_count)
    assert (record.latest, record.at(5)) == (other_count, other_count)
    record.take(other_sequence)
    assert record.latest is other_sequence


def test_the_newest_256_are_kept_and_one_said_again_is_among_the_newest():
    record = Acceptance()
    for sequence in range(256):
        record.take(report(sequence, sequence))
    assert record.at(0) is not None
    record.take(report(0, 999))  # after 65536 claims it comes again
    assert record.at(1) is not None, "it took the place that it had"
    record.take(report(256, 256))
    assert (record.at(1), record.at(2) is not None, record.at(0) is not None) == (None, True, True)


# --- of several


def test_the_newest_that_all_reported_is_found_whoever_is_ahead():
    one, other = Acceptance(), Acceptance()
    assert newest_common([one, other]) is None
    for sequence in (3, 4, 5):
        one.take(report(sequence, crc=1))
    assert newest_common([one, other]) is None
    other.take(report(4, crc=2))
    assert newest_common([one, other]) == [report(4, crc=1), report(4, crc=2)]
    assert newest_common([other, one]) == [report(4, crc=2), report(4, crc=1)]
    other.take(report(9, crc=2))
    assert newest_common([one, other]) is None, "nobody's latest is known to the other"
    one.take(report(9, crc=1))
    assert newest_common([one, other]) == [report(9, crc=1), report(9, crc=2)]


@pytest.mark.parametrize(
    ("older", "newer"), [(7, 8), (LAST, 0), (0, 0x7FFF), (0x8000, LAST), (0xC000, 0x3FFF)]
)
@pytest.mark.parametrize("order", [1, -1])
def test_of_two_common_ones_the_newer_one_counts_across_the_wrap(older, newer, order):
    """Each one's latest is known to all, so that both could be meant."""
    a, b = Acceptance(), Acceptance()
    for sequence in (newer, older):
        a.take(report(sequence))
    for sequence in (older, newer):
        b.take(report(sequence))
    found = newest_common([a, b][::order])
    assert found is not None
    assert [it.sequence for it in found] == [newer, newer]


def test_what_is_half_the_numbers_ahead_is_not_newer():
    a, b = Acceptance(), Acceptance()
    for sequence in (0x8000, 0):
        a.take(report(sequence))
    for sequence in (0, 0x8000):
        b.take(report(sequence))
    found = newest_common([a, b])
    assert found is not None
    assert found[0].sequence == 0


# --- whether two agree


def test_nothing_is_known_before_both_have_said_something():
    twins = Twins()
    twins.agreement.step()
    twins.both_take()
    twins.boards[0].say()
    twins.agreement.step()
    agreement = twins.agreement
    assert (agreement.agreed, agreement.missed, agreement.crcs) == (0, 0, [0, 0])
    assert (agreement.is_equal(), agreement.differs_at) == (True, None)


@pytest.mark.parametrize("first", [1, 0, LAST, LAST - 2])
def test_what_both_took_agrees_from_the_first_on_with_the_crc_that_they_report(first):
    twins = Twins(first)
    for many in (1, 3, 2):
        twins.both_take(many)
        agreement = twins.say()
    assert (agreement.agreed, agreement.missed, agreement.is_equal()) == (6, 0, True)
    assert agreement.crcs == [twins.boards[0].crc] * 2
    twins.agreement.step()
    assert agreement.agreed == 6, "nothing new was said"


def test_what_was_taken_before_it_began_is_not_compared():
    twins = Twins(begins=False)
    twins.both_take(3, differs=True)
    agreement = twins.say()
    assert (agreement.agreed, agreement.is_equal()) == (0, True)
    twins.both_take(2)
    assert (twins.say().agreed, agreement.is_equal(), agreement.differs_at) == (2, True, None)
    assert agreement.crcs[0] == agreement.crcs[1] != 0


def test_the_first_that_differs_is_named_and_what_agrees_after_it_is_still_counted():
    twins = Twins(first=40)
    twins.both_take(4)
    twins.say()
    twins.both_take(differs=True)
    agreement = twins.say()
    assert (agreement.agreed, agreement.differs_at, agreement.is_equal()) == (4, 44, False)
    twins.both_take(3)
    assert twins.say().agreed == 7
    twins.both_take(differs=True)
    agreement = twins.say()
    assert (agreement.agreed, agreement.differs_at, agreement.missed) == (7, 44, 0)
    assert agreement.crcs == [board.crc for board in twins.boards]
    assert agreement.crcs[0] != agreement.crcs[1]


@pytest.mark.parametrize("lost_by", [0, 1])
def test_what_was_lost_is_counted_and_makes_nothing_differ(lost_by):
    twins = Twins()
    twins.both_take(2)
    twins.say()
    twins.both_take(3, lost_by=lost_by)
    twins.both_take()
    agreement = twins.say()
    assert (agreement.agreed, agreement.missed, agreement.is_equal()) == (2, 3, True)
    twins.both_take(5)
    agreement = twins.say()
    assert (agreement.agreed, agreement.missed, agreement.is_equal()) == (7, 3, True)
    assert agreement.crcs[0] == agreement.crcs[1]


def test_what_each_lost_is_added_up():
    twins = Twins()
    twins.both_take(2, lost_by=0)
    twins.both_take(1, lost_by=1)
    twins.both_take()
    assert (twins.say().missed, twins.agreement.agreed) == (3, 0)


def test_who_counted_more_than_was_offered_lost_nothing_and_is_not_compared():
    """A car that began anew, or counted another session's."""
    twins = Twins()
    twins.both_take()
    twins.say()
    twins.boards[0].count += 5
    twins.both_take(2, lost_by=1)
    twins.both_take()
    agreement = twins.say()
    assert (agreement.agreed, agreement.missed, agreement.is_equal()) == (1, 2, True)


def test_counts_that_wrap_are_counted_on():
    twins = Twins()
    for board in twins.boards:
        board.count = LAST - 1
    twins.agreement._since = None
    twins.both_take()
    twins.say()
    twins.both_take(3)
    assert (twins.say().agreed, twins.agreement.missed) == (3, 0)


@pytest.mark.parametrize(("many", "agreed"), [(4096, 4096), (4097, 0)])
def test_what_came_in_too_long_a_silence_is_not_compared(many, agreed):
    twins = Twins()
    twins.both_take(many)
    agreement = twins.say()
    assert (agreement.agreed, agreement.missed) == (agreed, 0)
    twins.both_take(2)
    assert twins.say().agreed == agreed + 2
    assert agreement.is_equal()


def test_a_crc_is_that_of_what_could_be_compared_alone():
    """What is in a stretch in which a claim was lost is not in it."""
    twins = Twins()
    compared = 0
    for is_lost in (False, True, False):
        if is_lost:
            twins.both_take(2, lost_by=1)
        else:
            for _ in range(2):
                claim, _ = twins.claim()
                compared = zlib.crc32(claim, compared)
                for board in twins.boards:
                    board.take(claim)
        twins.say()
    assert twins.agreement.crcs == [compared, compared]
