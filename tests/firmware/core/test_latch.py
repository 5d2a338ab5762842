"""Stop causes and faults: S3, what came is kept until it is gone and cleared."""

import pytest

from firmware.core.latch import Latch

NONE = 255


def seen(latch: Latch) -> tuple[int, int, int, int]:
    return latch.bits, latch.present, latch.first, latch.news


def test_nothing_is_latched_at_first():
    assert seen(Latch()) == (0, 0, NONE, 0)


def test_a_condition_that_does_not_hold_latches_nothing():
    latch = Latch()
    latch.set(3, False)
    assert seen(latch) == (0, 0, NONE, 0)


def test_a_condition_that_is_over_stays_latched():
    latch = Latch()
    latch.set(3, True)
    assert seen(latch) == (0b1000, 0b1000, 3, 0b1000)
    latch.set(3, False)
    assert seen(latch) == (0b1000, 0, 3, 0b1000)


def test_one_condition_that_ends_leaves_the_others_present():
    latch = Latch()
    for bit in (0, 2, 5):
        latch.set(bit, True)
    latch.set(2, False)
    latch.set(1, False)
    assert seen(latch) == (0b100101, 0b100001, 0, 0b100101)


def test_a_moment_is_latched_and_is_not_present():
    latch = Latch()
    latch.latch(4)
    assert seen(latch) == (0b10000, 0, 4, 0b10000)


def test_the_first_stays_the_first_whatever_follows():
    latch = Latch()
    for bit in (2, 0, 7):
        latch.latch(bit)
    assert seen(latch) == (0b10000101, 0, 2, 0b10000101)


def test_what_is_latched_already_is_no_news():
    latch = Latch()
    latch.latch(2)
    latch.news = 0
    latch.latch(2)
    latch.set(2, True)
    assert latch.news == 0
    latch.latch(3)
    assert latch.news == 0b1000


def test_a_clear_takes_all_that_is_gone():
    latch = Latch()
    latch.latch(0)
    latch.set(3, True)
    latch.set(3, False)
    latch.clear()
    assert (latch.bits, latch.present, latch.first) == (0, 0, NONE)


def test_a_clear_leaves_all_that_is_present_the_lowest_first_and_says_so_anew():
    latch = Latch()
    latch.latch(3)
    for bit in (6, 5, 4, 0):
        latch.set(bit, True)
    latch.news = 0
    latch.clear()
    assert seen(latch) == (0b1110001, 0b1110001, 0, 0b1110001)


@pytest.mark.parametrize("bits", [0b1, 0b10, 0b1000, 0b1000000000000, 0b1011, 0b1110])
def test_several_conditions_at_once_are_as_each_for_itself(bits):
    at_once, each = Latch(), Latch()
    for latch in (at_once, each):
        latch.set(2, True)
    at_once.hold(bits, 0b1111111111011)
    for bit in range(13):
        if bit != 2:
            each.set(bit, bool(bits >> bit & 1))
    assert seen(at_once) == seen(each)


def test_of_several_that_come_at_once_the_lowest_is_the_first():
    latch = Latch()
    latch.hold(0b101000, 0b111111)
    assert seen(latch) == (0b101000, 0b101000, 3, 0b101000)


def test_what_holds_no_longer_stays_latched_and_is_no_news_when_it_comes_again():
    latch = Latch()
    latch.hold(0b11, 0b111)
    latch.news = 0
    latch.hold(0b10, 0b111)
    assert seen(latch) == (0b11, 0b10, 0, 0)
    latch.hold(0b11, 0b111)
    assert seen(latch) == (0b11, 0b11, 0, 0)
    latch.hold(0b111, 0b111)
    assert seen(latch) == (0b111, 0b111, 0, 0b100)


def test_what_is_not_among_them_stays_as_it_is():
    latch = Latch()
    latch.set(5, True)
    latch.hold(0, 0b11111)
    assert (latch.present, latch.bits) == (0b100000, 0b100000)
    latch.hold(0, 0b111111)
    assert (latch.present, latch.bits) == (0, 0b100000)
