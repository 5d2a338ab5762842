"""The other direction: what an ESC needs before it turns round, and what it takes for a brake."""

import pytest

from tests.firmware.core.motion.test_drive import PAUSE_US, STEP_US, Bench
from tests.support.evidence import every


@pytest.fixture
def bench():
    return Bench()


def test_the_other_direction_comes_after_a_pause_in_neutral(bench):
    assert bench.follow(500, 0, 30) > 0
    seen = [bench.follow(-500, 0) for _ in range(60)]
    first = next(i for i, effort in enumerate(seen) if effort <= 0)
    pause = [effort for effort in seen[first:] if effort == 0]
    assert len(pause) == PAUSE_US // STEP_US
    assert every(effort < 0 for effort in seen[first + len(pause) :])


def test_the_pause_is_over_to_the_microsecond(bench):
    bench.follow(500, 0, 30)
    while not bench.drive._pause.is_open:
        bench.follow(-500, 0)
    bench.now_us += PAUSE_US - 1 - STEP_US
    assert bench.follow(-500, 0) == 0
    bench.now_us += 1 - STEP_US
    assert bench.follow(-500, 0) < 0


def test_who_stood_in_neutral_goes_backwards_at_once(bench):
    assert bench.follow(-500, 0) < 0
    assert bench.drive._direction == -1


def test_the_least_effort_asks_for_the_pause(bench):
    bench.drive.effort = 1
    assert bench.follow(-500, 0) == 0


def test_who_rolls_in_neutral_has_not_braked(bench):
    assert bench.settled(400, 900) == 0
    bench.drive._ramp.reset(-400)
    assert bench.follow(-400, 0) < 0


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
    assert [bench.follow(-3000, -50) for _ in range(60)] == [0] * 60
    efforts = [bench.follow(-3000, 0) for _ in range(PAUSE_US // STEP_US)]
    assert efforts[:-1] == [0] * (PAUSE_US // STEP_US - 1)
    assert efforts[-1] < 0
    assert bench.follow(-3000, -50) < 0


def test_reverse_that_was_braked_and_turned_round_is_forgotten(bench):
    bench.drive._direction = -1
    assert bench.follow(-100, -2000) > 0
    while bench.follow(1000, 0) <= 0:
        pass
    assert bench.follow(1000, 500) > 0


def test_nor_does_it_make_anybody_wait_who_asks_for_reverse_for_one_step(bench):
    bench.drive._direction = -1
    assert bench.follow(-100, -2000) > 0
    while bench.follow(1000, 0) <= 0:
        pass
    for target, waits in ((-400, True), (400, False)):
        bench.drive._ramp.reset(target)
        assert (bench.follow(target, 0) == 0) is waits


def test_reverse_without_a_brake_was_never_left():
    bench = Bench(brake_effort_max=0)
    bench.drive._direction = -1
    assert bench.follow(-100, -2000) == 0
    assert bench.follow(-3000, -300) < 0


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
    bench.follow(1000, 800)
    assert bench.drive.target_mm_s == 100


@pytest.mark.parametrize(("speed", "direction"), [(31, 1), (30, -1), (-31, -1)])
def test_a_reverse_that_was_braked_into_forward_is_braked_again(bench, speed, direction):
    """Light wheels, or a slope: an ESC is in its forward gear then, and its reverse is a brake."""
    bench.follow(-1000, 0, 60)
    bench.follow(1000, -1000, 60)
    assert bench.drive.effort > 0
    assert bench.drive._has_left_reverse
    bench.follow(-500, speed)
    assert bench.drive._direction == direction
    assert bench.drive._has_left_reverse is (direction == -1)
    if direction == 1:
        assert bench.follow(-500, speed, 60) < 0
        zeros = sum(bench.follow(-500, 0) == 0 for _ in range(PAUSE_US // STEP_US + 5))
        assert zeros == pytest.approx(PAUSE_US // STEP_US, abs=1)
        assert bench.drive.effort < 0
