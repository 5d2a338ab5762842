"""Every state times every combination of conditions, against S1 to S5 and S10 restated.

Two walks: the supervisor's own table (7 states, 8 conditions), and one step of the whole program
(7 states, the 13 conditions of which those are made; bytes in, state and outputs out).
"""

import itertools

import pytest

from firmware.core import supervisor
from firmware.core.arbitration.source import OPEN
from firmware.core.link.dispatcher import MessageDispatcher
from firmware.core.motion.motion import MotionControl
from firmware.core.stops.fault_monitor import FaultMonitor
from firmware.protocol import codes, messages
from host_bridge.deploy.hil.host.small_host import ROS2, SCRIPT, SEAT, framed
from tests.safety.support.desk import program, quiet, step
from tests.safety.support.promises import (
    ACTIVE,
    ARMED,
    HOLD,
    PROMISES,
    STANDBY,
    STARTING,
    STATES,
    STOPPED,
    STOPPING,
    Given,
    Outcome,
    broken,
)

# --- the supervisor's own table

CONDITIONS = (
    (supervisor.STOP, "stop"), (supervisor.FAULTY, "fault"), (supervisor.READY, "ready"),
    (supervisor.AT_REST, "at_rest"), (supervisor.COMMANDED, "commanded"),
    (supervisor.ARMED, "arm"), (supervisor.CLEARED, "clear"), (supervisor.DISARMED, "disarm"),
)  # fmt: skip


def next_state(state: int, conditions: int) -> int:
    machine = supervisor.Supervisor()
    machine.state = state
    machine.step(conditions)
    return machine.state


def walk_of_table():
    """What each of the 1792 steps leads to."""
    return [next_state(s, c) for s, c in itertools.product(STATES, range(1 << len(CONDITIONS)))]


def objections_to_table() -> set[str]:
    found = set()
    for state, conditions in itertools.product(STATES, range(1 << len(CONDITIONS))):
        given = Given(**{name: bool(conditions & bit) for bit, name in CONDITIONS})
        found.update(broken(state, given, Outcome(next_state(state, conditions))))
    return found


def test_the_table_of_the_supervisor_keeps_every_promise_in_every_state():
    assert objections_to_table() == set()


def mutated_tables():
    """Without each row; with one condition more or less in it; with each other end."""
    table = list(supervisor.TABLE)
    for at, (state, all_of, none_of, then) in enumerate(table):
        rows = [(other, all_of, none_of, then) for other in STATES if other != state]
        rows += [(state, all_of, none_of, other) for other in STATES if other != then]
        for bit, _ in CONDITIONS:
            rows += [(state, all_of ^ bit, none_of, then), (state, all_of, none_of ^ bit, then)]
        for changed in [[], *([row] for row in rows)]:
            yield tuple(table[:at] + changed + table[at + 1 :])


def test_every_change_of_the_table_that_changes_anything_is_objected_to(monkeypatch):
    right = walk_of_table()
    changes = 0
    for table in mutated_tables():
        monkeypatch.setattr(supervisor, "TABLE", table)
        if walk_of_table() != right:
            changes += 1
            assert objections_to_table(), table
    assert changes > 300


# --- one step of the whole program

BITS = (
    "stop_frame", "loop_open", "source_missing", "silent", "stop_latched", "fault_now",
    "fault_latched", "commanded", "arm", "clear", "disarm", "at_rest", "ready",
)  # fmt: skip
NOW_US = 50_000_000
EPOCHS = {codes.ACTION_ARM: 101, codes.ACTION_CLEAR: 102, codes.ACTION_DISARM: 103}
NONCE = 77
BOX = 4  # the runstop box, required in a race; 0 is the loop on the pin


def program_on_desk():
    """On its own wheels, in the race profile, where a runstop box is required."""
    made = quiet(program("f1tenth"))
    for epoch in EPOCHS.values():
        made.sessions.bind(epoch, NOW_US)
    step(made, NOW_US)
    return made


@pytest.fixture(scope="module")
def app():
    return program_on_desk()


def frames_of(app, given: dict[str, bool]) -> bytes:
    """A Stop comes first: all that follows might undo it."""
    frames = framed(messages.Stop()) if given["stop_frame"] else b""
    for name, action in (("clear", 2), ("arm", 1), ("disarm", 3)):
        if given[name]:
            frames += ACTS[action, bytes(app.configuration.config_hash)]
    return frames


def act(action: int, config_hash: bytes) -> bytes:
    message = messages.Act()
    message.epoch, message.action, message.nonce = EPOCHS[action], action, NONCE
    message.sender, message.value = codes.SENDER_COMMAND, codes.PROFILE_RACE
    message.config_hash[:] = config_hash
    return framed(message)


class _Acts(dict):
    def __missing__(self, key):
        self[key] = act(*key)
        return self[key]


ACTS = _Acts()


def prepare(app, state: int, given: dict[str, bool]) -> None:
    """Put the program into this state, with these conditions about to hold."""
    board, is_enabled = app.board, state in (*ARMED, STOPPING)
    app.supervisor.state = app.supervisor.before = state
    app.output_stage.is_enabled = board.enable = app.fault_monitor._is_enabled = is_enabled
    app.actions.is_contact_sure = not is_enabled
    board.runstop_closed = int(not given["loop_open"])
    app.configuration.is_valid = not given["fault_now"]
    for latch, bit, is_latched, present, is_present in (
        (app.runstop, codes.CAUSE_CHARGER, "stop_latched", codes.CAUSE_RUNSTOP_LOOP, "loop_open"),
        (app.faults, codes.FAULT_OUTPUT, "fault_latched", codes.FAULT_CONFIGURATION, "fault_now"),
    ):
        latch.bits = latch.present = latch.news = 0
        latch.first = codes.NO_CAUSE
        if given[is_latched]:
            latch.latch(bit)
        latch.set(present, given[is_present])
    prepare_people(app, given)
    if state in ARMED:  # its arm, or whatever armed it, has ended what was open
        app.actions.nonce = 0
    prepare_times(app, given)


def prepare_people(app, given: dict[str, bool]) -> None:
    """The seat commands, or not; the script has just fallen silent, or was never there."""
    for source_id, is_there in ((SEAT, given["commanded"]), (SCRIPT, given["silent"])):
        source = app.arbiter.sources[source_id]
        source.slot, source.gate, source.deadman = 0, OPEN, codes.HELD if is_there else 0
        source.claimed, source.speed_mm_s, source.is_fresh = 3, 0, is_there
        source.lease.set(NOW_US, 100_000)
        source.alive.set(NOW_US, 100_000)
    app.arbiter.sources[SCRIPT].lease.shut()
    app.arbiter.sources[ROS2].is_fresh = False
    for epoch in EPOCHS.values():
        session = app.sessions.slots[app.sessions.find(epoch)]
        session.bound_us = session._sampled_bound_us = 200
        session._sampled_us = session.heard_us = NOW_US
    open_request(app, codes.ACTION_CLEAR if given["clear"] else codes.ACTION_ARM)
    app.stop_sources.profile = codes.PROFILE_RACE
    app.stop_sources.all[BOX].heard.set(NOW_US, 0 if given["source_missing"] else 100_000)
    app.stop_sources.fresh = 1 if given["source_missing"] else 1 | 1 << BOX


def open_request(app, action: int) -> None:
    """The board has handed out its nonce; there is one request at a time."""
    actions = app.actions
    actions.nonce, actions._epoch, actions._action = NONCE, EPOCHS[action], action
    actions._value, actions._sender = codes.PROFILE_RACE, codes.SENDER_COMMAND
    actions._open.set(NOW_US, 100_000)


def prepare_times(app, given: dict[str, bool]) -> None:
    app.arbiter.attended.set(NOW_US, 1_000_000)
    app.stop_sequence.is_over = given["at_rest"]
    app.stop_sequence._rolling.set(NOW_US, 1_000_000)
    app.stop_sequence._patience.set(NOW_US, 1_000_000)
    app._warm_up._left.set(NOW_US, 0 if given["ready"] else 1_000_000)


def given_of(state: int, raw: dict[str, bool]) -> Given:
    """What SAFETY.md makes of them: which stops count when, and what clears what."""
    may_clear = state in (STANDBY, STOPPED, 6) and not raw["loop_open"] and not raw["fault_now"]
    is_open = not raw["stop_frame"]  # which comes first, and ends what anybody asked for
    is_cleared = raw["clear"] and may_clear and is_open
    stop = raw["stop_frame"] or raw["loop_open"] or (raw["stop_latched"] and not is_cleared)
    if state in ARMED:  # these stop a car that is armed; another one does not move anyway
        stop = stop or raw["silent"] or raw["source_missing"]
    fault = raw["fault_now"] or (raw["fault_latched"] and not is_cleared)
    return Given(
        stop=stop, fault=fault, ready=raw["ready"], at_rest=raw["at_rest"],
        commanded=raw["commanded"], arm=raw["arm"] and is_open and not raw["clear"],
        clear=raw["clear"] and is_open,
        disarm=raw["disarm"] and state == HOLD, stop_frame=raw["stop_frame"],
        # the fault of the moment is refused as such, a missing stop source is named
        may_arm=not raw["source_missing"], may_clear=may_clear,
    )  # fmt: skip


def outcome_of(app) -> Outcome:
    state, causes = app.supervisor.state, app.runstop.bits
    is_enabled = app.output_stage.is_enabled
    return Outcome(state, causes, app.drive.effort if is_enabled else 0, is_enabled)


def objections(app, states=STATES, every: int = 1) -> set[str]:
    """The promises that any step of the walk breaks."""
    found = set()
    for state, number in itertools.product(states, range(0, 1 << len(BITS), every)):
        raw = {name: bool(number >> at & 1) for at, name in enumerate(BITS)}
        prepare(app, state, raw)
        step(app, NOW_US, frames_of(app, raw))
        given, after = given_of(state, raw), outcome_of(app)
        found.update(broken(state, given, after))
        if given.stop and not after.causes:
            found.add("not latched")
        if after.enable and (after.state not in (*ARMED, STOPPING) or raw["loop_open"]):
            found.add("enabled")
    return found


@pytest.mark.parametrize("state", STATES)
def test_every_step_of_the_whole_program_keeps_every_promise(app, state):
    assert objections(app, (state,)) == set()


# --- the oracle can object: each promise is broken on purpose, and named

SOME = 11  # every eleventh combination: enough to be seen


def with_row(row):
    def breaks(monkeypatch):
        monkeypatch.setattr(supervisor, "TABLE", (row, *supervisor.TABLE))

    return breaks


def drives_in_hold(monkeypatch):
    def moves(self, now_us):
        self._drive.effort = 500

    monkeypatch.setattr(MotionControl, "_move", moves)


def looks_away(monkeypatch):
    monkeypatch.setattr(FaultMonitor, "_moments", lambda self, now_us: None)


ARMED_AND_COMMANDED = supervisor.ARMED | supervisor.COMMANDED
BREAKS = {
    "S1": (HOLD, drives_in_hold),
    "S2": (STANDBY, with_row((STANDBY, ARMED_AND_COMMANDED, 0, ACTIVE))),
    "S3": (ACTIVE, looks_away),
    "S4": (STOPPED, with_row((STOPPED, supervisor.READY, supervisor.STOP, STANDBY))),
    "S5": (STARTING, with_row((STARTING, supervisor.COMMANDED, 0, HOLD))),
    "permission": (STANDBY, with_row((STANDBY, 0, 0, STANDBY))),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_program_that_breaks_a_promise_is_objected_to(app, monkeypatch, name):
    state, breaks = BREAKS[name]
    breaks(monkeypatch)
    assert name in objections(app, (state,), SOME)


@pytest.mark.parametrize("state", STATES)
def test_a_program_that_does_not_hear_a_stop_is_objected_to_in_every_state(monkeypatch, state):
    monkeypatch.setattr(MessageDispatcher, "_stop", lambda self, message, now_us: None)
    assert "S10" in objections(program_on_desk(), (state,), SOME)


def test_every_promise_was_seen_to_be_broken():
    assert set(BREAKS) | {"S10"} == set(PROMISES)
