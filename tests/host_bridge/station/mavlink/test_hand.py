"""The hand at a station's sticks and the age of its packets, tick by tick."""

from __future__ import annotations

import pytest
from pymavlink.dialects.v20 import development as mavlink

from host_bridge.core import NEUTRAL_US, InputLimits
from host_bridge.station.mavlink.driving.ages import HoldAges
from host_bridge.station.mavlink.driving.hand import (
    ALIVE_US,
    CHANGE_US,
    END_CHANGE_US,
    UNPROVEN_MPS,
    DeadmanState,
    StickHand,
    Sticks,
)
from host_bridge.station.mavlink.stations import Station

LEASE_US, EVERY_US, START_US = 120_000, 40_000, 5_000_000
LIMITS = InputLimits(speed_mps=2.0, reverse_mps=1.0, steer_rad=0.4)
AFAR = Station(("192.0.2.7", 14_550), 255, 190, is_local=False, heard_us=0)
HERE = Station(("127.0.0.1", 14_550), 255, 190, is_local=True, heard_us=0)
AXES = ("x", "y", "z", "r", "buttons", "buttons2", "s", "t", "aux1", "aux6")


def sticks(**values):
    message = dict.fromkeys(("x", "y", "z", "r", "buttons"), 0) | values
    return Sticks.of(mavlink.MAVLink_manual_control_message(1, **message))


class Held:
    """A hand that holds: its sticks came to rest, and were pushed."""

    def __init__(self, deadman=None):
        self.hand = StickHand(LIMITS, LEASE_US, deadman)
        self.now_us = START_US
        self.down = 0 if deadman is None else 1 << deadman
        self.send(0.1)
        self.send(0.3, buttons=self.down)
        assert self.hand.state is DeadmanState.HELD

    def send(self, seconds, **values):
        """The same packet again and again; the command after the last."""
        for _ in range(round(seconds * 1e6 / EVERY_US)):
            self.now_us += EVERY_US
            self.hand.hear(sticks(**values), self.now_us, self.now_us)
            command = self.hand.step(self.now_us)
        return command


def test_full_forward_is_the_limit_and_full_backward_that_of_backward():
    held = Held()
    assert held.send(0.04, x=1000).speed_mps == 2.0
    assert held.send(0.04, x=-1000).speed_mps == -1.0
    assert held.send(0.04, x=500).speed_mps == 1.0
    assert held.send(0.04, x=-500, r=1000).steer_rad == -0.4


@pytest.mark.parametrize(("x", "speed_mps"), [(50, 0.0), (-50, 0.0), (51, 0.102), (-52, -0.052)])
def test_a_stick_near_its_middle_drives_nothing(x, speed_mps):
    assert Held().send(0.04, x=x).speed_mps == pytest.approx(speed_mps)


@pytest.mark.parametrize(("x", "slow_mps"), [(980, UNPROVEN_MPS), (-980, -UNPROVEN_MPS)])
def test_what_changed_for_the_last_time_0_2_s_ago_drives_slowly(x, slow_mps):
    held = Held()
    held.send(0.04, x=x)
    changed_us = held.now_us
    assert abs(held.hand.step(changed_us + ALIVE_US - 1).speed_mps) > UNPROVEN_MPS
    assert held.hand.step(changed_us + ALIVE_US).speed_mps == slow_mps


@pytest.mark.parametrize(
    ("x", "limit_us"),
    [
        (980, CHANGE_US),
        (-980, CHANGE_US),
        (994, CHANGE_US),
        (995, END_CHANGE_US),
        (1000, END_CHANGE_US),
        (-1000, END_CHANGE_US),
    ],
)
def test_what_does_not_change_is_let_go_after_1_s_and_at_a_stop_after_3_s(x, limit_us):
    held = Held()
    held.send(0.04, x=x)
    changed_us = held.now_us
    held.hand.hear(sticks(x=x), changed_us + limit_us, changed_us + limit_us)
    assert held.hand.step(changed_us + limit_us - 1).is_held
    assert not held.hand.step(changed_us + limit_us).is_held
    assert held.hand.state is DeadmanState.NEEDS_RELEASE


def test_sticks_at_rest_are_never_frozen():
    held = Held()
    assert held.send(10.0).is_held


@pytest.mark.parametrize("axis", AXES)
def test_each_axis_and_button_shows_a_hand(axis):
    held = Held()
    for count in range(100):
        command = held.send(0.04, **{"x": 1000, axis: 1000 - count % 2})
    assert command.is_held
    assert command.speed_mps > 1.9


def test_the_deadmans_button_holds_and_lets_go():
    held = Held(deadman=4)
    assert held.send(0.04, x=900, buttons=1 << 4).is_held
    assert not held.send(0.04, x=900, buttons=1 << 3).is_held
    assert held.hand.state is DeadmanState.OPEN
    held.send(0.5, x=900, buttons=1 << 4)
    assert held.hand.state is DeadmanState.NEEDS_RELEASE, "pressed with the stick off its rest"


def test_a_hold_begins_with_a_moment_of_neutral():
    held = Held()
    held.hand.let_go()
    held.send(0.04)
    assert held.hand.state is DeadmanState.OPEN
    opened_us = held.now_us
    assert held.hand.step(opened_us + NEUTRAL_US - 1).is_held is False
    held.hand.hear(sticks(), opened_us + NEUTRAL_US, opened_us + NEUTRAL_US)
    assert held.hand.step(opened_us + NEUTRAL_US).is_held
    held.hand.hear(sticks(x=900), opened_us + NEUTRAL_US, opened_us + NEUTRAL_US)
    assert held.hand.step(opened_us + 2 * NEUTRAL_US - 1).speed_mps == 0.0
    assert held.hand.step(opened_us + 2 * NEUTRAL_US).speed_mps > 0.0


def test_no_hold_begins_in_a_silence_and_none_is_ended_by_one():
    held = Held()
    assert held.hand.step(held.now_us + LEASE_US).heard_us == held.now_us
    assert held.hand.state is DeadmanState.HELD, "the silence is the car's to judge"
    held.hand.let_go()
    held.hand.step(held.now_us + LEASE_US)
    assert held.hand.state is DeadmanState.NEEDS_RELEASE


def test_a_count_advances_with_each_change_alone():
    held = Held()
    first = held.send(0.04, x=900).input_count
    assert held.send(0.2, x=900).input_count == first
    assert held.send(0.04, x=901).input_count == first + 1


def test_begin_needs_a_release_before():
    hand = StickHand(LIMITS, LEASE_US, None)
    assert not hand.begin(START_US)
    held = Held()
    held.hand.let_go()
    held.send(0.04)
    assert held.hand.begin(held.now_us)


def test_whose_age_is_not_told_drives_slowly():
    held = Held()
    held.hand.is_age_told = False
    assert held.send(0.04, x=900).speed_mps == UNPROVEN_MPS


# --- how old a packet is


def test_a_packet_is_as_old_as_the_newest_question_that_was_answered():
    ages = HoldAges()
    assert ages.age(AFAR, START_US) == (START_US, False)
    first = ages.ask(AFAR, START_US)
    second = ages.ask(AFAR, START_US + 20_000)
    assert (first, second) == (START_US * 1000, START_US * 1000 + 20_000_000)
    ages.hear_answer(AFAR, second, START_US + 30_000)
    assert ages.age(AFAR, START_US + 40_000) == (START_US + 20_000, True)
    ages.hear_answer(AFAR, first, START_US + 50_000)
    assert ages.age(AFAR, START_US + 60_000) == (START_US + 20_000, True), "an older answer"


def test_who_has_not_answered_for_a_second_does_not_tell():
    ages = HoldAges()
    asked_ns = ages.ask(AFAR, START_US)
    ages.hear_answer(AFAR, asked_ns, START_US + 1000)
    assert ages.age(AFAR, START_US + 1_000_999) == (START_US, True)
    assert ages.age(AFAR, START_US + 1_001_000) == (START_US + 1_001_000, False)


def test_answers_to_no_question_of_ours_count_for_nothing():
    ages = HoldAges()
    asked_ns = ages.ask(AFAR, START_US)
    ages.hear_answer(AFAR, asked_ns + 1, START_US)
    ages.hear_answer(HERE, asked_ns, START_US)
    assert ages.age(AFAR, START_US) == (START_US, False)
    other = Station(AFAR.address, 254, 190, is_local=False, heard_us=0)
    ages.hear_answer(AFAR, asked_ns, START_US)
    assert ages.age(AFAR, START_US)[1]
    assert not ages.age(other, START_US)[1]
    ages.ask(other, START_US + 1)
    assert not ages.age(AFAR, START_US)[1]
    ages.hear_answer(other, asked_ns, START_US)
    assert not ages.age(other, START_US)[1], "it was the other one's question"


def test_an_answer_to_a_question_of_long_ago_counts_for_nothing():
    ages = HoldAges()
    asked_ns = ages.ask(AFAR, START_US)
    for count in range(1, 33):
        ages.ask(AFAR, START_US + count * 20_000)
    ages.hear_answer(AFAR, asked_ns, START_US + 700_000)
    assert not ages.age(AFAR, START_US + 700_000)[1]


def test_the_oldest_question_that_is_kept_is_the_32nd():
    ages = HoldAges()
    asked_ns = ages.ask(AFAR, START_US)
    for count in range(1, 32):
        ages.ask(AFAR, START_US + count * 20_000)
    ages.hear_answer(AFAR, asked_ns, START_US + 650_000)
    assert ages.age(AFAR, START_US + 650_000) == (START_US, True)


def test_an_answer_to_a_newer_question_counts_though_it_was_asked_before_the_last_answer_came():
    ages = HoldAges()
    first, second = (ages.ask(AFAR, START_US + it) for it in (0, 20_000))
    ages.hear_answer(AFAR, first, START_US + 30_000)
    ages.hear_answer(AFAR, second, START_US + 50_000)
    assert ages.age(AFAR, START_US + 60_000) == (START_US + 20_000, True)


def test_an_answer_that_is_repeated_is_no_news():
    ages = HoldAges()
    asked_ns = ages.ask(AFAR, START_US)
    ages.hear_answer(AFAR, asked_ns, START_US)
    ages.hear_answer(AFAR, asked_ns, START_US + 900_000)
    assert not ages.age(AFAR, START_US + 1_000_000)[1]


def test_one_is_asked_each_20_ms_and_nobody_of_this_machine():
    ages = HoldAges()
    assert ages.is_due(AFAR, 0)
    ages.ask(AFAR, START_US)
    assert not ages.is_due(AFAR, START_US + 19_999)
    assert ages.is_due(AFAR, START_US + 20_000)
    assert not ages.is_due(HERE, START_US + 20_000)
    assert ages.age(HERE, START_US) == (START_US, True)
