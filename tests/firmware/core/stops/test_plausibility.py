"""Wheels that do not do what they are told, or that say so and lie."""

import pytest

from firmware.core.stops.plausibility import Plausibility
from tests.firmware.core.desk import params_with

STEP_US = 10_000


class Bench:
    def __init__(self, **values) -> None:
        self.found = Plausibility()
        given = {
            "stuck_ms": 300, "stuck_effort": 1500, "standstill_mm_s": 30, "speed_max_mm_s": 4000,
            "reverse_max_mm_s": 1000, "too_fast_ms": 200, "runaway_mm_s": 500,
        }  # fmt: skip
        self.found.configure(params_with(**{**given, **values}))
        self.now_us = 0
        self.drive(0, 0, after_us=0)
        self.follow(0, 0, after_us=0)
        self.sides(False, after_us=0)

    def drive(self, effort, speed, is_driving=True, after_us=STEP_US) -> Plausibility:
        self.now_us += after_us
        self.found.step(effort, speed, is_driving, self.now_us)
        return self.found

    def follow(
        self, target, speed, must_obey=True, is_braked=True, after_us=STEP_US
    ) -> Plausibility:
        self.now_us += after_us
        self.found.watch_target(target, speed, must_obey, is_braked, self.now_us)
        return self.found

    def sides(self, is_one_sided, must_agree=True, after_us=STEP_US) -> Plausibility:
        self.now_us += after_us
        self.found.watch_sides(is_one_sided, must_agree, self.now_us)
        return self.found


@pytest.fixture
def bench():
    return Bench()


def test_nothing_is_wrong_at_first():
    found = Plausibility()
    flags = (found.is_stuck, found.is_too_fast, found.is_runaway, found.is_one_sided)
    assert flags == (False,) * 4


# --- driven without motion


@pytest.mark.parametrize("effort", [1500, -1500, 10_000])
@pytest.mark.parametrize("speed", [0, 30, -30])
def test_driven_hard_enough_without_motion_is_stuck_after_its_time(bench, effort, speed):
    assert not bench.drive(effort, speed, after_us=299_999).is_stuck
    assert bench.drive(effort, speed, after_us=1).is_stuck
    assert bench.drive(effort, speed).is_stuck


@pytest.mark.parametrize(
    ("effort", "speed", "is_driving"),
    [(1499, 0, True), (-1499, 0, True), (1500, 31, True), (1500, -31, True), (1500, 0, False)],
)
def test_what_moves_or_is_hardly_driven_or_not_at_all_is_not_stuck(
    bench, effort, speed, is_driving
):
    for _ in range(100):
        assert not bench.drive(effort, speed, is_driving).is_stuck


def test_a_moment_of_motion_begins_the_time_anew(bench):
    bench.drive(2000, 0, after_us=290_000)
    bench.drive(2000, 31)
    assert not bench.drive(2000, 0, after_us=299_999).is_stuck
    assert bench.drive(2000, 0, after_us=1).is_stuck
    assert not bench.drive(2000, 31).is_stuck


# --- motion that vanishes


@pytest.mark.parametrize(("speed", "vanishes"), [(301, True), (-301, True), (300, False)])
def test_motion_that_ends_sooner_than_a_car_can_roll_out_is_an_encoder_that_died(
    bench, speed, vanishes
):
    assert not bench.drive(0, speed).is_stuck
    assert bench.drive(0, 0, after_us=79_999).is_stuck is vanishes


def test_on_a_stand_free_wheels_may_stop_at_once(bench):
    bench.found.is_on_ground = False
    bench.drive(0, 1000)
    assert not bench.drive(0, 0).is_stuck
    assert bench.drive(2000, 0, after_us=300_000).is_stuck


def test_a_car_that_took_its_time_to_stand_is_not_stuck(bench):
    bench.drive(0, 301)
    assert not bench.drive(0, 0, after_us=80_000).is_stuck


@pytest.mark.parametrize(("speed", "stuck"), [(30, True), (31, False)])
def test_slow_is_not_vanished(bench, speed, stuck):
    bench.drive(0, 1000)
    assert bench.drive(0, speed).is_stuck is stuck


@pytest.mark.parametrize(("effort", "speed"), [(-1, 1000), (1, -1000)])
def test_brakes_may_stop_the_wheels_at_once(bench, effort, speed):
    bench.drive(effort, speed)
    assert not bench.drive(effort, 0).is_stuck


@pytest.mark.parametrize(("effort", "speed"), [(-500, 299), (500, -299)])
def test_a_brake_ends_what_rolled_before_it(bench, effort, speed):
    bench.drive(0, 1000)
    bench.drive(effort, speed)
    assert not bench.drive(0, 0).is_stuck


def test_the_least_brake_is_a_brake(bench):
    bench.drive(0, 1000)
    assert not bench.drive(-1, 1).is_stuck


def test_whoever_does_not_drive_may_stand_at_once(bench):
    bench.drive(0, 1000)
    assert not bench.drive(0, 0, is_driving=False).is_stuck
    bench.drive(0, 1000, is_driving=False)
    assert not bench.drive(0, 0).is_stuck


# --- faster than anybody may ask for


@pytest.mark.parametrize("sign", [1, -1])
def test_a_quarter_and_a_bit_beyond_the_top_speed_is_too_fast_after_its_time(bench, sign):
    assert not bench.drive(0, 5200 * sign, after_us=900_000).is_too_fast
    assert not bench.drive(0, 5201 * sign, after_us=199_999).is_too_fast
    assert bench.drive(0, 5201 * sign, after_us=1).is_too_fast
    assert not bench.drive(0, 5200 * sign).is_too_fast


def test_a_car_that_is_faster_backwards_is_judged_by_that_speed():
    bench = Bench(speed_max_mm_s=1000, reverse_max_mm_s=4000)
    assert not bench.drive(0, -5200, after_us=900_000).is_too_fast
    assert bench.drive(0, -5201, after_us=200_000).is_too_fast


# --- motion that nobody asked for


@pytest.mark.parametrize(
    ("target", "speed", "runs_away"),
    [(0, 501, True), (0, -501, True), (0, 500, False), (1000, 1501, True), (1000, 1500, False),
     (-1000, -1501, True), (-1000, -1500, False), (1000, -501, True), (1000, -500, False),
     (-1000, 501, True)],
)  # fmt: skip
def test_beyond_the_target_by_its_limit_and_not_slowing_down_is_a_runaway(
    bench, target, speed, runs_away
):
    assert not bench.follow(target, speed, after_us=199_999).is_runaway
    assert bench.follow(target, speed, after_us=1).is_runaway is runs_away
    assert bench.follow(target, speed, after_us=400_000).is_runaway is runs_away


def test_a_runaway_that_obeys_again_is_over(bench):
    bench.follow(0, 800, after_us=200_000)
    assert bench.found.is_runaway
    assert not bench.follow(0, 500).is_runaway


def test_whoever_need_not_obey_never_runs_away(bench):
    for _ in range(100):
        assert not bench.follow(0, 3000, must_obey=False).is_runaway
    assert not bench.follow(0, 3000, after_us=199_999).is_runaway
    assert bench.follow(0, 3000, after_us=1).is_runaway


@pytest.mark.parametrize(("per_step", "runs_away"), [(101, False), (100, True)])
def test_what_slows_by_more_than_a_bit_within_its_time_obeys(bench, per_step, runs_away):
    """A hundred mm/s in 200 ms; here each step is nearly that long."""
    bench.follow(0, 500)
    bench.follow(0, 3000, after_us=1)
    bench.found._reference_mm_s = 3000
    assert bench.follow(0, 3000 - per_step, after_us=199_999).is_runaway is runs_away


def test_slowing_down_is_measured_from_the_slowest_it_was(bench):
    bench.follow(0, 500)
    bench.found._reference_mm_s = 3000
    bench.follow(0, 2800)
    bench.follow(0, 2900, after_us=150_000)
    assert bench.follow(0, 2750, after_us=50_000).is_runaway


@pytest.mark.parametrize(("speed", "runs_away"), [(3100, False), (3101, True), (3000, False)])
def test_a_car_that_nobody_brakes_may_roll_but_not_gain_speed(bench, speed, runs_away):
    bench.follow(0, 3000, must_obey=False)
    for _ in range(30):
        bench.follow(0, speed, is_braked=False)
    assert bench.found.is_runaway is runs_away


def test_a_roll_that_gains_a_little_at_a_time_is_measured_from_its_slowest(bench):
    bench.follow(0, 3000, must_obey=False)
    bench.follow(0, 2950, is_braked=False)
    for _ in range(30):
        bench.follow(0, 3051, is_braked=False)
    assert bench.found.is_runaway


# --- a car that can only roll


@pytest.fixture
def rolling(bench):
    bench.found.only_rolls = True
    bench.follow(0, 3000, must_obey=False)
    return bench


def test_a_car_that_can_only_roll_has_a_second_to_slow_down_in(rolling):
    assert not rolling.follow(0, 2900, is_braked=False, after_us=999_999).is_runaway
    assert rolling.follow(0, 2900, is_braked=False, after_us=1).is_runaway


def test_a_car_that_can_only_roll_and_slows_by_friction_obeys(rolling):
    for speed in range(2899, 500, -101):
        assert not rolling.follow(0, speed, is_braked=False, after_us=999_999).is_runaway


def test_a_hair_more_than_a_bit_slower_begins_its_second_anew(rolling):
    assert not rolling.follow(0, 2899, is_braked=False, after_us=999_999).is_runaway
    assert not rolling.follow(0, 2899, is_braked=False, after_us=999_999).is_runaway
    assert rolling.follow(0, 2899, is_braked=False, after_us=1).is_runaway


def test_its_second_goes_on_while_it_gains_speed(rolling):
    assert not rolling.follow(0, 3000, is_braked=False, after_us=900_000).is_runaway
    assert not rolling.follow(0, 3101, is_braked=False, after_us=99_999).is_runaway
    assert rolling.follow(0, 3101, is_braked=False, after_us=1).is_runaway


def test_a_car_that_rolls_before_anything_was_seen_of_it_runs_away():
    found = Plausibility()
    found.configure(params_with(runaway_mm_s=500, too_fast_ms=200))
    found.only_rolls = True
    found.watch_target(0, 3000, True, False, 0)
    assert found.is_runaway


def test_a_car_that_can_only_roll_and_gains_speed_runs_away_as_soon_as_any_other(rolling):
    assert not rolling.follow(0, 3101, is_braked=False, after_us=199_999).is_runaway
    assert rolling.follow(0, 3101, is_braked=False, after_us=1).is_runaway


@pytest.mark.parametrize("how", [{"must_obey": False}, {"target": 2500}, {"is_braked": True}])
def test_its_second_begins_when_it_is_let_go(rolling, how):
    rolling.follow(**{"target": 0, "speed": 3000, "is_braked": False, **how})
    assert not rolling.follow(0, 3000, is_braked=False, after_us=999_999).is_runaway
    assert rolling.follow(0, 3000, is_braked=False, after_us=1).is_runaway


def test_a_car_that_has_a_brake_may_roll_for_as_long_as_nobody_brakes_it(bench):
    bench.follow(0, 3000, must_obey=False)
    for _ in range(30):
        assert not bench.follow(0, 3000, is_braked=False, after_us=900_000).is_runaway


@pytest.mark.parametrize(("target", "speed"), [(0, 501), (300, -900), (1000, 1501)])
def test_on_a_stand_a_runaway_outlasts_a_hand_s_turn(bench, target, speed):
    bench.found.is_on_ground = False
    bench.follow(0, 0)
    assert not bench.follow(target, speed, after_us=999_999).is_runaway
    assert bench.follow(target, speed, after_us=1).is_runaway


def test_hands_that_pause_on_a_stand_are_no_runaway(bench):
    bench.found.is_on_ground = False
    for _ in range(5):
        bench.follow(0, 0)
        assert not bench.follow(0, 2000, after_us=900_000).is_runaway


# --- one side


def test_one_side_that_stands_while_the_other_turns_is_dead_after_its_time(bench):
    assert not bench.sides(True, after_us=299_999).is_one_sided
    assert bench.sides(True, after_us=1).is_one_sided
    assert not bench.sides(False).is_one_sided


def test_sides_that_need_not_agree_do_not(bench):
    for _ in range(100):
        assert not bench.sides(True, must_agree=False).is_one_sided
    bench.sides(True, after_us=200_000)
    bench.sides(False)
    assert not bench.sides(True, after_us=299_999).is_one_sided
