"""S4: arming, clearing, disarming; every reason against it named at once, and two steps."""

import pytest

from firmware.core import supervisor
from firmware.core.arbitration.actions import TAKEN, Actions
from firmware.core.stops.latch import Latch
from firmware.core.stops.runstop import StopSources
from firmware.protocol.messages import Act, ActReply
from tests.firmware.core.arbitration.acting import (
    ACTIVE,
    ARM,
    BOX,
    BUSY,
    CAP,
    CAUSE_PRESENT,
    CHARGER,
    CHARGER_CAUSE,
    CLEAR,
    CLOCK_UNSURE,
    COMMAND,
    CONFIGURATION,
    DISARM,
    FAULT,
    FAULTY,
    GUEST,
    HOLD,
    MOVING,
    NO_HASH,
    NONCE,
    NOT_ALLOWED,
    OFF_BEAT,
    OTHERS,
    OWNER,
    PROFILE,
    RACE,
    RC,
    RELAY,
    SEAT,
    STAND,
    STANDBY,
    STATE,
    STOP_CAUSE,
    STOP_SOURCE,
    STOPPED,
    TRACK,
    UNKNOWN_ACTION,
    UNKNOWN_EPOCH,
    US,
    Bench,
    Dice,
)
from tests.firmware.core.desk import sure_sessions


@pytest.fixture
def bench():
    return Bench()


def test_nothing_is_granted_at_first_and_an_unconfigured_car_allows_nobody_anything():
    sessions = sure_sessions(US, bound_us=1)
    actions = Actions(Dice(5), sessions, Latch(), Latch(), StopSources(sessions))
    assert (actions.granted, actions.cap_mm_s, actions.profile) == (0, 0, 0)
    assert (actions.is_contact_sure, actions.is_standing) == (False, False)
    assert actions.is_off_beat is False
    act, reply = Act(), ActReply()
    act.epoch, act.action = US, CLEAR
    assert actions.receive(act, reply, STANDBY, 0) == MOVING | NOT_ALLOWED
    act.action, act.value = ARM, 3
    refusals = actions.receive(act, reply, STANDBY, 0)
    assert refusals == MOVING | NOT_ALLOWED | CLOCK_UNSURE | RELAY | PROFILE
    act.action = CLEAR
    act.config_hash[:] = b"\1\0\0\0"
    assert actions.receive(act, reply, STANDBY, 0) == MOVING | NOT_ALLOWED | CONFIGURATION


MAY = {ARM: {STANDBY}, CLEAR: {STANDBY, STOPPED, FAULT}, DISARM: {HOLD}, CAP: set(range(7))}


@pytest.mark.parametrize("action", MAY)
@pytest.mark.parametrize("state", range(7))
def test_each_action_is_for_its_states_only(bench, action, state):
    assert bench.ask(action, state) == (0 if state in MAY[action] else STATE)


@pytest.mark.parametrize("action", [0, 5, 255])
def test_what_is_no_action_is_refused(bench, action):
    assert bench.ask(action, STANDBY) == UNKNOWN_ACTION
    assert bench.actions.granted == 0


@pytest.mark.parametrize("action", MAY)
def test_a_stranger_is_refused_and_told_nothing_else(bench, action):
    assert bench.ask(action, HOLD, epoch=5, config_hash=NO_HASH) == UNKNOWN_EPOCH
    assert (bench.reply.nonce, bench.actions.granted) == (0, 0)


def test_an_arm_is_refused_with_every_reason_at_once(bench):
    refusals = bench.ask(ARM, ACTIVE, **bench.spoil())
    assert refusals == (
        STATE | STOP_CAUSE | CAUSE_PRESENT | FAULTY | CONFIGURATION | CLOCK_UNSURE | MOVING
        | CHARGER | STOP_SOURCE | NOT_ALLOWED | RELAY | OFF_BEAT
    )  # fmt: skip
    assert bench.reply.causes_present == 1 << CHARGER_CAUSE
    assert (bench.reply.nonce, bench.reply.stop_sources) == (0, 0b1)


def test_a_clear_is_refused_for_all_but_the_stop_it_clears_the_clock_and_the_relay(bench):
    refusals = bench.ask(CLEAR, ACTIVE, **{**bench.spoil(), "sender": OWNER})
    assert refusals == (
        STATE | CAUSE_PRESENT | FAULTY | CONFIGURATION | MOVING | CHARGER | NOT_ALLOWED
    )
    assert bench.reply.stop_sources == 0


def test_a_disarm_and_a_cap_take_effect_with_a_nonce_that_nobody_asked_for(bench):
    assert bench.ask(DISARM, HOLD, nonce=5) == 0
    assert bench.actions.granted == supervisor.DISARMED
    assert bench.ask(CAP, STANDBY, nonce=5, value=1200) == 0


def test_what_else_took_effect_is_no_condition_of_the_supervisor():
    conditions = [bit for name, bit in vars(supervisor).items() if isinstance(bit, int)]
    assert max(conditions) < TAKEN == 256


def test_a_disarm_asks_for_nothing_but_hold(bench):
    assert bench.ask(DISARM, STANDBY, **bench.spoil()) == STATE
    assert bench.ask(DISARM, HOLD, **bench.spoil()) == 0
    assert bench.ask(DISARM, HOLD, sender=RC) == 0
    assert bench.actions.granted == supervisor.DISARMED


@pytest.mark.parametrize(
    ("change", "arm", "clear"),
    [
        (lambda bench: bench.runstop.latch(1), STOP_CAUSE, 0),
        (lambda bench: bench.runstop.set(0, True), STOP_CAUSE | CAUSE_PRESENT, CAUSE_PRESENT),
        (lambda bench: bench.runstop.set(7, True), STOP_CAUSE | CAUSE_PRESENT, CAUSE_PRESENT),
        (lambda bench: bench.faults.latch(1), FAULTY, 0),
        (lambda bench: bench.faults.set(0, True), FAULTY, FAULTY),
        (lambda bench: setattr(bench.actions, "is_contact_sure", False), RELAY, 0),
        (lambda bench: setattr(bench.actions, "is_standing", False), MOVING, MOVING),
        (lambda bench: setattr(bench.stop_sources, "fresh", 0), STOP_SOURCE, 0),
        (lambda bench: setattr(bench.stop_sources, "fresh", 0b10), STOP_SOURCE, 0),
    ],
)
def test_each_reason_for_itself(bench, change, arm, clear):
    change(bench)
    assert bench.ask(ARM, STANDBY) == arm
    assert bench.ask(CLEAR, STOPPED) == clear


@pytest.mark.parametrize("wrong", [b"abc\0", b"Abcd", NO_HASH])
def test_another_configuration_than_the_hosts_is_not_armed_nor_cleared(bench, wrong):
    assert bench.ask(ARM, STANDBY, config_hash=wrong) == CONFIGURATION
    assert bench.ask(CLEAR, STOPPED, config_hash=wrong) == CONFIGURATION


def test_a_clock_at_its_limit_is_sure_enough(bench):
    bench.sessions.slots[0].bound_us = 10_000
    assert bench.ask(ARM, STANDBY) == 0
    bench.sessions.slots[0].bound_us = 10_001
    assert bench.ask(ARM, STANDBY) == CLOCK_UNSURE


# --- who may, and in which profile


@pytest.mark.parametrize("sender", [0, 1, 2, 3, 4, 5, 6, 200, 255])
def test_only_whom_the_file_names_may_arm_and_clear_and_nobody_speaks_for_the_rc(bench, sender):
    """may_arm is 0b110011, may_clear 0b010110; 5 is the receiver, which is on the board."""
    assert bench.ask(ARM, STANDBY, sender=sender) == (0 if sender in (0, 1, 4) else NOT_ALLOWED)
    assert bench.ask(CLEAR, STOPPED, sender=sender) == (0 if sender in (1, 2, 4) else NOT_ALLOWED)


def test_a_guest_arms_and_clears_where_the_file_names_one():
    bench = Bench(may_arm=1 << GUEST, may_clear=1 << GUEST)
    assert bench.ask(ARM, STANDBY, sender=GUEST) == 0
    assert bench.ask(CLEAR, STOPPED, sender=GUEST) == 0
    assert bench.ask(ARM, STANDBY) == NOT_ALLOWED
    assert bench.ask(ARM, STANDBY, sender=GUEST + 1) == NOT_ALLOWED


def test_a_profile_needs_its_own_stop_sources_and_the_reply_names_those_that_are_missing(bench):
    for profile, missing in ((STAND, 0), (TRACK, 0), (RACE, 0b100)):
        assert bench.ask(ARM, STANDBY, value=profile) == (STOP_SOURCE if missing else 0)
        assert bench.reply.stop_sources == missing
    assert bench.ask(CLEAR, STOPPED, value=RACE) == 0
    assert bench.reply.stop_sources == 0
    bench.stop_sources.fresh = 0b101
    assert bench.ask(ARM, STANDBY, value=RACE) == 0


@pytest.mark.parametrize("value", [3, 4, 65535])
def test_a_profile_that_there_is_not_is_refused(bench, value):
    assert bench.ask(ARM, STANDBY, value=value) == PROFILE
    assert bench.reply.stop_sources == 0


def test_a_profile_without_a_speed_is_one_that_the_car_has_not():
    bench = Bench(profile_cap_mm_s=[0, 1, 0])
    asked = [bench.ask(ARM, STANDBY, value=profile) for profile in (STAND, TRACK, RACE)]
    assert asked == [PROFILE, 0, PROFILE]


@pytest.mark.parametrize("profile", [STAND, TRACK, RACE])
def test_the_profile_it_is_armed_in_is_the_cars_from_then_on(bench, profile):
    bench.stop_sources.fresh = 0b101
    assert (bench.actions.profile, bench.stop_sources.profile) == (TRACK, TRACK)
    bench.ask(ARM, STANDBY, value=profile)
    assert bench.actions.profile == TRACK
    bench.ask(ARM, STANDBY, nonce=77, value=profile)
    assert (bench.actions.profile, bench.stop_sources.profile) == (profile, profile)


def test_a_clear_changes_no_profile(bench):
    assert bench.ask(CLEAR, STOPPED, value=9000) == 0  # nor has it to do with a cap
    bench.ask(CLEAR, STOPPED, value=STAND)
    assert bench.ask(CLEAR, STOPPED, nonce=88, value=STAND) == 0
    assert (bench.actions.profile, bench.stop_sources.profile) == (TRACK, TRACK)


# --- two steps


@pytest.mark.parametrize(
    ("action", "state", "granted"),
    [(ARM, STANDBY, supervisor.ARMED), (CLEAR, STOPPED, supervisor.CLEARED)],
)
def test_an_action_is_granted_when_its_nonce_comes_back_and_once_only(
    bench, action, state, granted
):
    assert bench.ask(action, state) == 0
    assert (bench.reply.nonce, bench.actions.granted) == (77, 0)
    assert bench.ask(action, state, nonce=77) == 0
    assert (bench.reply.nonce, bench.actions.granted) == (0, granted)
    assert bench.ask(action, state, nonce=77) == NONCE
    for drawn, guessed in ((88, 1), (99, -1)):
        assert bench.ask(action, state) == 0
        assert bench.ask(action, state, nonce=drawn) == 0
        assert bench.ask(action, state, nonce=guessed) == NONCE


def test_a_wrong_nonce_is_refused_and_spoils_the_right_one(bench):
    for guessed in (77, 1, -1):
        bench.ask(ARM, STANDBY)
        assert bench.ask(ARM, STANDBY, nonce=76) == NONCE
        assert bench.ask(ARM, STANDBY, nonce=guessed) == NONCE
    assert bench.actions.granted == 0


def test_a_nonce_is_for_its_action_its_value_and_its_session(bench):
    bench.ask(ARM, STANDBY)
    assert bench.ask(CLEAR, STANDBY, nonce=77) == NONCE
    bench.ask(ARM, STANDBY)
    assert bench.ask(ARM, STANDBY, nonce=88, value=STAND) == NONCE
    bench.ask(ARM, STANDBY)
    assert bench.ask(ARM, STANDBY, nonce=99, epoch=OTHERS) == NONCE
    bench.ask(ARM, STANDBY)
    assert bench.ask(ARM, STANDBY, nonce=66, sender=SEAT) == NONCE
    assert bench.ask(ARM, STANDBY, nonce=66) == NONCE  # another's try has ended it
    assert bench.actions.granted == 0


def test_what_speaks_against_it_by_then_is_asked_again_when_the_nonce_comes_back(bench):
    bench.ask(ARM, STANDBY)
    bench.actions.is_standing = False
    assert bench.ask(ARM, STANDBY, nonce=77) == MOVING
    bench.actions.is_standing = True
    assert bench.ask(ARM, STANDBY, nonce=77) == NONCE  # what was refused is used
    assert bench.ask(ARM, STANDBY, nonce=77, sender=BOX) == NONCE | NOT_ALLOWED
    assert bench.actions.granted == 0


@pytest.mark.parametrize(
    ("drawn", "nonce"), [(0, 1), (2**30, 1), (2**30 - 1, 2**30 - 1), (2**31 + 6, 6), (1, 1)]
)
def test_a_nonce_has_thirty_bits_and_is_never_none(drawn, nonce):
    bench = Bench(drawn)
    bench.ask(ARM, STANDBY)
    assert bench.reply.nonce == nonce


# --- one at a time


def test_one_thing_takes_effect_in_a_step(bench):
    assert bench.ask(DISARM, HOLD) == 0
    for action in (ARM, CLEAR, DISARM, CAP):
        assert bench.say(action, HOLD if action == DISARM else STANDBY) == BUSY
    assert bench.actions.granted == supervisor.DISARMED
    assert bench.ask(CAP, STANDBY, value=900) == 0
    assert bench.say(CAP, STANDBY, value=800) == BUSY
    assert (bench.actions.cap_mm_s, bench.actions.granted) == (900, TAKEN)


@pytest.mark.parametrize("action", [ARM, CLEAR, CAP])
@pytest.mark.parametrize("who", [{"epoch": OTHERS}, {"sender": SEAT}, {"value": STAND}])
def test_an_open_request_refuses_the_others_and_ends_with_them(bench, action, who):
    bench.ask(ARM, STANDBY)
    assert bench.say(action, STANDBY, **who) == BUSY
    assert bench.say(ARM, STANDBY, nonce=77) == NONCE
    assert bench.say(action, STANDBY, **who) == 0


def test_the_same_request_said_again_gets_a_nonce_of_its_own(bench):
    """An answer was lost, or comes late."""
    bench.ask(ARM, STANDBY)
    assert (bench.say(ARM, STANDBY), bench.reply.nonce) == (0, 88)
    assert bench.say(ARM, STANDBY, nonce=88) == 0


@pytest.mark.parametrize(("after_us", "refusals"), [(999_999, 0), (1_000_000, NONCE)])
@pytest.mark.parametrize("began_us", [0, 2**30 - 500_000])
def test_a_nonce_lives_for_a_second(bench, began_us, after_us, refusals):
    assert bench.say(ARM, STANDBY, now_us=began_us) == 0
    now_us = (began_us + after_us) % 2**30
    assert bench.say(ARM, STANDBY, nonce=77, now_us=now_us) == refusals
    assert bench.actions.granted == (0 if refusals else supervisor.ARMED)


def test_what_is_open_ends_with_its_second_or_a_disturbance(bench):
    bench.say(ARM, STANDBY)
    bench.actions.settle(False, 999_999)
    assert bench.actions.nonce == 77
    bench.actions.settle(False, 1_000_000)
    assert bench.actions.nonce == 0
    bench.say(ARM, STANDBY)
    bench.actions.settle(True, 1)
    assert bench.actions.nonce == 0


def test_who_binds_anew_has_asked_for_nothing(bench):
    bench.say(ARM, STANDBY)
    bench.actions.rebound(OTHERS)
    assert bench.actions.nonce == 77
    bench.actions.rebound(US)
    assert bench.actions.nonce == 0


def test_a_stranger_ends_no_request_of_others(bench):
    bench.say(ARM, STANDBY)
    assert bench.say(ARM, STANDBY, epoch=5) == UNKNOWN_EPOCH
    assert bench.say(ARM, STANDBY, nonce=77) == 0


def test_whatever_else_takes_effect_needs_that_nothing_is_open_nor_was_done(bench):
    bench.say(ARM, STANDBY)
    assert not bench.actions.take()  # and ends it
    assert (bench.actions.nonce, bench.actions.granted) == (0, 0)
    assert bench.actions.take()
    assert bench.actions.granted == TAKEN
    assert not bench.actions.take()
    assert bench.say(ARM, STANDBY) == BUSY
    bench.ask(DISARM, HOLD)
    assert not bench.actions.take()


def test_a_gesture_and_a_host_are_one_at_a_time():
    bench = Bench(may_arm=1 << RC | 1 << COMMAND, may_clear=1 << COMMAND)
    bench.say(CLEAR, STOPPED)
    assert bench.actions.gesture(STANDBY) == BUSY
    assert bench.say(CLEAR, STOPPED, nonce=77) == NONCE
    bench.ask(ARM, STANDBY, value=STAND)
    bench.say(ARM, STANDBY, nonce=88, value=STAND)
    assert bench.actions.gesture(STANDBY) == BUSY
    assert bench.actions.profile == STAND


def test_a_gesture_is_asked_of_the_profile_that_it_arms_and_not_of_the_last_one():
    bench = Bench()
    bench.actions.profile = RACE  # whose box is away by now
    assert bench.actions.gesture(STANDBY) == 0
    assert (bench.actions.profile, bench.stop_sources.profile) == (TRACK, TRACK)
    bench = Bench(profile_default=RACE)
    bench.actions.profile = TRACK
    assert bench.actions.gesture(STANDBY) == STOP_SOURCE
    assert bench.actions.granted == 0
