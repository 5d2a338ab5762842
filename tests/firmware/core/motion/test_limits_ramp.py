"""S8: acceleration and jerk, whatever is asked for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.core.motion.limits import Ramp, _can_end

RATES = st.integers(50, 30_000)
JERKS = st.integers(1_000, 1_000_000)
SPEEDS = st.integers(-30_000, 30_000)
STEPS_MS = st.sampled_from([1, 5, 10, 20])


class Watched:
    """A ramp whose motion is measured from outside, in thousandths, and checked at each step."""

    def __init__(self, rate_max, jerk, dt_ms) -> None:
        self.ramp = Ramp()
        self.limits = (rate_max, jerk, dt_ms)
        self.rate_max, self.change = rate_max, max(jerk * dt_ms // 1000, 1)
        self.rate = 0

    def checked_follow(self, target: int) -> int:
        before = self.ramp.value * 1000 + self.ramp._carried
        value = self.ramp.follow(target, *self.limits)
        moved = value * 1000 + self.ramp._carried - before
        rate = moved / self.limits[2]
        assert abs(rate) <= self.rate_max + 1
        assert abs(rate - self.rate) <= self.change + 1
        self.rate = rate
        return value


def steps_for(target: int, watched: Watched, extra: int = 0) -> int:
    """Twice what cruising at the full rate takes, and the time to get there and back."""
    rate_max, jerk, dt_ms = watched.limits
    seconds = 2 * (abs(target) / rate_max + 2 * rate_max / jerk) + 1
    return round(seconds * 1000 / dt_ms) + extra


@settings(deadline=None, max_examples=60, derandomize=True)
@given(RATES, JERKS, STEPS_MS, st.lists(st.tuples(SPEEDS, st.integers(1, 60)), max_size=6))
def test_acceleration_and_jerk_are_never_exceeded_whatever_is_asked(rate_max, jerk, dt_ms, asked):
    watched = Watched(rate_max, jerk, dt_ms)
    for target, steps in asked:
        for _ in range(steps):
            watched.checked_follow(target)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.integers(1_000, 30_000), st.integers(5_000, 1_000_000), SPEEDS)
def test_from_rest_it_reaches_its_target_exactly_and_never_passes_it(rate_max, jerk, target):
    watched = Watched(rate_max, jerk, 10)
    sign = 1 if target > 0 else -1
    last = 0
    for _ in range(steps_for(target, watched)):
        value = watched.checked_follow(target)
        assert last * sign <= value * sign <= target * sign
        last = value
    assert (watched.ramp.value, watched.ramp.rate) == (target, 0)


@settings(deadline=None, max_examples=30, derandomize=True)
@given(st.integers(1_000, 30_000), st.integers(5_000, 1_000_000), SPEEDS, SPEEDS)
def test_a_target_that_changes_on_the_way_is_reached_too(rate_max, jerk, first, second):
    watched = Watched(rate_max, jerk, 10)
    for _ in range(20):
        watched.checked_follow(first)
    for _ in range(steps_for(abs(first) + abs(second), watched)):
        watched.checked_follow(second)
    assert (watched.ramp.value, watched.ramp.rate) == (second, 0)


def followed(target, rate_max, jerk, dt_ms, steps) -> list[int]:
    ramp = Ramp()
    return [ramp.follow(target, rate_max, jerk, dt_ms) for _ in range(steps)]


def test_a_ramp_begins_at_rest_and_rests_where_it_is_asked_to_be():
    ramp = Ramp()
    assert (ramp.value, ramp.rate) == (0, 0)
    assert ramp.follow(0, 1000, 1000, 10) == 0
    assert ramp.rate == 0


def test_it_sets_out_and_ends_with_the_jerk_and_cruises_at_the_rate():
    """Jerk 100/s^3 of 1000 a step of 10 ms: rates 1000, 2000, 3000, then back again."""
    assert followed(120, 3000, 100_000, 10, 9) == [10, 30, 60, 90, 110, 120, 120, 120, 120]
    assert followed(-120, 3000, 100_000, 10, 7) == [-10, -30, -60, -90, -110, -120, -120]


def test_a_rate_that_is_asked_for_no_longer_comes_down_with_the_jerk():
    ramp = Ramp()
    for _ in range(5):
        ramp.follow(10_000, 5000, 100_000, 10)
    assert ramp.rate == 5000
    rates = []
    for _ in range(4):
        ramp.follow(10_000, 2500, 100_000, 10)
        rates.append(ramp.rate)
    assert rates == [4000, 3000, 2500, 2500]


def test_a_target_behind_it_turns_it_round_with_the_jerk():
    ramp = Ramp()
    for _ in range(3):
        ramp.follow(10_000, 5000, 100_000, 10)
    rates = []
    for _ in range(6):
        ramp.follow(-10_000, 5000, 100_000, 10)
        rates.append(ramp.rate)
    assert rates == [2000, 1000, 0, -1000, -2000, -3000]


@pytest.mark.parametrize(
    ("rate", "reach"), [(1, 1), (999, 999), (1000, 1000), (1001, 1002), (1500, 2000), (2700, 5100)]
)
def test_a_rate_can_end_within_the_sum_of_its_steps(rate, reach):
    """2700, 1700, 700: 5100."""
    assert _can_end(rate, 1000, reach)
    assert not _can_end(rate, 1000, reach - 1)


@pytest.mark.parametrize("sign", [1, -1])
def test_who_is_too_fast_for_a_target_that_is_near_goes_past_it_and_comes_back(sign):
    ramp = Ramp()
    for _ in range(8):
        ramp.follow(10_000 * sign, 5000, 100_000, 10)
    near = ramp.value + 5 * sign
    rates = []
    while ramp.value != near or ramp.rate:
        ramp.follow(near, 5000, 100_000, 10)
        rates.append(ramp.rate * sign)
        assert abs(rates[-1] - ([5000, *rates][-2])) <= 1000
    assert rates[:3] == [4000, 3000, 2000]
    assert min(rates) < 0


def test_one_step_of_the_jerk_is_ended_in_one():
    ramp = Ramp()
    assert [ramp.follow(target, 5000, 100_000, 10) for target in (900, 15, 15)] == [10, 15, 15]
    assert ramp.rate == 0


def test_a_jerk_that_is_less_than_it_can_count_still_sets_out():
    ramp = Ramp()
    rates = []
    for _ in range(4):
        ramp.follow(1000, 3, 1, 1)
        rates.append(ramp.rate)
    assert rates == [1, 2, 3, 3]


@pytest.mark.parametrize("target", [1, -1, 7, -7, 10, -10])
def test_what_is_within_one_steps_jerk_is_reached_at_once(target):
    assert followed(target, 3000, 100_000, 10, 2) == [target, target]


def test_the_slowest_ramp_of_the_shortest_step_moves_and_carries_what_a_division_leaves():
    """Rate 1, 2, 3 ... thousandths: 1 ms of 1 mm/s^2 is a thousandth of a mm/s."""
    values = followed(1000, 50, 1000, 1, 1000)
    assert values[0] == 0
    assert sum(range(1, 51)) + 50 * 950 == 48_775
    assert values[-1] == 48


def test_a_reset_ramp_rests_where_it_was_put_and_carries_nothing():
    ramp = Ramp()
    for _ in range(7):
        ramp.follow(1000, 333, 10_000, 1)
    ramp.reset(500)
    assert (ramp.value, ramp.rate) == (500, 0)
    assert [ramp.follow(1000, 333, 1_000_000, 1) for _ in range(4)] == [500, 500, 500, 501]
    ramp.reset(500)
    fresh = Ramp()
    later = [ramp.follow(1000, 333, 10_000, 1) - 500 for _ in range(50)]
    assert later == [fresh.follow(500, 333, 10_000, 1) for _ in range(50)]


def test_a_target_that_moves_on_finds_the_rate_that_reached_it():
    ramp = Ramp()
    assert ramp.follow(1, 1000, 10_000, 10) == 1
    assert ramp.rate == 100
    assert ramp.follow(10, 1000, 10_000, 10) == 3  # at 200: from rest it would be 2


def test_what_runs_away_from_a_near_target_is_slowed_not_hastened():
    ramp = Ramp()
    ramp.rate = -350
    rates = []
    for _ in range(4):
        ramp.follow(1, 1000, 10_000, 10)
        rates.append(ramp.rate)
    assert rates[:3] == [-250, -150, -50]
    assert rates[3] > -50
