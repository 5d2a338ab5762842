"""The operator's cap, and the gesture on the RC that stands for both steps."""

import pytest

from firmware.core import supervisor
from firmware.core.arbitration.actions import TAKEN
from tests.firmware.core.arbitration.acting import (
    ACTIVE,
    ARM,
    CAP,
    CAUSE_PRESENT,
    CHARGER,
    CHARGER_CAUSE,
    CLEAR,
    FAULT,
    FAULTY,
    GIVEN,
    GUEST,
    HOLD,
    MOVING,
    NOT_ALLOWED,
    OFF_BEAT,
    PROFILE,
    RAISED_CAP,
    RC,
    RELAY,
    STAND,
    STANDBY,
    STARTING,
    STATE,
    STOP_CAUSE,
    STOP_SOURCE,
    STOPPED,
    STOPPING,
    TRACK,
    Bench,
)
from tests.firmware.core.desk import params_with
from tests.support.evidence import some

NOT_STANDBY = [STARTING, ACTIVE, HOLD, STOPPING, STOPPED, FAULT]


@pytest.fixture
def bench():
    return Bench(may_arm=1 << RC, may_clear=1 << RC)


# --- the operator's cap


def test_before_anybody_caps_it_the_cap_is_what_the_car_can_do():
    assert Bench().actions.cap_mm_s == 3000
    assert Bench(reverse_max_mm_s=4000).actions.cap_mm_s == 4000


@pytest.mark.parametrize("state", range(7))
def test_a_cap_is_lowered_in_one_step_in_every_state_by_anybody_and_grants_nothing(bench, state):
    assert bench.ask(CAP, state, value=1200, **bench.spoil()) == 0
    assert (bench.actions.cap_mm_s, bench.reply.nonce, bench.actions.granted) == (1200, 0, TAKEN)
    assert bench.ask(CAP, state, value=0, sender=RC) == 0
    assert bench.actions.cap_mm_s == 0


@pytest.mark.parametrize("state", NOT_STANDBY)
def test_a_cap_is_not_raised_but_in_standby(bench, state):
    bench.ask(CAP, state, value=1200)
    assert bench.ask(CAP, state, value=1201) == RAISED_CAP
    assert bench.actions.cap_mm_s == 1200
    assert bench.ask(CAP, state, value=1200) == 0
    assert bench.ask(CAP, STANDBY, value=1201) == 0
    assert bench.actions.cap_mm_s == 1201


@pytest.mark.parametrize("state", range(7))
def test_a_guest_only_lowers_a_cap_in_every_state(bench, state):
    assert bench.ask(CAP, state, value=1200, sender=GUEST) == 0
    assert bench.ask(CAP, state, value=1201, sender=GUEST) == RAISED_CAP
    assert bench.actions.cap_mm_s == 1200
    assert bench.ask(CAP, state, value=1200, sender=GUEST) == 0
    assert bench.ask(CAP, STANDBY, value=1201) == 0, "whom it was lent by raises it again"


@pytest.mark.parametrize(("asked", "cap"), [(2999, 2999), (3000, 3000), (3001, 3000)])
def test_a_cap_is_never_beyond_what_the_car_can_do(bench, asked, cap):
    assert bench.ask(CAP, STANDBY, value=asked) == 0
    assert bench.actions.cap_mm_s == cap


def test_a_new_configuration_takes_the_profile_back(bench):
    bench.actions.profile = STAND
    bench.actions.configure(params_with(**GIVEN))
    assert bench.actions.profile == TRACK


@pytest.mark.parametrize(
    ("tops_mm_s", "caps"),
    [((3000, 9000), (2000, 2000)), ((1500, 9000), (1500, 2000)), ((2000, 1999), (2000, 1999))],
)
def test_an_operator_s_cap_outlives_new_configurations(bench, tops_mm_s, caps):
    bench.ask(CAP, STANDBY, value=2000)
    for top_mm_s, cap in some(zip(tops_mm_s, caps, strict=True)):
        bench.actions.configure(params_with(**{**GIVEN, "speed_max_mm_s": top_mm_s}))
        assert bench.actions.cap_mm_s == cap


def test_without_a_cap_a_faster_configuration_is_as_fast_as_it_says(bench):
    bench.actions.configure(params_with(**{**GIVEN, "speed_max_mm_s": 9000}))
    assert bench.actions.cap_mm_s == 9000


# --- the gesture


def test_a_gesture_arms_a_car_that_stands_by_in_its_own_profile(bench):
    bench.actions.profile = bench.stop_sources.profile = STAND
    assert bench.actions.gesture(STANDBY) == 0
    assert bench.actions.granted == supervisor.ARMED
    assert (bench.actions.profile, bench.stop_sources.profile) == (TRACK, TRACK)


@pytest.mark.parametrize("state", [STOPPED, FAULT])
def test_a_gesture_clears_a_car_that_stopped_and_does_not_arm_it(bench, state):
    bench.runstop.latch(1)
    bench.faults.latch(3)
    assert bench.actions.gesture(state) == 0
    assert bench.actions.granted == supervisor.CLEARED


@pytest.mark.parametrize("state", [STARTING, ACTIVE, HOLD, STOPPING])
def test_a_gesture_in_another_state_does_nothing(bench, state):
    assert bench.actions.gesture(state) == STATE
    assert bench.actions.granted == 0


def test_a_gesture_arms_no_car_that_misses_its_beat_and_clears_it(bench):
    bench.actions.is_off_beat = True
    assert bench.actions.gesture(STANDBY) == OFF_BEAT
    assert bench.actions.granted == 0
    assert bench.actions.gesture(STOPPED) == 0
    assert bench.actions.granted == supervisor.CLEARED


def test_what_a_gesture_asks_for_depends_on_the_state(bench):
    asked = [bench.actions.gesture_action(state) for state in range(7)]
    assert asked == [ARM, ARM, ARM, ARM, ARM, CLEAR, CLEAR]


def test_a_gesture_does_only_what_the_file_lets_the_rc_do():
    may_clear = Bench(may_arm=0b11111, may_clear=1 << RC)
    assert may_clear.actions.gesture(STANDBY) == NOT_ALLOWED
    assert may_clear.actions.gesture(STOPPED) == 0
    may_arm = Bench(may_arm=1 << RC, may_clear=0b11111)
    assert may_arm.actions.gesture(STOPPED) == NOT_ALLOWED
    assert may_arm.actions.gesture(STANDBY) == 0


def test_a_gesture_asks_all_that_an_act_asks_but_what_concerns_a_host(bench):
    bench.spoil()
    refusals = (
        STOP_CAUSE | CAUSE_PRESENT | FAULTY | MOVING | CHARGER | STOP_SOURCE | RELAY | OFF_BEAT
    )
    assert bench.actions.gesture(STANDBY) == refusals
    assert bench.actions.gesture(STOPPED) == CAUSE_PRESENT | FAULTY | MOVING | CHARGER
    assert bench.runstop.present == 1 << CHARGER_CAUSE
    assert bench.actions.granted == 0


def test_a_gesture_arms_no_profile_that_the_car_has_not():
    bench = Bench(may_arm=1 << RC, profile_cap_mm_s=[300, 0, 300])
    assert bench.actions.gesture(STANDBY) == PROFILE
