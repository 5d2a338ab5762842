"""By which plan a car drives, and which planner stops it: one that hangs, lags, ends, says NaN."""

from math import nan

import pytest

from host_bridge.inputs.paths.mppi.plan_driving import STALE_US, PlanDriving
from host_bridge.inputs.paths.mppi.planner import PERIOD_US, STEPS, MppiPlan
from tests.host_bridge.inputs.paths.mppi.made_planner import Told, request_at, steady

T_US = 1_000_000


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def driving(told):
    return PlanDriving(told)


def at(driving, after_us):
    return driving.step(request_at(T_US + after_us))


def test_it_asks_forty_times_a_second_and_drives_by_the_newest_plan(told, driving):
    for after_us in range(0, 1_000_000, 10_000):
        told.plan = steady(T_US + after_us)
        assert at(driving, after_us) == ((0.1, 1.0), "")
    assert len(told.asked) == 40


def test_before_the_first_plan_it_waits_and_not_for_long(told, driving):
    assert at(driving, 0) == (None, "")
    assert at(driving, STALE_US) == (None, "")
    found, why = at(driving, STALE_US + 10_000)
    assert found is None
    assert why == "The planner's newest plan is 160 ms old, at most 150"


def test_between_two_steps_of_a_plan_it_is_straight(told, driving):
    told.plan = MppiPlan(T_US, tuple(0.001 * i for i in range(STEPS)), (2.0,) * STEPS)
    found, _ = at(driving, 0)
    assert found == (0.0, 2.0)
    found, _ = at(driving, 60_000)  # 2.4 steps
    assert found == pytest.approx((0.0024, 2.0))


def test_a_planner_that_hangs_stops_the_car_once_its_plan_is_old(told, driving):
    told.plan = steady(T_US)
    for after_us in range(0, STALE_US + 1, 10_000):
        assert at(driving, after_us) == ((0.1, 1.0), "")
    assert "160 ms old, at most 150" in at(driving, STALE_US + 10_000)[1]


def test_a_planner_that_lags_is_driven_by_as_old_as_its_plans_are_and_no_longer(told, driving):
    """Its plans come 100 ms late: that is within the rule. At 160 ms it is not."""
    at(driving, 0)
    for after_us in range(100_000, 500_000, 10_000):
        told.plan = steady(T_US + after_us - 100_000)
        assert at(driving, after_us)[1] == ""
    told.plan = steady(T_US + 500_000 - 160_000)
    assert "160 ms old" in at(driving, 500_000)[1]


@pytest.mark.parametrize("part", ["steer_rad", "speed_mps"])
def test_what_is_no_number_stops_the_car_wherever_in_the_plan_it_is(told, driving, part):
    rows = getattr(steady(T_US), part)
    told.plan = steady(T_US)._replace(**{part: (*rows[:-1], nan)})
    assert at(driving, 0) == (None, "The planner planned something that is no number")


def test_a_planner_that_has_ended_stops_the_car_at_once(told, driving):
    told.plan, told.why = steady(T_US), "The planner has ended"
    assert at(driving, 0) == (None, "The planner has ended")


def test_after_a_pause_an_old_plan_is_none(told, driving):
    told.plan = steady(T_US)
    assert at(driving, 0)[0] is not None
    driving.begin_anew()
    assert at(driving, 50_000) == (None, "")
    told.plan = steady(T_US + 50_000)
    assert at(driving, 50_000 + PERIOD_US)[0] == (0.1, 1.0)
