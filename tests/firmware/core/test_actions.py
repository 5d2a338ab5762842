"""S4: arming, clearing, disarming; every reason against it named at once, and two steps."""

import pytest

from firmware.core import supervisor
from firmware.core.actions import Actions
from firmware.core.latch import Latch
from firmware.protocol.messages import Act, ActReply
from tests.firmware.core.desk import params_with, sure_sessions

STARTING, STANDBY, ACTIVE, HOLD, STOPPING, STOPPED, FAULT = range(7)
ARM, CLEAR, DISARM = 1, 2, 3
(UNKNOWN_EPOCH, STATE, STOP_CAUSE, CAUSE_PRESENT, FAULTY, CONFIGURATION, CLOCK_UNSURE, NONCE,
 MOVING, CHARGER, UNKNOWN_ACTION) = (1 << bit for bit in range(11))  # fmt: skip
CHARGER_CAUSE = 6
US, OTHERS = 1001, 1002
NO_HASH, HASH = b"\0\0\0\0", b"abcd"


class Dice:
    """What the board gives for entropy, made by hand."""

    def __init__(self, *numbers: int) -> None:
        self._numbers = list(numbers)

    def entropy(self) -> int:
        return self._numbers.pop(0)


class Bench:
    def __init__(self, *numbers: int) -> None:
        self.sessions = sure_sessions(US, OTHERS)
        self.runstop, self.faults = Latch(), Latch()
        self.actions = Actions(Dice(*numbers or (77, 88, 99)), self.sessions, self.runstop,
                               self.faults)  # fmt: skip
        params = params_with(clock_bound_us=10_000)
        params.config_hash[:] = HASH
        self.actions.configure(params)
        self.reply = ActReply()

    def ask(self, action, state, nonce=0, epoch=US, config_hash=HASH, is_standing=True) -> int:
        act = Act()
        act.epoch, act.action, act.nonce = epoch, action, nonce
        act.config_hash[:] = config_hash
        refusals = self.actions.receive(act, self.reply, state, is_standing)
        assert refusals == self.reply.refusals
        assert (self.reply.epoch, self.reply.action) == (epoch, action)
        return refusals


@pytest.fixture
def bench():
    return Bench()


def test_nothing_is_granted_at_first_and_an_unconfigured_car_trusts_no_clock():
    actions = Actions(Dice(5), sure_sessions(US, bound_us=1), Latch(), Latch())
    assert actions.granted == 0
    act, reply = Act(), ActReply()
    act.epoch, act.action = US, ARM
    assert actions.receive(act, reply, STANDBY, True) == CLOCK_UNSURE
    act.config_hash[:] = b"\1\0\0\0"
    assert actions.receive(act, reply, STANDBY, True) == CLOCK_UNSURE | CONFIGURATION


MAY = {ARM: {STANDBY}, CLEAR: {STANDBY, STOPPED, FAULT}, DISARM: {HOLD}}


@pytest.mark.parametrize("action", MAY)
@pytest.mark.parametrize("state", range(7))
def test_each_action_is_for_its_states_only(bench, action, state):
    assert bench.ask(action, state) == (0 if state in MAY[action] else STATE)


@pytest.mark.parametrize("action", [0, 4, 255])
def test_what_is_no_action_is_refused(bench, action):
    assert bench.ask(action, STANDBY) == UNKNOWN_ACTION
    assert bench.actions.granted == 0


@pytest.mark.parametrize("action", MAY)
def test_a_stranger_is_refused_and_told_nothing_else(bench, action):
    assert bench.ask(action, HOLD, epoch=5, config_hash=NO_HASH) == UNKNOWN_EPOCH
    assert (bench.reply.nonce, bench.actions.granted) == (0, 0)


def spoil(bench) -> dict:
    bench.runstop.set(CHARGER_CAUSE, True)
    bench.faults.set(2, True)
    bench.sessions.slots[0].bound_us = 10_001
    return {"config_hash": b"abce", "is_standing": False}


def test_an_arm_is_refused_with_every_reason_at_once(bench):
    refusals = bench.ask(ARM, ACTIVE, **spoil(bench))
    assert refusals == (
        STATE | STOP_CAUSE | CAUSE_PRESENT | FAULTY | CONFIGURATION | CLOCK_UNSURE | MOVING
        | CHARGER
    )  # fmt: skip
    assert bench.reply.causes_present == 1 << CHARGER_CAUSE
    assert bench.reply.nonce == 0


def test_a_clear_is_refused_for_all_but_the_stop_it_clears_and_the_clock(bench):
    refusals = bench.ask(CLEAR, ACTIVE, **spoil(bench))
    assert refusals == STATE | CAUSE_PRESENT | FAULTY | CONFIGURATION | MOVING | CHARGER


def test_a_disarm_asks_for_nothing_but_hold(bench):
    assert bench.ask(DISARM, STANDBY, **spoil(bench)) == STATE
    assert bench.ask(DISARM, HOLD, **spoil(bench)) == 0
    assert bench.actions.granted == supervisor.DISARMED


@pytest.mark.parametrize(
    ("change", "arm", "clear"),
    [
        (lambda bench: bench.runstop.latch(1), STOP_CAUSE, 0),
        (lambda bench: bench.runstop.set(0, True), STOP_CAUSE | CAUSE_PRESENT, CAUSE_PRESENT),
        (lambda bench: bench.runstop.set(7, True), STOP_CAUSE | CAUSE_PRESENT, CAUSE_PRESENT),
        (lambda bench: bench.faults.latch(1), FAULTY, 0),
        (lambda bench: bench.faults.set(0, True), FAULTY, FAULTY),
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


def test_a_moving_car_is_neither_armed_nor_cleared(bench):
    assert bench.ask(ARM, STANDBY, is_standing=False) == MOVING
    assert bench.ask(CLEAR, FAULT, is_standing=False) == MOVING


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


def test_a_nonce_is_for_its_action_and_its_session(bench):
    bench.ask(ARM, STANDBY)
    assert bench.ask(CLEAR, STANDBY, nonce=77) == NONCE
    bench.ask(ARM, STANDBY)
    assert bench.ask(ARM, STANDBY, nonce=88, epoch=OTHERS) == NONCE
    assert bench.actions.granted == 0
    assert bench.ask(ARM, STANDBY, nonce=88) == 0
    assert bench.actions.granted == supervisor.ARMED


@pytest.mark.parametrize(
    ("drawn", "nonce"), [(0, 1), (2**30, 1), (2**30 - 1, 2**30 - 1), (2**31 + 6, 6), (1, 1)]
)
def test_a_nonce_has_thirty_bits_and_is_never_none(drawn, nonce):
    bench = Bench(drawn)
    bench.ask(ARM, STANDBY)
    assert bench.reply.nonce == nonce


def test_what_was_granted_on_one_step_adds_up(bench):
    bench.ask(DISARM, HOLD)
    bench.ask(ARM, STANDBY)
    bench.ask(ARM, STANDBY, nonce=77)
    assert bench.actions.granted == supervisor.ARMED | supervisor.DISARMED
