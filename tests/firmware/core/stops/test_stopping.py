"""How a car comes to rest, as SAFETY.md says it."""

import pytest

from firmware.core.stops.stopping import StopSequence
from tests.firmware.core.desk import params_with

BRAKE, NEUTRAL, CUT = 0, 1, 2
POLICIES = [CUT, NEUTRAL, BRAKE, CUT, NEUTRAL, BRAKE, BRAKE, CUT, BRAKE, NEUTRAL, CUT, BRAKE,
            NEUTRAL]  # fmt: skip
FAULT_POLICIES = [NEUTRAL, CUT, BRAKE, BRAKE, CUT, NEUTRAL, BRAKE, CUT, NEUTRAL, BRAKE, CUT]


def sequence(**values) -> StopSequence:
    stop = StopSequence()
    given = {
        "stop_policy": POLICIES, "fault_policy": FAULT_POLICIES, "standstill_mm_s": 30,
        "standstill_ms": 50, "stop_timeout_ms": 3000,
    }  # fmt: skip
    stop.configure(params_with(**{**given, **values}))
    return stop


def stopping(causes: int = 0, faults: int = 0, **values) -> StopSequence:
    stop = sequence(**values)
    stop.begin(0)
    stop.add(causes, faults)
    return stop


def test_before_it_is_configured_it_cuts_and_has_not_ended():
    stop = StopSequence()
    assert stop.policy == CUT
    assert stop.is_over is False
    assert stop.is_standing(0)
    assert not stop.is_standing(1)


@pytest.mark.parametrize("cause", range(13))
def test_each_cause_stops_by_its_own_policy(cause):
    assert stopping(1 << cause).policy == POLICIES[cause]


@pytest.mark.parametrize("fault", range(11))
def test_each_fault_stops_by_its_own_policy(fault):
    assert stopping(0, 1 << fault).policy == FAULT_POLICIES[fault]


@pytest.mark.parametrize("policy", [BRAKE, NEUTRAL])
def test_the_runstop_loop_cuts_whatever_the_file_says(policy):
    values = {"stop_policy": [policy] * 13, "fault_policy": [policy] * 11}
    assert stopping(0b1, **values).policy == CUT
    assert stopping(0b1111111111110, **values).policy == policy


@pytest.mark.parametrize(("milliseconds", "policy"), [(0, CUT), (1, BRAKE), (600, BRAKE)])
def test_with_an_off_delay_the_runstop_loop_is_braked(milliseconds, policy):
    assert stopping(0b1, loop_brake_ms=milliseconds).policy == policy


def test_what_is_no_cause_and_no_fault_has_no_policy():
    assert stopping(1 << 13, 1 << 11).policy == BRAKE


def test_the_strictest_of_several_policies_wins_in_any_order():
    for causes in (0b1110, 0b1010, 0b1100):
        assert stopping(causes).policy == CUT
    assert stopping(0b110).policy == NEUTRAL
    assert stopping(0b100, 0b1).policy == NEUTRAL
    assert stopping(0b10, 0b100).policy == NEUTRAL


def test_a_stop_of_no_cause_brakes():
    assert stopping().policy == BRAKE


def test_what_comes_while_it_stops_makes_it_stricter_and_never_milder():
    stop = stopping(0b100)
    assert stop.policy == BRAKE
    stop.add(0b10, 0)
    assert stop.policy == NEUTRAL
    stop.add(0b100, 0b100)
    assert stop.policy == NEUTRAL
    stop.add(0, 0b10)
    assert stop.policy == CUT


def test_a_stop_sources_own_policy_tightens_and_never_loosens():
    stop = stopping()
    seen = []
    for policy in (BRAKE, NEUTRAL, BRAKE, CUT, NEUTRAL, BRAKE):
        stop.tighten(policy)
        seen.append(stop.policy)
    assert seen == [BRAKE, NEUTRAL, NEUTRAL, CUT, CUT, CUT]


def test_a_new_stop_begins_anew():
    stop = stopping(0b1)
    stop.step(0, True, 10_000_000)
    assert stop.is_over
    stop.begin(20_000_000)
    assert stop.policy == BRAKE
    assert stop.is_over is False
    stop.step(500, True, 20_010_000)
    assert stop.is_over is False


def test_it_ends_when_the_wheels_have_stood_for_their_time_and_no_sooner():
    stop = stopping()
    stop.step(31, True, 100_000)
    stop.step(30, True, 149_999)
    assert stop.is_over is False
    stop.step(-30, True, 150_000)
    assert stop.is_over is True


def test_a_car_that_stands_when_the_stop_begins_has_to_stand_for_its_time_too():
    stop = stopping()
    stop.step(0, True, 49_999)
    assert stop.is_over is False
    stop.step(0, True, 50_000)
    assert stop.is_over is True


@pytest.mark.parametrize("speed", [31, -31, 5000, -5000])
def test_wheels_that_turn_either_way_do_not_stand(speed):
    stop = stopping()
    for step in range(1, 100):
        stop.step(speed, True, step * 10_000)
    assert stop.is_over is False
    assert stop.is_standing(speed) is False


@pytest.mark.parametrize("speed", [30, -30, 0])
def test_as_slow_as_the_encoder_can_tell_is_standing(speed):
    assert sequence().is_standing(speed) is True


def test_wheels_that_turn_once_more_have_to_stand_anew():
    stop = stopping()
    for now, speed in ((10_000, 100), (40_000, 0), (59_000, 100), (70_000, 0), (108_000, 0)):
        stop.step(speed, True, now)
    assert stop.is_over is False
    stop.step(0, True, 109_000)
    assert stop.is_over is True


def test_a_standstill_that_is_in_doubt_is_none_and_the_time_has_to_pass():
    stop = stopping()
    for now in range(10_000, 3_000_000, 10_000):
        stop.step(0, False, now)
        assert stop.is_over is False
    stop.step(0, False, 3_000_000)
    assert stop.is_over is True


def test_doubt_that_ends_leaves_a_standstill_to_be_seen_anew():
    stop = stopping()
    stop.step(0, False, 40_000)
    stop.step(0, True, 89_999)
    assert stop.is_over is False
    stop.step(0, True, 90_000)
    assert stop.is_over is True


def test_it_ends_at_the_latest_when_its_time_is_up():
    stop = stopping()
    stop.step(5000, True, 2_999_999)
    assert stop.is_over is False
    stop.step(5000, True, 3_000_000)
    assert stop.is_over is True


def test_it_stays_ended_when_the_car_is_pushed():
    stop = stopping()
    stop.step(0, True, 50_000)
    stop.step(900, True, 60_000)
    assert stop.is_over is True


def test_before_any_stop_a_car_is_at_rest_by_definition():
    stop = sequence()
    stop.step(900, True, 10_000)
    assert stop.is_over is True
