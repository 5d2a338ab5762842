"""Who can stop the car: registered stop sources, required or optional, there or silent."""

import pytest

from firmware.boards.simulated.virtual import VirtualBoard
from firmware.core.arbitration.rc_receiver import RcReceiver
from firmware.core.stops.runstop import StopSources
from firmware.protocol import codes
from tests.firmware.core.desk import params_with, sure_sessions
from tests.firmware.core.stops.stop_words import (
    BOUND,
    BOX,
    BRAKE,
    CUT,
    HAND,
    KINDS,
    LAST,
    LINK,
    LOOP,
    NEEDS,
    NEUTRAL,
    NONE,
    PAIRED,
    PIN,
    RACE,
    SEAT,
    SILENCE_US,
    STAND,
    TRACK,
    UNKNOWN,
    US,
    Bench,
    seen,
)


@pytest.fixture
def bench():
    return Bench()


# --- registration


def test_before_it_is_configured_nobody_is_registered():
    sources = StopSources(sure_sessions(US))
    assert (sources.active, sources.profile, sources.loop, sources.stop_mask) == ((), 0, 0, 0)
    assert seen(sources) == (0, 0, 0, 0)
    assert [source.id for source in sources.all] == list(range(16))
    first = sources.all[3]
    assert (first.kind, first.is_fresh, first.says_stop) == (NONE, False, False)
    assert (first.slot, first.sequence, first.silence_us, first.policy) == (-1, 0, 0, BRAKE)
    sources.step(0, RcReceiver(), 0)
    assert seen(sources) == (0, 0, 0, 0)


def test_each_is_registered_as_the_file_says(bench):
    sources = bench.sources
    assert [source.id for source in sources.active] == [PIN, HAND, SEAT, BOX, LAST]
    assert (sources.loop, sources.profile) == (0b1, TRACK)
    assert [source.policy for source in sources.active] == [BRAKE, NEUTRAL, BRAKE, CUT, NEUTRAL]
    assert sources.all[LAST].silence_us == SILENCE_US


def test_a_new_configuration_replaces_the_old_one_whole(bench):
    values = {"stop_source_kind": [LINK, LOOP], "stop_source_need": [0] * 48}
    bench.sources.configure(params_with(**values))
    assert ([s.id for s in bench.sources.active], bench.sources.loop) == ([0, 1], 0b10)
    assert [bench.sources.missing_in(p) for p in (STAND, TRACK, RACE)] == [0, 0, 0]


def test_a_box_that_is_paired_is_known_as_such_as_long_as_the_file_has_one(bench):
    assert StopSources(sure_sessions(US)).paired is None
    assert bench.sources.paired is None  # a link's box answers no challenge
    bench.configure(stop_source_kind=[LOOP, NONE, LINK, PAIRED, NONE])
    assert bench.sources.paired is bench.sources.all[BOX]
    bench.configure()
    assert bench.sources.paired is None


def test_several_loops_are_one_pin():
    bench = Bench(stop_source_kind=[LOOP, LOOP, NONE])
    assert bench.sources.loop == 0b11
    assert bench.step(closed=0).asserted == 0b11


# --- a car that was given a box's key

KEYED = codes.STOP_SOURCE_RUNSTOP_BOX
NEEDED_AT = [profile * 16 + KEYED for profile in (STAND, TRACK, RACE)]


@pytest.mark.parametrize("kind", [NONE, LOOP, LINK, PAIRED])
@pytest.mark.parametrize("need", [0, 1, 2])
def test_a_key_requires_its_box_but_on_a_stand_whatever_the_file_says(kind, need):
    kinds, needs = list(KINDS), NEEDS[STAND] + NEEDS[TRACK] + NEEDS[RACE]
    kinds[KEYED] = kind
    for at in NEEDED_AT:
        needs[at] = need
    bench = Bench(needs_box=1, stop_source_kind=kinds, stop_source_need=needs)
    bench.configure()  # a new configuration changes nothing of it
    bench.configure(stop_source_kind=kinds, stop_source_need=needs)
    sources = bench.sources
    assert sources.paired is sources.all[KEYED]
    assert sources.paired.kind == PAIRED
    required = [sources.missing_in(profile) >> KEYED & 1 for profile in (STAND, TRACK, RACE)]
    assert required == [need == 2, 1, 1]
    bench.say(KEYED)
    assert not bench.step().fresh >> KEYED & 1, "no host speaks for it"


def test_others_are_as_the_file_has_them_in_a_car_with_a_key():
    with_key, without = Bench(needs_box=1).sources, Bench().sources
    for profile in (STAND, TRACK, RACE):
        others = ~(1 << KEYED)
        assert with_key.missing_in(profile) & others == without.missing_in(profile)
    assert [s.kind for s in with_key.all if s.id != KEYED] == [
        s.kind for s in without.all if s.id != KEYED
    ]
    assert without.paired is None
    assert not without.missing_in(TRACK) >> KEYED & 1


# --- required, and not there


@pytest.mark.parametrize(
    ("profile", "missing"),
    [(STAND, 0), (TRACK, 1 << BOX), (RACE, 1 << HAND | 1 << LAST)],
)
def test_who_is_required_in_a_profile_and_was_never_heard_is_missing(bench, profile, missing):
    bench.sources.profile = profile
    assert bench.step().missing == missing
    assert bench.sources.missing_in(profile) == missing


def test_a_required_one_that_is_heard_is_not_missing_until_its_silence(bench):
    assert bench.step().missing == 1 << BOX
    bench.say()
    assert bench.step().missing == 0
    assert bench.step(SILENCE_US - BOUND - 1).missing == 0
    assert bench.step(1).missing == 1 << BOX


def test_an_optional_one_that_falls_silent_is_nobodys_stop(bench):
    bench.say(SEAT)
    bench.say(BOX)
    assert seen(bench.step()) == (1 << PIN | 1 << SEAT | 1 << BOX, 0, 0, 0)
    bench.say(BOX)
    bench.step(200_000)
    bench.say(BOX)
    assert seen(bench.step(100_000)) == (1 << PIN | 1 << BOX, 0, 0, 0)


# --- the pin and the receiver


def test_a_loop_is_always_there_and_open_is_stop(bench):
    assert seen(bench.step(closed=1))[:3] == (1, 0, 0)
    assert seen(bench.step(closed=0))[:3] == (1, 1, 0)
    assert bench.sources.stop_mask == 1
    assert seen(bench.step(closed=1))[:3] == (1, 0, 0)


@pytest.mark.parametrize(
    ("is_live", "mode", "fresh", "said"),
    [(False, 0, 0, 0), (False, 1, 0, 0), (True, 0, 1, 1), (True, 1, 1, 0), (True, 2, 1, 0)],
)
def test_a_receiver_is_there_while_it_is_live_and_says_stop_by_its_switch(
    bench, is_live, mode, fresh, said
):
    bench.rc.is_live, bench.rc.mode = is_live, mode
    bench.step()
    assert (bench.sources.fresh >> HAND & 1, bench.sources.asserted >> HAND & 1) == (fresh, said)


def test_a_receiver_that_never_heard_anything_is_not_there(bench):
    bench.rc.step(VirtualBoard(bytes(8), b"", 1), 0)
    assert not bench.step().fresh >> HAND & 1


# --- how to stop


@pytest.mark.parametrize(
    ("bits", "policy"),
    [
        (0, BRAKE), (1 << PIN, BRAKE), (1 << HAND, NEUTRAL), (1 << BOX, CUT), (1 << LAST, NEUTRAL),
        (1 << PIN | 1 << HAND, NEUTRAL), (1 << HAND | 1 << BOX | 1 << LAST, CUT),
        (1 << UNKNOWN, BRAKE),
    ],
)  # fmt: skip
def test_the_strictest_policy_of_those_that_stop_it_is_taken(bench, bits, policy):
    assert bench.sources.policy_of(bits) == policy
