"""How a car comes to rest: safety.md section 4."""

import pytest

from firmware.core.stopping import StopSequence
from tests.firmware.core.desk import params_with

BRAKE, NEUTRAL, CUT = 0, 1, 2
CAUSES = 10


def sequence(**values) -> StopSequence:
    stop = StopSequence()
    policies = [BRAKE, NEUTRAL, CUT, BRAKE, NEUTRAL, CUT, BRAKE, BRAKE, CUT, NEUTRAL]
    given = {"standstill_mm_s": 30, "standstill_ms": 50, "stop_timeout_ms": 3000}
    stop.configure(params_with(**{"stop_policy": policies, **given, **values}))
    return stop


def test_before_it_is_configured_it_cuts_and_has_not_ended():
    stop = StopSequence()
    assert stop.policy == CUT
    assert stop.is_over is False
    assert stop.is_standing(0)
    assert not stop.is_standing(1)


@pytest.mark.parametrize("cause", range(CAUSES))
def test_each_cause_stops_by_its_own_policy(cause):
    stop = sequence()
    stop.begin(1 << cause, 0, True)
    assert (
        stop.policy == [BRAKE, NEUTRAL, CUT, BRAKE, NEUTRAL, CUT, BRAKE, BRAKE, CUT, NEUTRAL][cause]
    )


def test_what_is_no_cause_has_no_policy():
    stop = sequence()
    stop.begin(1 << CAUSES, 0, True)
    assert stop.policy == BRAKE


def test_the_strictest_of_several_policies_wins_in_any_order():
    for causes in (0b111, 0b110, 0b101):
        stop = sequence()
        stop.begin(causes, 0, True)
        assert stop.policy == CUT
    stop.begin(0b011, 0, True)
    assert stop.policy == NEUTRAL


def test_a_stop_of_no_cause_brakes():
    stop = sequence()
    stop.begin(0, 0, True)
    assert stop.policy == BRAKE


def test_without_a_speed_to_trust_there_is_no_braking_by_it():
    """S1: with the speed in doubt the output is neutral, or stricter."""
    for causes, policy in ((0, NEUTRAL), (0b001, NEUTRAL), (0b010, NEUTRAL), (0b100, CUT)):
        stop = sequence()
        stop.begin(causes, 0, False)
        assert stop.policy == policy


def test_what_comes_while_it_stops_makes_it_stricter_and_never_milder():
    stop = sequence()
    stop.begin(0b001, 0, True)
    stop.add(0b010)
    assert stop.policy == NEUTRAL
    stop.add(0b001)
    assert stop.policy == NEUTRAL
    stop.add(0b100)
    assert stop.policy == CUT


def test_a_new_stop_begins_anew():
    stop = sequence()
    stop.begin(0b100, 0, True)
    stop.step(0, 10_000_000)
    assert stop.is_over
    stop.begin(0b001, 20_000_000, True)
    assert stop.policy == BRAKE
    assert stop.is_over is False
    stop.step(500, 20_010_000)
    assert stop.is_over is False


def test_it_ends_when_the_wheels_have_stood_for_their_time_and_no_sooner():
    stop = sequence()
    stop.begin(1, 0, True)
    stop.step(31, 100_000)
    stop.step(30, 149_999)
    assert stop.is_over is False
    stop.step(-30, 150_000)
    assert stop.is_over is True


@pytest.mark.parametrize("speed", [31, -31, 5000, -5000])
def test_wheels_that_turn_either_way_do_not_stand(speed):
    stop = sequence()
    stop.begin(1, 0, True)
    for step in range(1, 100):
        stop.step(speed, step * 10_000)
    assert stop.is_over is False
    assert stop.is_standing(speed) is False


@pytest.mark.parametrize("speed", [30, -30, 0])
def test_as_slow_as_the_encoder_can_tell_is_standing(speed):
    assert sequence().is_standing(speed) is True


def test_wheels_that_turn_once_more_have_to_stand_anew():
    stop = sequence()
    stop.begin(1, 0, True)
    for now, speed in ((10_000, 100), (40_000, 0), (59_000, 100), (70_000, 0), (108_000, 0)):
        stop.step(speed, now)
    assert stop.is_over is False
    stop.step(0, 109_000)
    assert stop.is_over is True


def test_it_ends_at_the_latest_when_its_time_is_up():
    stop = sequence()
    stop.begin(1, 0, True)
    stop.step(5000, 2_999_999)
    assert stop.is_over is False
    stop.step(5000, 3_000_000)
    assert stop.is_over is True


def test_it_stays_ended_when_the_car_is_pushed():
    stop = sequence()
    stop.begin(1, 0, True)
    stop.step(0, 50_000)
    stop.step(900, 60_000)
    assert stop.is_over is True


def test_before_any_stop_a_car_is_at_rest_by_definition():
    stop = sequence()
    stop.step(900, 10_000)
    assert stop.is_over is True
