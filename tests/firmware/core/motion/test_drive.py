"""The speed loop: what it drives with, and what bounds it."""

import pytest

from firmware.core.motion.drive import Drive
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


@pytest.mark.parametrize("speed", [0, 5000, -5000])
@pytest.mark.parametrize("target", [5000, -5000])
def test_before_it_is_configured_it_drives_nothing(target, speed):
    drive = Drive()
    assert (drive.effort, drive.target_mm_s, drive._integral) == (0, 0, 0)
    for now_us in range(0, 2_000_000, STEP_US):
        drive.follow(target, speed, now_us, DT_MS)
        assert (drive.effort, drive.target_mm_s, drive._integral) == (0, 0, 0)


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


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("ahead", "away", "back"), [({"accel_mm_s2": 1000}, 10, 100), ({"decel_mm_s2": 1000}, 100, 10)]
)
def test_the_ramp_takes_the_acceleration_away_from_rest_and_the_deceleration_back(
    ahead, away, back, sign
):
    for less in (0, 1000):
        bench = Bench(gain_per_m_s=0, **ahead)
        bench.drive._direction = sign
        bench.follow(2000 * sign, 0)
        assert bench.drive.target_mm_s == away * sign
        bench.follow(2000 * sign, 2000 * sign, 300)
        assert bench.drive.target_mm_s == 2000 * sign
        bench.follow(less * sign, 2000 * sign)
        assert bench.drive.target_mm_s == (2000 - back) * sign


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


def test_who_stopped_drives_no_more(bench):
    assert bench.settled(1000, 0) > 0
    assert bench.settled(0, 0) == 0


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


def test_it_counts_in_thousandths(bench):
    bench.settled(1000, 1000)
    bench.drive._integral = 1_000_000
    assert bench.follow(1000, 1000) == 2500 + 1000


def test_it_begins_while_the_car_still_stands():
    bench = Bench(gain_per_m=1000)
    bench.follow(100, 0)
    assert bench.drive._integral > 0


@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_missing_while_it_brakes_is_not_remembered(sign):
    bench = Bench(gain_per_m=1000)
    bench.drive._direction = sign
    assert bench.settled(400 * sign, 2000 * sign) * sign < 0
    assert bench.drive._integral == 0


def test_the_least_braking_is_braking():
    bench = Bench(gain_per_m=1000)
    bench.settled(4, 4)
    bench.drive._integral = -17_000
    assert bench.follow(4, 1) == 0  # 10 + 6 - 17: against the direction, and hardly rolling
    assert bench.drive._integral == -17_000


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
    bench.follow(1000 * sign, 999 * sign)
    assert bench.drive._integral == 2_000_000 * sign
    bench.follow(1000 * sign, 1010 * sign)
    assert bench.drive._integral == (2_000_000 - 100) * sign


@pytest.mark.parametrize(("speed", "more", "step"), [(999, 50, 500), (1001, -50, -500)])
def test_the_greatest_gains_are_fifty_thousand_to_the_digit(speed, more, step):
    bench = Bench(gain_per_m_s=100_000)
    assert bench.settled(1000, speed) == 2500 + more
    bench = Bench(gain_per_m=100_000)
    bench.settled(1000, 1000)
    before = bench.drive._integral
    bench.follow(1000, speed)
    assert bench.drive._integral - before == step


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


@pytest.mark.parametrize("sign", [1, -1])
def test_an_error_counts_as_twenty_metres_a_second_to_the_digit(sign):
    bench = Bench(brake_effort_max=10_000, effort_max=10_000, gain_per_m_s=1000)
    bench.drive._direction = sign
    bench.settled(4000 * sign, 30_000 * sign)
    bench.drive._integral = 1_000_000 * sign
    assert bench.follow(4000 * sign, 30_000 * sign) == (10_000 + 1000 - 20_000) * sign


def test_the_least_target_is_bounded_as_any_other():
    assert Bench().settled(1, -3000) == 1502
