"""Stop causes and faults: S3, what came is kept until it is gone and cleared."""

import pytest

from firmware.core.stops.latch import Latch
from firmware.protocol.ranges import AGE_MS

NONE = 255
PERIOD_US = 1 << 30


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


# --- since when


def aged(latch: Latch, from_us: int, span_us: int, every_us: int = 10_000) -> int:
    """Let time pass in steps; its age in ms then."""
    for at_us in range(from_us, from_us + span_us + 1, every_us):
        latch.step(at_us % PERIOD_US)
    return latch.age_ms


def test_what_is_not_latched_has_no_age():
    latch = Latch()
    assert aged(latch, 0, 5_000_000) == 0
    latch.latch(1)
    assert latch.age_ms == 0


@pytest.mark.parametrize("from_us", [0, 123_456, PERIOD_US - 700_000, PERIOD_US // 2 - 700_000])
@pytest.mark.parametrize("every_us", [10_000, 9_999, 1_000, 333])
def test_its_age_is_that_of_the_first_to_the_millisecond(from_us, every_us):
    latch = Latch()
    latch.step(from_us)
    latch.latch(4)
    aged(latch, from_us, 600 * every_us, every_us)
    latch.latch(2)
    assert aged(latch, from_us + 600 * every_us, 900 * every_us, every_us) == 15 * every_us // 10


def test_what_is_latched_before_the_first_step_is_as_old_as_the_clock():
    latch = Latch()
    latch.latch(1)
    assert aged(latch, 0, 999, 333) == 0
    assert aged(latch, 999, 1, 1) == 1


def test_an_age_outlives_the_clock_s_period():
    latch = Latch()
    latch.step(77)
    latch.latch(0)
    assert aged(latch, 77, 3 * PERIOD_US, 1_000_000) == 3 * PERIOD_US // 1_000_000 * 1000


def test_an_age_stays_at_its_longest_and_a_small_int():
    latch = Latch()
    latch.latch(0)
    latch.age_ms = AGE_MS - 5
    assert aged(latch, 0, 4_000, 1_000) == AGE_MS - 1
    assert aged(latch, 4_000, 2_000, 1_000) == AGE_MS
    assert aged(latch, 6_000, 100_000_000, 50_000_000) == AGE_MS
    assert AGE_MS + (1 << 29) // 1000 < 1 << 30


def test_time_that_seems_to_go_back_makes_nothing_younger():
    """A program that was suspended for longer than half of the clock's period."""
    latch = Latch()
    latch.step(1_000_000)
    latch.latch(0)
    assert aged(latch, 1_000_000, 2_000_000) == 2000
    latch.step(2_000_000)
    assert latch.age_ms == 2000


def test_a_clear_begins_anew():
    latch = Latch()
    latch.latch(0)
    aged(latch, 0, 1_000_000)
    latch.clear()
    assert latch.age_ms == 0
    assert aged(latch, 1_000_000, 1_000_000) == 0
    latch.set(1, True)
    assert aged(latch, 2_000_000, 500_000) == 500
    latch.clear()
    assert (latch.first, latch.age_ms) == (1, 0)
