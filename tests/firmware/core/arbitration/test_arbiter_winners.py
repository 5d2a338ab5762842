"""S4, S6: who commands each actuator, and who has to begin anew."""

import pytest

from tests.firmware.core.arbitration.offering import (
    ACCEPTED,
    BRAKE,
    DRIVE,
    EXPIRED,
    HELD,
    IS_FROZEN,
    LAST,
    LIGHTS,
    NO_DEADMAN,
    NO_WINNERS,
    NOBODY,
    NOT_ENGAGED,
    NOT_NEUTRAL,
    OUTRANKED,
    PAD,
    PERMITS,
    PROGRAM,
    SEAT,
    STEERING,
    UNPERMITTED,
    WINS,
    Bench,
)


@pytest.fixture
def bench():
    return Bench()


# --- the gate


def test_a_deadman_held_from_the_beginning_wins_nothing(bench):
    for _ in range(3):
        bench.say()
        assert bench.step().winners == NO_WINNERS
    assert bench.why(PAD) == NOT_ENGAGED
    assert not bench.arbiter.sources[PAD].is_engaged()


def test_one_begins_by_letting_go_and_then_from_neutral(bench):
    bench.say(deadman=0)
    assert bench.step().winners == NO_WINNERS
    assert bench.why(PAD) == NO_DEADMAN
    for speed in (1, -1):
        bench.say(speed_mm_s=speed)
        assert bench.step().winners == NO_WINNERS
        assert bench.why(PAD) == NOT_NEUTRAL
    bench.say(speed_mm_s=0)
    assert bench.step().winners[:4] == [PAD, PAD, NOBODY, NOBODY]
    bench.say(speed_mm_s=500)
    assert bench.step().winners[:4] == [PAD, PAD, NOBODY, NOBODY]
    assert bench.why(PAD) == WINS
    assert bench.arbiter.sources[PAD].is_engaged()


def test_letting_go_ends_command_at_once_and_driving_on_begins_from_neutral(bench):
    bench.engage(PAD)
    bench.say(deadman=PERMITS)  # permitting is not holding
    assert bench.step().winners == NO_WINNERS
    assert bench.why(PAD) == NO_DEADMAN
    bench.say(speed_mm_s=5)
    assert bench.step().winners == NO_WINNERS
    bench.say()
    assert bench.step().winners[1] == PAD


def test_who_fell_silent_has_to_let_go_before_it_wins_again(bench):
    bench.engage(PAD)
    bench.step(200)
    assert bench.why(PAD) == EXPIRED
    for _ in range(2):
        bench.say()
        assert bench.step().winners == NO_WINNERS
    assert bench.why(PAD) == NOT_ENGAGED
    bench.engage(PAD)
    assert bench.arbiter.winners[1] == PAD


def test_at_the_arm_whoever_commands_begins_again_from_neutral(bench):
    bench.engage(PAD)
    bench.say(LAST, mask=DRIVE)
    bench.step()
    bench.arbiter.begin_from_neutral(bench.now_us)
    bench.say(speed_mm_s=9)
    bench.say(LAST, mask=DRIVE)
    assert bench.step().winners == NO_WINNERS
    assert (bench.why(PAD), bench.why(LAST)) == (NOT_NEUTRAL, NOT_ENGAGED)
    bench.say(speed_mm_s=0)
    assert bench.step().winners[1] == PAD


def both(bench, seat_deadman, **changes):
    assert bench.say(SEAT, deadman=seat_deadman, mask=0) == ACCEPTED
    assert bench.say(PROGRAM, deadman=0, **changes) == ACCEPTED
    return bench.step()


def test_autonomy_needs_a_permission_that_was_given_anew(bench):
    assert both(bench, HELD | PERMITS).winners == NO_WINNERS
    assert bench.why(PROGRAM) == UNPERMITTED  # who was held from the beginning says nothing
    for no in (HELD, PERMITS, 0):
        assert both(bench, no).winners == NO_WINNERS
        assert bench.why(PROGRAM) == UNPERMITTED
    assert both(bench, HELD | PERMITS, speed_mm_s=50).winners[:2] == [PROGRAM] * 2
    assert bench.why(PROGRAM) == WINS
    assert both(bench, HELD).winners == NO_WINNERS  # held, for themselves
    assert bench.why(PROGRAM) == UNPERMITTED
    assert both(bench, HELD | PERMITS).winners[:2] == [PROGRAM] * 2
    bench.arbiter.begin_from_neutral(bench.now_us)
    assert both(bench, HELD | PERMITS).winners == NO_WINNERS
    assert bench.why(PROGRAM) == NOT_ENGAGED


def test_autonomy_ends_when_its_person_falls_silent(bench):
    both(bench, 0)
    assert both(bench, 3).winners[1] == PROGRAM
    bench.step(80)
    bench.say(PROGRAM, deadman=0)
    assert bench.step(50).winners == NO_WINNERS


def test_a_silent_program_is_not_engaged_by_a_permission(bench):
    both(bench, 0)
    both(bench, 3)
    bench.say(SEAT, deadman=0, mask=0)
    bench.step(200)
    bench.say(SEAT, deadman=0, mask=0)
    bench.step()
    bench.say(SEAT, deadman=3, mask=0)
    bench.step()
    bench.say(PROGRAM, deadman=0)
    bench.say(SEAT, deadman=3, mask=0)
    assert bench.step().winners == NO_WINNERS
    assert bench.why(PROGRAM) == NOT_ENGAGED


@pytest.mark.parametrize("needs", [16, NOBODY])
def test_autonomy_that_needs_nobody_known_is_never_permitted(needs):
    bench = Bench(source_needs=[needs] * 16)
    both(bench, 0)
    assert both(bench, 3).winners == NO_WINNERS


def test_the_last_source_can_be_the_one_that_permits():
    bench = Bench(source_needs=[LAST] * 16)
    for deadman in (0, 3):
        bench.say(LAST, mask=0, deadman=deadman)
        bench.say(PROGRAM, deadman=0)
        bench.step()
    assert bench.arbiter.winners[1] == PROGRAM


# --- arbitration


def test_the_best_priority_wins_each_actuator_for_itself(bench):
    bench.engage(SEAT, PAD)
    bench.say(SEAT, mask=15)
    bench.say(PAD, mask=DRIVE)
    assert bench.step().winners[:5] == [SEAT, PAD, SEAT, SEAT, NOBODY]
    assert (bench.why(SEAT), bench.lost(SEAT)) == (OUTRANKED, DRIVE)
    assert (bench.why(PAD), bench.lost(PAD)) == (WINS, 0)
    bench.say(SEAT, mask=DRIVE)
    bench.say(PAD, mask=DRIVE)
    assert bench.step().winners[:4] == [NOBODY, PAD, NOBODY, NOBODY]
    assert (bench.why(SEAT), bench.lost(SEAT)) == (OUTRANKED, DRIVE)


def test_of_equals_the_first_wins():
    bench = Bench(source_priority=[0] * 16)
    bench.engage(PAD, SEAT)
    assert bench.arbiter.winners[:4] == [PAD, PAD, NOBODY, NOBODY]


@pytest.mark.parametrize("mask", [STEERING, DRIVE, BRAKE, LIGHTS, STEERING | LIGHTS, 15])
def test_who_loses_is_named_for_each_actuator_that_it_wants(bench, mask):
    bench.say(mask=mask)
    bench.step()
    assert (bench.why(PAD), bench.lost(PAD)) == (NOT_ENGAGED, mask)
    bench.say(mask=mask, deadman=0)
    bench.step()
    assert (bench.why(PAD), bench.lost(PAD)) == (NO_DEADMAN, mask)
    bench.step(300)
    assert (bench.why(PAD), bench.lost(PAD)) == (EXPIRED, mask)


def test_who_wants_nothing_loses_nothing(bench):
    bench.say(mask=0)
    bench.step()
    bench.step(300)
    assert bench.arbiter.losers == [0] * 16


def test_who_never_came_is_not_named_as_a_loser(bench):
    bench.step()
    assert bench.arbiter.losers == [0] * 16


def test_whose_session_lost_its_slot_is_not_named_as_a_loser(bench):
    bench.engage(PAD, SEAT)
    assert bench.why(SEAT) == OUTRANKED
    bench.arbiter.forget(0)
    bench.step()
    assert not bench.arbiter.sources[SEAT].is_fresh
    assert bench.why(SEAT) == WINS


def test_who_comes_back_is_silent_no_longer(bench):
    bench.engage(PAD)
    bench.step(200)
    assert bench.arbiter.sources[PAD].fell_silent
    bench.say(PAD)
    bench.step()
    assert not bench.arbiter.sources[PAD].fell_silent


def test_who_is_in_command_is_known_by_session(bench):
    bench.engage(SEAT)
    assert bench.arbiter.is_commanded_from(0) is True
    assert bench.arbiter.is_commanded_from(1) is False
    bench.step(200)
    assert bench.arbiter.is_commanded_from(0) is False


def test_a_hand_that_lets_go_or_has_not_begun_is_in_command_of_nothing(bench):
    """Its claims are fresh all the same."""
    bench.say(SEAT, deadman=0)
    bench.step()
    assert bench.arbiter.sources[SEAT].is_fresh
    assert bench.arbiter.is_commanded_from(0) is False
    bench.engage(SEAT)
    assert bench.arbiter.is_commanded_from(0) is True
    bench.say(SEAT, deadman=0)
    bench.step()
    assert bench.arbiter.is_commanded_from(0) is False


# --- inputs that lie


def test_a_held_input_whose_count_stands_still_is_frozen_after_its_time(bench):
    bench.engage(PAD)
    began_us = bench.now_us - 10_000
    while bench.now_us < began_us + 190_000:
        bench.say(input_count=2)
        assert bench.step().frozen_source == NOBODY
    bench.say(input_count=2)
    assert bench.step().frozen_source == PAD
    assert bench.arbiter.winners == NO_WINNERS
    assert (bench.why(PAD), bench.lost(PAD)) == (IS_FROZEN, STEERING | DRIVE)
    bench.say(input_count=3)
    assert bench.step().frozen_source == NOBODY


def test_a_released_input_and_one_without_a_counter_never_freeze(bench):
    for _ in range(50):
        bench.say(PAD, deadman=0, input_count=2)
        bench.say(SEAT, input_count=2)
        assert bench.step().frozen_source == NOBODY
    bench.say(PAD, input_count=2)  # held from now on: its time begins
    for _ in range(18):
        assert bench.step().frozen_source == NOBODY
        bench.say(PAD, input_count=2)
    bench.step()
    bench.say(PAD, input_count=2)
    bench.step()
    assert bench.arbiter.frozen_source == PAD


def test_a_frozen_input_that_is_let_go_is_frozen_no_longer(bench):
    bench.engage(PAD)
    for _ in range(25):
        bench.say(input_count=2)
        bench.step()
    assert bench.arbiter.frozen_source == PAD
    bench.say(deadman=0, input_count=2)
    assert bench.step().frozen_source == NOBODY


def test_a_released_input_does_not_freeze_between_two_claims_that_are_far_apart():
    bench = Bench(source_lease_ms=[1000] * 16)
    bench.say(PAD, deadman=0, lease_ms=900)
    assert bench.step(500).frozen_source == NOBODY


def test_an_input_that_comes_back_from_silence_has_its_time_again(bench):
    bench.engage(PAD)
    bench.step(300)
    bench.say(input_count=2)
    assert bench.step().frozen_source == NOBODY


def test_a_program_that_is_outranked_lacks_no_deadman():
    bench = Bench()
    bench.engage(PAD, SEAT)
    for permits in (0, PERMITS):
        bench.say(PAD)
        bench.say(SEAT, mask=0, deadman=HELD | permits)
        bench.say(PROGRAM, deadman=0)
        bench.step()
    assert bench.why(PROGRAM) == OUTRANKED
