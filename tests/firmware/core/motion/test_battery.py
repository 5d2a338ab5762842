"""The battery in stages, its collapse, and heat."""

import pytest

from firmware.core.motion.battery import Battery
from firmware.core.motion.temperature import Temperature
from tests.firmware.core.desk import params_with

GOOD, LOW, EMPTY = 0, 1, 2
SECOND_US = 1_000_000


def battery(**values) -> Battery:
    made = Battery()
    given = {"battery_low_mv": 10_500, "battery_empty_mv": 9_600, "brown_out_mv": 8_400}
    made.configure(params_with(**{**given, **values}))
    made.step(12_000, 0)
    return made


@pytest.mark.parametrize(
    ("millivolts", "stage"),
    [(10_500, GOOD), (10_499, LOW), (9_600, LOW), (9_599, EMPTY), (0, EMPTY), (60_000, GOOD)],
)
def test_each_stage_begins_below_its_voltage(millivolts, stage):
    made = battery()
    for now_us in (1, SECOND_US, 2 * SECOND_US):
        made.step(millivolts, now_us)
    assert (made.stage, made.millivolts) == (stage, millivolts)


def test_a_stage_is_taken_after_a_second_and_no_sooner():
    made = battery()
    made.step(10_000, SECOND_US - 1)
    assert made.stage == GOOD
    made.step(10_000, SECOND_US)
    assert made.stage == LOW


def test_a_sag_of_a_moment_begins_its_second_anew():
    made = battery()
    for now_us, millivolts in ((500_000, 9_000), (900_000, 12_000), (1_899_999, 9_000)):
        made.step(millivolts, now_us)
    assert made.stage == GOOD
    made.step(9_000, 1_900_000)
    assert made.stage == EMPTY


def test_a_stage_is_left_as_slowly_as_it_is_taken():
    made = battery()
    made.step(9_000, SECOND_US)
    assert made.stage == EMPTY
    made.step(9_000, 1_100_000)
    made.step(12_000, 2_099_999)
    assert made.stage == EMPTY
    made.step(12_000, 2_100_000)
    assert made.stage == GOOD


def test_a_battery_that_nobody_described_is_good():
    made = Battery()
    assert (made.stage, made.millivolts, made.is_browned_out) == (GOOD, 0, False)
    for now_us in range(0, 3 * SECOND_US, 100_000):
        made.step(0, now_us)
    assert (made.stage, made.is_browned_out) == (GOOD, False)


@pytest.mark.parametrize(("millivolts", "collapses"), [(8_400, False), (8_399, True), (0, True)])
def test_a_collapse_that_lasts_two_steps_is_a_brown_out(millivolts, collapses):
    made = battery()
    made.step(millivolts, 10_000)
    assert made.is_browned_out is False
    for now_us in (20_000, 30_000, 40_000):
        made.step(millivolts, now_us)
        assert made.is_browned_out is collapses
    made.step(8_400, 50_000)
    assert made.is_browned_out is False


def test_one_that_begins_low_has_collapsed_on_its_second_step():
    made = Battery()
    made.configure(params_with(brown_out_mv=8_400))
    collapsed = []
    for now_us in (0, 10_000):
        made.step(8_000, now_us)
        collapsed.append(made.is_browned_out)
    assert collapsed == [False, True]


def test_single_low_readings_are_no_brown_out():
    made = battery()
    for i in range(20):
        made.step(8_000 if i % 2 else 12_000, i * 10_000)
        assert made.is_browned_out is False


def heat(*degrees: int, most_c: int = 80) -> list[bool]:
    made = Temperature()
    made.configure(params_with(temperature_max_c=most_c))
    seen = []
    for degrees_c in degrees:
        made.step(degrees_c)
        seen.append(made.is_over)
    return seen


def test_too_hot_begins_at_the_limit_and_ends_five_degrees_below_it():
    assert heat(79, 80, 79, 75, 74, 79) == [False, True, True, True, False, False]
    assert heat(81, 76, 75, -300) == [True, True, True, False]


def test_where_there_is_no_sensor_it_is_never_too_hot_and_says_nothing():
    assert heat(0, 150, 300, most_c=0) == [False] * 3
    made = Temperature()
    made.step(150)
    assert (made.degrees_c, made.is_over) == (0, False)


def test_a_sensor_is_reported_and_one_degree_is_a_limit_like_any_other():
    made = Temperature()
    made.configure(params_with(temperature_max_c=1))
    made.step(-7)
    assert (made.degrees_c, made.is_over) == (-7, False)
    made.step(1)
    assert made.is_over is True
