"""Who can stop the car: every combination of three stop sources against the rule, restated.

The rule (SAFETY.md, S2): what counts is the OR of all stops; a required one that is silent, missing
or was never seen stops the car; a stop is latched, the first cause kept; a clear leaves what is
still there; and all that holds in every state.
"""

import itertools

import pytest

from firmware.core.arbitration.rc_receiver import RcReceiver
from firmware.core.clock import Sessions
from firmware.core.settings.checked_params import CheckedParams
from firmware.core.stops.runstop import StopSources
from firmware.protocol import codes, messages
from firmware.protocol.frame import crc_table
from host_bridge.deploy.hil.host.small_host import framed
from tests.firmware.core.desk import parameters_of
from tests.safety.support.desk import by_link, known, program, quiet, step
from tests.support.evidence import every

LOOP, RC, LINK = 1, 2, 3  # kinds
NO, OPTIONAL, REQUIRED = 0, 1, 2
PROFILES = 3
SILENT, RUNS, STOPS = 0, 1, 2  # what a stop source does
DOES = (SILENT, RUNS, STOPS)
MODE_STOP, MODE_MANUAL = 0, 1
NOW_US = 70_000_000

# --- the registered stop sources alone: all kinds, needs, profiles


def loop_of(does: int) -> int:
    """A loop is never silent: a broken wire is a stop."""
    return RUNS if does == RUNS else STOPS


def restated(kinds, needs, does) -> tuple[bool, bool]:
    """Whether one says stop, and whether a required one is not there."""
    seen = [loop_of(d) if kind == LOOP else d for kind, d in zip(kinds, does, strict=True)]
    is_missing = any(n == REQUIRED and d == SILENT for n, d in zip(needs, seen, strict=True))
    return STOPS in seen, is_missing


def set_up(sources: StopSources, params: CheckedParams, kinds, needs, profile: int) -> None:
    """The other profiles need something else, so that the wrong one would be noticed."""
    for place, (kind, need) in enumerate(zip(kinds, needs, strict=True)):
        params.values[params.index("stop_source_kind") + place] = kind
        for other in range(PROFILES):
            at = params.index("stop_source_need") + other * 16 + place
            params.values[at] = need if other == profile else (need + 1) % 3
    sources.configure(params)
    sources.profile = profile


def let(sources: StopSources, rc: RcReceiver, does) -> tuple[bool, bool]:
    """One step in which each does what it does."""
    for source, doing in zip(sources.active, does, strict=True):
        source.heard.set(NOW_US, 0 if doing == SILENT else 1000)
        source.says_stop = doing == STOPS
    kinds = [source.kind for source in sources.active]
    closed = not any(d != RUNS for kind, d in zip(kinds, does, strict=True) if kind == LOOP)
    receivers = {d for kind, d in zip(kinds, does, strict=True) if kind == RC}
    rc.is_live = SILENT not in receivers
    rc.mode = MODE_STOP if STOPS in receivers else MODE_MANUAL
    sources.step(int(closed), rc, NOW_US)
    return sources.stop_mask != 0, sources.missing != 0


def is_possible(kinds, does) -> bool:
    """There is one pin and one receiver: those of one kind cannot do different things."""
    return every(len({d for k, d in zip(kinds, does, strict=True) if k == kind}) <= 1
               for kind in (LOOP, RC))  # fmt: skip


def disagreements() -> int:
    sources, params, rc = StopSources(Sessions(1)), CheckedParams(crc_table()), RcReceiver()
    found = 0
    three = [list(itertools.product(values, repeat=3)) for values in ((LOOP, RC, LINK), DOES)]
    for kinds in three[0]:
        possible = [does for does in three[1] if is_possible(kinds, does)]
        for needs in itertools.product((NO, OPTIONAL, REQUIRED), repeat=3):
            for profile in range(PROFILES):
                set_up(sources, params, kinds, needs, profile)
                for does in possible:
                    found += let(sources, rc, does) != restated(kinds, needs, does)
    return found


def test_every_combination_of_three_stop_sources_follows_the_rule():
    assert disagreements() == 0


@pytest.mark.parametrize("broken", ["one is enough", "silence is fine", "any profile"])
def test_another_rule_would_be_noticed(monkeypatch, broken):
    right = StopSources.missing_in
    wrong = {
        "one is enough": lambda self, p: 0 if self.fresh else right(self, p),  # the any-of rule
        "silence is fine": lambda self, p: 0,
        "any profile": lambda self, p: right(self, 0),
    }
    monkeypatch.setattr(StopSources, "missing_in", wrong[broken])
    assert disagreements() > 100


# --- the whole program: every state, every profile

STATES = range(7)
STARTING, STANDBY, ACTIVE, HOLD, STOPPING, STOPPED, FAULT = STATES
LOOP_BIT, CHARGER_BIT, SOURCE_BIT, SILENT_BIT = 1, 1 << 6, 1 << 10, 1 << 11
PIN, RECEIVER, BOX = 0, 1, 4  # stop source ids
OURS, FOREIGN = 101, 999
FOREIGN_STOPS, FOREIGN_RUNS = 3, 4  # words under an epoch that the car does not know
BOX_DOES = (*DOES, FOREIGN_STOPS, FOREIGN_RUNS)


@pytest.fixture(scope="module")
def app():
    made = quiet(program("f1tenth", rc_fitted=1))
    made.board.has_receiver = 1
    by_link(made, BOX)
    step(made, NOW_US)
    return made


class Words:
    """Frames of the runstop box, each with a number of its own."""

    sequence = 0

    def frame(self, does: int) -> bytes:
        if does == SILENT:
            return b""
        self.sequence += 1
        alive = messages.Alive()
        alive.epoch = FOREIGN if does in (FOREIGN_STOPS, FOREIGN_RUNS) else OURS
        alive.stop_source, alive.sequence = BOX, self.sequence & 0xFFFF
        alive.runs = int(does in (RUNS, FOREIGN_RUNS))
        alive.stamp_us = NOW_US
        return framed(alive)


WORDS = Words()


def need(app, needs, profile: int) -> None:
    """Of the loop, the receiver and the box, in this profile; the others need something else."""
    at = parameters_of(app).index("stop_source_need")
    for place in range(PROFILES * 16):
        app.configuration.values[at + place] = OPTIONAL
    for stop_source, wanted in zip((PIN, RECEIVER, BOX), needs, strict=True):
        for other in range(PROFILES):
            value = wanted if other == profile else (wanted + 1) % 3
            app.configuration.values[at + other * 16 + stop_source] = value
    app.stop_sources.configure(parameters_of(app))
    app.stop_sources.profile = profile


def put(app, state: int, does, latched: int) -> None:
    is_enabled = state in (ACTIVE, HOLD, STOPPING)
    known(app, OURS, NOW_US)
    app.supervisor.state = state
    app.output_stage.is_enabled = app.board.enable = app.fault_monitor._is_enabled = is_enabled
    app.board.runstop_closed = int(does[0] == RUNS)
    app.rc._live.set(NOW_US, 0 if does[1] == SILENT else 50_000)
    app.rc.mode = MODE_STOP if does[1] == STOPS else MODE_MANUAL
    app.stop_sources.all[BOX].heard.shut()
    app.arbiter.attended.set(NOW_US, 1_000_000)
    app.runstop.bits, app.runstop.present = latched, 0
    app.runstop.first = 6 if latched else 255
    app.faults.bits = app.faults.present = 0
    app.stop_sequence.is_over = False
    app.stop_sequence._rolling.set(NOW_US, 1_000_000)
    app.stop_sequence._patience.set(NOW_US, 1_000_000)
    app._warm_up._left.set(NOW_US, 1_000_000)


def restated_causes(state: int, needs, does) -> int:
    """The bits that a car has after one step, of the three."""
    loop, receiver, box = does
    causes = LOOP_BIT if loop != RUNS else 0
    if STOPS in (receiver, box) or box == FOREIGN_STOPS:
        causes |= SOURCE_BIT
    silent = (False, receiver == SILENT, box in (SILENT, FOREIGN_STOPS, FOREIGN_RUNS))
    is_missing = any(n == REQUIRED and s for n, s in zip(needs, silent, strict=True))
    return causes | (SILENT_BIT if is_missing and state in (ACTIVE, HOLD) else 0)


ALL_DO = tuple(itertools.product((RUNS, STOPS), DOES, BOX_DOES))


@pytest.mark.parametrize(("profile", "latched"), [(0, 0), (1, 0), (2, 0), (1, CHARGER_BIT)])
def test_in_every_state_and_profile_each_stop_is_latched_and_the_first_is_kept(
    app, profile, latched
):
    for needs in itertools.product((NO, OPTIONAL, REQUIRED), repeat=3):
        need(app, needs, profile)
        for state, does in itertools.product(STATES, ALL_DO):
            put(app, state, does, latched)
            step(app, NOW_US, WORDS.frame(does[2]))
            causes = restated_causes(state, needs, does)
            assert app.runstop.bits == causes | latched, (state, needs, does)
            lowest = (causes & -causes).bit_length() - 1 if causes else 255
            assert app.runstop.first == (6 if latched else lowest)
            is_armed = state in (ACTIVE, HOLD)
            if app.runstop.bits:
                assert app.supervisor.state == (STOPPING if is_armed else state)


def test_a_stop_that_is_over_stays_latched_and_only_a_clear_ends_it_and_never_what_is_present(app):
    need(app, (OPTIONAL, OPTIONAL, OPTIONAL), 1)
    calm = (RUNS, RUNS, RUNS)
    for does in ALL_DO:
        put(app, STOPPED, does, 0)
        step(app, NOW_US, WORDS.frame(does[2]))
        latched = app.runstop.bits
        app.board.runstop_closed = 1
        app.rc.mode = MODE_MANUAL
        step(app, NOW_US, WORDS.frame(RUNS))
        assert app.runstop.bits == latched  # gone, and kept
        app.runstop.clear()
        assert app.runstop.bits == 0
        put(app, STOPPED, does, 0)
        step(app, NOW_US, WORDS.frame(does[2]))
        app.runstop.clear()
        lasting = restated_causes(STOPPED, calm, does)
        if does[2] == FOREIGN_STOPS and does[1] != STOPS:
            lasting &= ~SOURCE_BIT  # a word that was said once, by nobody who could take it back
        assert app.runstop.bits == lasting


def test_arming_is_refused_while_a_required_one_is_silent_and_the_reply_names_it(app):
    config_hash = bytes(app.configuration.config_hash)
    act = messages.Act()
    act.epoch, act.action, act.sender = OURS, codes.ACTION_ARM, codes.SENDER_COMMAND
    act.config_hash[:] = config_hash
    for profile, needs in itertools.product(
        range(PROFILES), itertools.product((NO, OPTIONAL, REQUIRED), repeat=3)
    ):
        need(app, needs, profile)
        act.value = profile
        for receiver, box in itertools.product((SILENT, RUNS), repeat=2):
            put(app, STANDBY, (RUNS, receiver, box), 0)
            step(app, NOW_US, WORDS.frame(box))
            reply = messages.ActReply()
            refusals = app.actions.receive(act, reply, STANDBY, NOW_US)
            missing = (1 << RECEIVER if needs[1] == REQUIRED and receiver == SILENT else 0) | (
                1 << BOX if needs[2] == REQUIRED and box == SILENT else 0
            )
            assert reply.stop_sources == missing
            assert (refusals >> codes.REFUSED_STOP_SOURCE & 1) == (missing != 0)
