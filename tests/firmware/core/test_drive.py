"""The speed loop: what it drives with, what bounds it, and the other direction."""

import pytest

from firmware.core.drive import Drive
from tests.firmware.core.desk import params_with

STEP_US, DT_MS = 10_000, 10
PAUSE_US = 300_000
GIVEN = {
    "full_effort_mm_s": 4000, "gain_per_m_s": 2000, "gain_per_m": 0, "correction_max": 1500,
    "effort_max": 9000, "brake_effort_max": 5000, "brake_full_mm_s": 30_000,
    "accel_mm_s2": 30_000, "decel_mm_s2": 30_000, "jerk_mm_s3": 1_000_000,
    "brake_decel_mm_s2": 10_000, "brake_jerk_mm_s3": 1_000_000, "standstill_mm_s": 30,
    "reverse_pause_ms": 300, "encoder_signed": 1,
}  # fmt: skip


TURNS_AT_ONCE = {"reverse_pause_ms": 0}  # as no ESC does: what a loop gives in reverse, alone


class Bench:
    def __init__(self, **values) -> None:
        self.drive = Drive()
        self.drive.configure(params_with(**{**GIVEN, **values}))
        self.now_us = 0

    def follow(self, target: int, speed: int, steps=1) -> int:
        for _ in range(steps):
            self.now_us += STEP_US
            self.drive.follow(target, speed, self.now_us, DT_MS)
        return self.drive.effort

    def settled(self, target: int, speed: int) -> int:
        """Once the ramp is there."""
        return self.follow(target, speed, 60)


@pytest.fixture
def bench():
    return Bench()


# --- the loop


def test_before_it_is_configured_it_drives_nothing():
    drive = Drive()
    assert (drive.effort, drive.target_mm_s) == (0, 0)
    for now_us in range(0, 100_000, STEP_US):
        drive.follow(5000, 0, now_us, DT_MS)
        assert drive.effort == 0


@pytest.mark.parametrize(
    ("target", "speed", "effort"),
    [(1000, 1000, 2500), (1000, 900, 2700), (1000, 1100, 2300), (-1000, -1000, -2500),
     (-1000, -900, -2700), (-1000, -1100, -2300), (4000, 4000, 9000), (400, 400, 1000)],
)  # fmt: skip
def test_effort_is_that_of_the_speed_and_something_for_what_is_missing(target, speed, effort):
    """10000 at 4000 mm/s; 2000 for each 1000 mm/s that is missing."""
    bench = Bench(**TURNS_AT_ONCE)
    if target < 0:
        bench.drive._direction = -1
    assert bench.settled(target, speed) == effort
    assert bench.drive.target_mm_s == target


def test_what_drives_on_is_bounded_by_the_correction_however_slow_the_wheels_say_they_are():
    for target, sign in ((2000, 1), (-2000, -1)):
        bench = Bench(**TURNS_AT_ONCE)
        bench.drive._direction = sign
        assert bench.settled(target, 1249 * sign) == 6500 * sign
        assert bench.settled(target, 1250 * sign) == 6500 * sign
        assert bench.settled(target, 1251 * sign) == 6498 * sign
        assert bench.settled(target, -3000 * sign) == 6500 * sign


def test_effort_is_bounded_by_what_the_car_may_give():
    for sign in (1, -1):
        bench = Bench(correction_max=10_000)
        bench.drive._direction = sign
        assert bench.settled(3900 * sign, 0) == 9000 * sign


def test_a_target_beyond_full_effort_is_full_effort():
    bench = Bench(effort_max=10_000, correction_max=10_000)
    assert bench.settled(8000, 8000) == 10_000


@pytest.mark.parametrize(("is_signed", "effort"), [(1, -5000), (0, 0)])
def test_slowing_down_brakes_only_where_the_direction_is_measured(is_signed, effort):
    """The loop wants -16500 at 10 m/s, of which the brake takes its part."""
    bench = Bench(encoder_signed=is_signed)
    assert bench.settled(1000, 10_000) == effort


def test_backwards_what_brakes_is_not_bounded_by_the_correction():
    bench = Bench()
    bench.drive._direction = -1
    assert bench.settled(-1000, -4000) == 3500
    assert bench.settled(0, -4000) == 5000


@pytest.mark.parametrize(
    ("ahead", "behind"), [({"accel_mm_s2": 1000}, 10), ({"decel_mm_s2": 1000}, 100)]
)
def test_the_ramp_takes_the_acceleration_away_from_rest_and_the_deceleration_back(ahead, behind):
    bench = Bench(**ahead)
    bench.follow(2000, 0)
    assert bench.drive.target_mm_s == behind
    bench.settled(2000, 2000)
    bench.follow(2000, 2000, 200)
    before = bench.drive.target_mm_s
    assert before == 2000
    bench.follow(0, 2000)
    assert before - bench.drive.target_mm_s == (100 if behind == 10 else 10)


def test_a_target_in_the_other_direction_is_reached_by_slowing_down_first():
    bench = Bench(accel_mm_s2=1000)
    bench.follow(500, 500, 80)
    bench.follow(-2000, 500)
    assert bench.drive.target_mm_s == 400
    bench.follow(-2000, 0, 2)
    assert bench.drive.target_mm_s < 300


@pytest.mark.parametrize("speed", [30, -30, 0])
def test_at_rest_is_at_rest(bench, speed):
    bench.drive._integral = 900_000
    assert bench.follow(0, speed) == 0
    assert bench.drive._integral == 0


@pytest.mark.parametrize(("speed", "effort"), [(31, -62), (-31, 62)])
def test_what_still_rolls_is_slowed_down(bench, speed, effort):
    assert bench.follow(0, speed) == effort


# --- the integral


def test_what_stays_missing_adds_up():
    bench = Bench(gain_per_m=1000)
    first = bench.settled(1000, 1000)
    bench.follow(1000, 900, 100)
    # 100 mm/s missing for a second of 1000 for each metre: 100
    assert bench.drive.effort == pytest.approx(first + 200 + 100, abs=2)
    bench.follow(1000, 1100, 100)
    assert bench.drive.effort == pytest.approx(first - 200, abs=4)


@pytest.mark.parametrize("sign", [1, -1])
def test_it_is_never_more_than_half_of_the_effort(sign):
    bench = Bench(gain_per_m=50_000, correction_max=10_000, effort_max=10_000, **TURNS_AT_ONCE)
    bench.drive._direction = sign
    bench.settled(1000 * sign, 1000 * sign)
    bench.follow(1000 * sign, 990 * sign, 2000)
    assert bench.drive._integral == 5_000_000 * sign


@pytest.mark.parametrize("sign", [1, -1])
def test_at_the_limit_it_does_not_wind_up_but_unwinds(sign):
    bench = Bench(gain_per_m=1000, **TURNS_AT_ONCE)
    bench.drive._direction = sign
    bench.settled(1000 * sign, 1000 * sign)
    bench.drive._integral = 2_000_000 * sign
    bench.follow(1000 * sign, 990 * sign, 50)
    assert bench.drive._integral == 2_000_000 * sign
    bench.follow(1000 * sign, 1010 * sign)
    assert bench.drive._integral == (2_000_000 - 100) * sign


@pytest.mark.parametrize("name", ["gain_per_m_s", "gain_per_m"])
def test_no_gain_is_beyond_what_thirty_bits_hold(name):
    big, bigger = Bench(**{name: 50_000}), Bench(**{name: 100_000})
    for bench in (big, bigger):
        bench.drive._direction = 1
    assert big.follow(1000, 950, 50) == bigger.follow(1000, 950, 50)


def test_an_error_beyond_twenty_metres_a_second_counts_as_twenty():
    bench = Bench(brake_effort_max=10_000, effort_max=10_000, gain_per_m_s=400)
    assert bench.follow(30_000, 30_000, 200) == 10_000
    assert bench.follow(0, 30_000, 200) == -8000
    other = Bench(brake_effort_max=10_000, effort_max=10_000, gain_per_m_s=400)
    assert other.follow(0, 20_001, 3) == -8000
    assert other.follow(0, 19_999, 1) == -8000  # rounded down
    assert other.follow(0, 19_990, 1) == -7996


# --- the other direction


def test_the_other_direction_comes_after_a_pause_in_neutral(bench):
    assert bench.follow(500, 0, 30) > 0
    seen = [bench.follow(-500, 0) for _ in range(60)]
    first = next(i for i, effort in enumerate(seen) if effort <= 0)
    pause = [effort for effort in seen[first:] if effort == 0]
    assert len(pause) == PAUSE_US // STEP_US
    assert all(effort < 0 for effort in seen[first + len(pause) :])


def test_who_stood_in_neutral_goes_backwards_at_once(bench):
    assert bench.follow(-500, 0) < 0
    assert bench.drive._direction == -1


def test_a_pause_counts_from_the_last_braking(bench):
    bench.follow(1000, 1000, 60)
    bench.follow(-1000, 600, 30)
    assert bench.drive.effort < 0
    seen = [bench.follow(-1000, 30) for _ in range(40)]
    zeros = [i for i, effort in enumerate(seen) if effort == 0]
    assert zeros == list(range(PAUSE_US // STEP_US - 1))
    assert seen[-1] < 0


@pytest.mark.parametrize(("speed", "effort"), [(31, -5000), (30, 0)])
def test_against_motion_it_brakes_and_at_rest_it_waits(speed, effort):
    bench = Bench(gain_per_m_s=50_000, correction_max=10_000)
    bench.drive.effort = 100
    bench.drive._ramp.reset(-2000)
    assert bench.follow(-2000, speed) == effort


def test_reverse_that_was_braked_waits_at_standstill_before_it_goes_on(bench):
    """An ESC brakes out of reverse in its forward gear."""
    bench.drive._direction = -1
    assert bench.follow(-100, -2000) > 0
    assert bench.follow(-3000, -300, 60) >= 0  # while it rolls: brakes or nothing
    efforts = [bench.follow(-3000, 0) for _ in range(PAUSE_US // STEP_US + 3)]
    assert efforts[: PAUSE_US // STEP_US - 1] == [0] * (PAUSE_US // STEP_US - 1)
    assert efforts[-1] < 0


def test_a_pause_that_was_set_before_a_long_rest_is_over(bench):
    """Times come round every 17.9 minutes: one that nobody looked at would be yet to come."""
    assert bench.follow(-2000, 900) < 0
    for _ in range(70):
        bench.now_us = (bench.now_us + 10_000_000) % (1 << 30)
        bench.drive.neutral(bench.now_us)
    assert bench.follow(-2000, 0, 2) < 0


def test_neutral_is_nothing_at_once_and_drives_on_from_nothing(bench):
    bench.follow(1000, 800, 60)
    bench.drive._integral = 5
    bench.drive.neutral(800)
    assert (bench.drive.effort, bench.drive.target_mm_s, bench.drive._integral) == (0, 0, 0)
    assert bench.drive._ramp.rate == 0
