"""A stop source's words over the link: what is obeyed, and what is believed."""

import pytest

from firmware.core.stops.runstop import UNAUTHENTICATED
from tests.firmware.core.stops.stop_words import (
    BOUND,
    BOX,
    HAND,
    KINDS,
    LOOP,
    NONE,
    OTHERS,
    PERIOD,
    PIN,
    RC,
    SEAT,
    SILENCE_US,
    UNKNOWN,
    Bench,
    seen,
)


@pytest.fixture
def bench():
    return Bench()


# --- words over the link


def test_a_stop_is_said_until_the_same_one_says_run(bench):
    bench.say(runs=0)
    assert seen(bench.step()) == (1 | 1 << BOX, 1 << BOX, 1 << BOX, 0)
    assert bench.sources.stop_mask == 1 << BOX
    assert seen(bench.step(10_000)) == (1 | 1 << BOX, 1 << BOX, 0, 0)
    bench.say(runs=1)
    assert seen(bench.step()) == (1 | 1 << BOX, 0, 0, 0)
    assert bench.sources.stop_mask == 0


@pytest.mark.parametrize("who", [0, BOX, 15])
def test_a_stop_of_a_box_that_is_not_this_car_s_is_told_as_such_and_stops_as_any(bench, who):
    """Bits beyond those of the stop sources say whose box it was not; they are no stop sources."""
    assert len(bench.sources.all) == UNAUTHENTICATED
    told = 1 << who | 1 << who << UNAUTHENTICATED
    bench.sources.heard_mask = told
    bench.step()
    assert (bench.sources.received, bench.sources.stop_mask) == (told, 1 << who)
    bench.step()
    assert (bench.sources.received, bench.sources.stop_mask) == (0, 0)


def test_one_that_said_stop_and_fell_silent_says_nothing_any_more(bench):
    bench.say(runs=0)
    bench.step()
    assert seen(bench.step(SILENCE_US)) == (1, 0, 0, 1 << BOX)


STALE = {"stamp_us": 1_000_000 - SILENCE_US}
NOT_BELIEVED = [
    {"epoch": 999}, {"sequence": 0}, {"sequence": 32768}, STALE, {"stamp_us": 1_001_001},
    {"stop_source": UNKNOWN}, {"stop_source": PIN}, {"stop_source": HAND},
]  # fmt: skip


@pytest.mark.parametrize("changes", NOT_BELIEVED)
def test_a_stop_is_obeyed_whoever_says_it_however_old_and_in_whosever_name(changes):
    bench = Bench(1_000_000)
    bench.sources.all[BOX].slot = 0
    bench.say(runs=0, **changes)
    named = 1 << changes.get("stop_source", BOX)
    assert seen(bench.step())[1:3] == (0, named)
    assert bench.sources.stop_mask == named
    assert bench.step().stop_mask == 0


@pytest.mark.parametrize("changes", NOT_BELIEVED)
def test_a_run_that_is_not_to_be_believed_refreshes_nothing(changes):
    bench = Bench(1_000_000)
    bench.sources.all[BOX].slot = 0
    bench.say(**changes)
    assert seen(bench.step()) == (1, 0, 0, 1 << BOX)


@pytest.mark.parametrize(
    ("stamp_us", "left_us"),
    [(0, 249_000), (-1, 248_999), (-249_000, 0), (-248_999, 1), (1, 249_000), (BOUND, 249_000)],
)
def test_a_word_counts_from_its_stamp_less_what_the_clock_may_be_wrong(stamp_us, left_us):
    bench = Bench(1_000_000)
    bench.say(stamp_us=1_000_000 + stamp_us)
    assert bench.step().fresh >> BOX & 1 == (left_us > 0)
    if left_us:
        assert bench.step(left_us - 1).fresh >> BOX & 1
        assert not bench.step(1).fresh >> BOX & 1


def test_a_badly_known_clock_shortens_a_word_and_an_unknown_one_ends_it(bench):
    """A radio is slower than a cable; whatever it may be wrong by, silence is noticed in time."""
    bench.sessions.slots[0].bound_us = 65_534
    bench.say()
    assert bench.step(SILENCE_US - 65_534 - 1).fresh >> BOX & 1
    assert not bench.step(1).fresh >> BOX & 1
    bench.sessions.slots[0].bound_us = 65_535
    bench.say()
    assert not bench.step().fresh >> BOX & 1


def test_age_is_told_by_the_sessions_own_clock(bench):
    bench.sessions.slots[0].offset_us = 700_000
    bench.say()
    assert not bench.step().fresh >> BOX & 1
    bench.say(stamp_us=700_000)
    assert bench.step().fresh >> BOX & 1


@pytest.mark.parametrize("start_us", [PERIOD - 300_000, PERIOD // 2 - 300_000, PERIOD - 1])
def test_silence_is_judged_right_across_every_wrap(start_us):
    bench = Bench(start_us)
    for _ in range(5):
        bench.say()
        assert bench.step(200_000).missing == 0
    bench.say()
    assert bench.step(SILENCE_US - BOUND - 1).missing == 0
    assert bench.step(1).missing == 1 << BOX


# --- one writer, each word once


@pytest.mark.parametrize(
    ("ahead", "is_new"), [(0, 0), (1, 1), (32767, 1), (32768, 0), (32769, 0), (65535, 0)]
)
def test_a_word_counts_once_and_those_before_it_never(bench, ahead, is_new):
    bench.say(sequence=40_000, runs=0)
    bench.step()
    bench.say(sequence=(40_000 + ahead) % 65536, runs=1)
    assert bench.step().asserted >> BOX & 1 == 1 - is_new


def test_a_stop_source_has_one_writer_as_long_as_it_is_fresh(bench):
    bench.say(runs=0)
    bench.step()
    bench.say(epoch=OTHERS, runs=1, sequence=900)
    assert bench.step().asserted == 1 << BOX
    bench.step(SILENCE_US)
    bench.say(epoch=OTHERS, runs=1, sequence=5)  # its own count begins
    assert bench.step().fresh >> BOX & 1
    assert bench.sources.all[BOX].slot == 1


def test_of_two_writers_on_one_step_the_first_is_heard(bench):
    bench.say(runs=0)
    bench.say(epoch=OTHERS, runs=1)
    assert bench.step().asserted == 1 << BOX


def test_a_silent_writer_still_cannot_go_back(bench):
    bench.say(sequence=100)
    bench.step(SILENCE_US)
    bench.say(sequence=100)
    assert not bench.step().fresh >> BOX & 1
    bench.say(sequence=101)
    assert bench.step().fresh >> BOX & 1


def test_a_session_that_lost_its_slot_is_forgotten_with_its_sequence(bench):
    bench.say(BOX, sequence=100)
    bench.say(SEAT, epoch=OTHERS, sequence=100)
    bench.step(SILENCE_US)
    bench.sources.forget(0)
    assert (bench.sources.all[BOX].slot, bench.sources.all[SEAT].slot) == (-1, 1)
    bench.say(BOX, sequence=7)
    bench.say(SEAT, epoch=OTHERS, sequence=7)
    assert bench.step().fresh == 1 | 1 << BOX


# --- another configuration

BECOMES = {kind: [kind if at == BOX else was for at, was in enumerate(KINDS)] for kind in range(3)}


@pytest.mark.parametrize("kind", [NONE, LOOP, RC])
@pytest.mark.parametrize("away_us", [10_000, PERIOD - 10_000])
def test_what_was_something_else_meanwhile_has_to_speak_again(bench, kind, away_us):
    bench.say()
    assert bench.step().fresh >> BOX & 1
    bench.configure(stop_source_kind=BECOMES[kind])
    bench.step()
    bench.configure()
    assert seen(bench.step(away_us)) == (1, 0, 0, 1 << BOX)
    bench.say()
    assert seen(bench.step()) == (1 | 1 << BOX, 0, 0, 0)


def test_what_stays_what_it_is_is_still_there(bench):
    bench.say()
    bench.configure()
    assert seen(bench.step()) == (1 | 1 << BOX, 0, 0, 0)
