"""S1: braking opposes what is measured, or it is neutral."""

import pytest

from firmware.core.motion.drive import Drive
from tests.firmware.core.desk import params_with
from tests.firmware.core.motion.test_drive import DT_MS, GIVEN, STEP_US


class Bench:
    def __init__(self, **values) -> None:
        self.drive = Drive()
        self.drive.configure(params_with(**{**GIVEN, **values}))
        self.now_us = 0

    def brake(self, speed: int, is_trusted=True, steps=1) -> int:
        for _ in range(steps):
            self.now_us += STEP_US
            self.drive.brake(speed, is_trusted, self.now_us, DT_MS)
        return self.drive.effort


@pytest.fixture
def bench():
    return Bench()


def is_neutral(drive: Drive) -> bool:
    return (drive.effort, drive.target_mm_s, drive._integral) == (0, 0, 0)


@pytest.mark.parametrize("speed", [5000, -5000])
def test_before_it_is_configured_it_brakes_nothing(speed):
    drive = Drive()
    drive.brake(speed, True, 0, DT_MS)
    assert is_neutral(drive)


@pytest.mark.parametrize("speed", [31, 500, 5000, 20_000])
def test_it_opposes_the_motion_that_is_measured(speed):
    assert Bench().brake(speed) < 0
    assert Bench().brake(-speed) > 0


@pytest.mark.parametrize("speed", [30, -30, 0])
def test_at_rest_there_is_nothing_to_oppose(bench, speed):
    bench.brake(800)
    bench.drive._integral = 7
    bench.brake(speed)
    assert is_neutral(bench.drive)


@pytest.mark.parametrize("speed", [800, -800])
@pytest.mark.parametrize(("is_signed", "is_trusted"), [(0, True), (1, False), (0, False)])
def test_a_speed_in_doubt_or_without_direction_is_neutral(speed, is_signed, is_trusted):
    bench = Bench(encoder_signed=is_signed)
    bench.drive.effort = 500
    bench.brake(speed, is_trusted)
    assert is_neutral(bench.drive)


@pytest.mark.parametrize("speed", [3000, -3000])
def test_never_by_more_than_the_brake_may(speed):
    bench = Bench(gain_per_m_s=50_000)
    for step in range(100):
        assert abs(bench.brake(speed)) <= 5000
        assert bench.drive.effort * speed <= 0, step


def test_it_begins_with_the_brake_of_its_own_ramp():
    """The rate grows by 1000 mm/s^2 a step, of 10000: a tenth of the brake each."""
    bench = Bench(brake_jerk_mm_s3=100_000, gain_per_m_s=0)
    assert [bench.brake(3000) for _ in range(12)] == [
        -500, -1000, -1500, -2000, -2500, -3000, -3500, -4000, -4500, -5000, -5000, -5000,
    ]  # fmt: skip


def test_what_the_wheels_lag_behind_the_ramp_is_added():
    bench = Bench(brake_jerk_mm_s3=100_000)
    assert bench.brake(3000) == -500 - 20  # 10 mm/s behind at 2000 for each 1000
    assert bench.brake(2970) == -1000
    assert bench.brake(2980) == -1500 - 80


def test_who_is_slower_than_the_ramp_is_braked_less_and_never_driven():
    bench = Bench(brake_jerk_mm_s3=100_000)
    bench.brake(3000)
    assert bench.brake(2600) == -1000 + 740
    other = Bench(brake_jerk_mm_s3=100_000)
    other.brake(-3000)
    assert other.brake(-2600) == 1000 - 740
    eager = Bench(brake_jerk_mm_s3=100_000, gain_per_m_s=50_000)
    eager.brake(3000)
    assert eager.brake(2600) == 0


@pytest.mark.parametrize(
    ("speed", "most"), [(2000, 5000), (2001, 4997), (4000, 2500), (-4000, -2500)]
)
def test_above_the_speed_at_which_it_would_lock_the_brake_is_eased(speed, most):
    bench = Bench(brake_full_mm_s=2000, gain_per_m_s=0)
    assert bench.brake(speed, steps=3) == -most


def test_the_ramp_begins_at_what_the_wheels_do(bench):
    bench.drive.follow(3000, 0, 0, DT_MS)
    assert bench.drive.target_mm_s == 100
    bench.drive._ramp.reset(3000)
    bench.drive._integral = 9
    bench.brake(2499)
    assert (bench.drive.target_mm_s, bench.drive._integral) == (2399, 0)
    bench.drive._ramp.reset(-3000)
    bench.brake(-2499)
    assert bench.drive.target_mm_s == -2399


@pytest.mark.parametrize("speed", [100, -100])
def test_the_ramp_ends_at_rest(bench, speed):
    bench.brake(speed)
    assert bench.drive.target_mm_s == 0


def test_a_ramp_that_leads_the_wheels_by_no_more_than_a_bit_goes_on(bench):
    bench.drive._ramp.reset(3000)
    bench.brake(2500)
    assert bench.drive.target_mm_s == 2900


def test_a_ramp_of_the_other_direction_begins_anew(bench):
    bench.drive._ramp.reset(-100)
    bench.brake(800)
    assert bench.drive.target_mm_s == 700
    bench.drive._ramp.reset(100)
    bench.brake(-800)
    assert bench.drive.target_mm_s == -700


def test_an_error_beyond_twenty_metres_a_second_counts_as_twenty():
    for speed in (20_300, 30_000):
        bench = Bench(brake_effort_max=10_000, gain_per_m_s=200, brake_decel_mm_s2=20_000)
        bench.drive._ramp.reset(101)
        assert bench.brake(speed) == -4000 - 5000
