"""S7: what is refused, and how long a claim counts."""

import pytest

from firmware.core.arbitration.arbiter import Arbiter
from firmware.core.arbitration.source import Source
from tests.firmware.core.arbitration.offering import (
    ACCEPTED,
    BOUND,
    CLOCK_UNSURE,
    DRIVE,
    FROM_FUTURE,
    LAST,
    LEASE_TOO_LONG,
    LIGHTS,
    NO_WINNERS,
    NOBODY,
    NOT_PERMITTED,
    OTHER_WRITER,
    OTHERS,
    OUT_OF_SEQUENCE,
    PAD,
    PROGRAM,
    SEAT,
    STEERING,
    STOPS,
    TOO_OLD,
    UNKNOWN_EPOCH,
    UNKNOWN_SOURCE,
    US,
    YIELDS,
    Bench,
)
from tests.firmware.core.desk import claim_of, params_with, sure_sessions


@pytest.fixture
def bench():
    return Bench()


# --- refusal


def test_a_source_has_no_rights_before_it_is_given_any():
    source = Source(3)
    rights = (source.mask, source.priority, source.lease_max_ms, source.cap_mm_s, source.frozen_us)
    assert rights == (0, 0, 0, 0, 0)
    assert (source.is_attended, source.has_counter, source.on_silence) == (False, False, STOPS)
    assert (source.id, source.needs, source.slot, source.sequence) == (3, NOBODY, -1, 0)
    claims = (source.deadman, source.input_count, source.claimed, source.steer_urad)
    assert (*claims, source.speed_mm_s, *source.levels) == (0,) * 13
    assert (source.is_fresh, source.fell_silent, source.is_frozen) == (False, False, False)
    assert (source.kill_switch, source.repress_us) == (NOBODY, 0)
    assert not source.is_engaged()
    assert not source.permits()
    source.step(0)
    assert (source.fell_silent, source.is_frozen, source.gate) == (False, False, 0)


def test_nobody_has_anything_at_first():
    arbiter = Arbiter(sure_sessions(US))
    assert arbiter.winners == NO_WINNERS
    assert arbiter.losers == [0] * 16
    assert [source.id for source in arbiter.sources] == [NOBODY] * 16
    assert not any(source.mask or source.permits() for source in arbiter.sources)
    assert arbiter.active == ()
    assert (arbiter.silent_source, arbiter.frozen_source) == (NOBODY, NOBODY)
    counts = (arbiter.newest_slot, arbiter.accepted_us, arbiter.accepted, arbiter.refused)
    assert counts == (0, 0, 0, 0)
    assert not arbiter.attended.is_open
    assert arbiter.receive(claim_of(epoch=US, source=1), 0) == UNKNOWN_SOURCE


def test_an_unconfigured_arbiter_trusts_no_clock():
    arbiter = Arbiter(sure_sessions(US, bound_us=1))
    source = arbiter.sources[1]
    source.mask, source.lease_max_ms = DRIVE, 100
    claim = claim_of(epoch=US, source=1, sequence=1, mask=DRIVE, lease_ms=100, stamp_us=0)
    assert arbiter.receive(claim, 0) == CLOCK_UNSURE


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"epoch": 999}, UNKNOWN_EPOCH),
        ({"source": 0}, UNKNOWN_SOURCE),
        ({"source": 16}, UNKNOWN_SOURCE),
        ({"source": 254}, UNKNOWN_SOURCE),
        ({"source": PROGRAM, "mask": LIGHTS}, NOT_PERMITTED),
        ({"source": PROGRAM, "mask": 15}, NOT_PERMITTED),
        ({"source": LAST, "mask": DRIVE | STEERING}, NOT_PERMITTED),
        ({"lease_ms": 121}, LEASE_TOO_LONG),
        ({"stamp_us": 500_000 + BOUND + 1}, FROM_FUTURE),
        ({"stamp_us": 500_000 - 120_000 + BOUND}, TOO_OLD),
    ],
)
def test_a_claim_that_may_not_be_is_refused_and_refreshes_nothing(bench, changes, verdict):
    bench.now_us = 500_000
    assert bench.say(**changes) == verdict
    assert (bench.arbiter.refused, bench.arbiter.accepted) == (1, 0)
    assert not any(source.is_fresh for source in bench.arbiter.sources)
    assert bench.sessions.slots[0].claim_count == 0


@pytest.mark.parametrize(
    "changes",
    [
        {}, {"source": LAST, "mask": DRIVE}, {"source": PROGRAM, "mask": 7}, {"lease_ms": 119},
        {"stamp_us": 500_000 + BOUND}, {"stamp_us": 500_000 - 120_000 + BOUND + 1}, {"mask": 0},
    ],
)  # fmt: skip
def test_a_claim_at_the_edge_of_what_may_be_is_accepted(bench, changes):
    bench.now_us = 500_000
    assert bench.say(**changes) == ACCEPTED
    assert (bench.arbiter.refused, bench.arbiter.accepted) == (0, 1)
    assert bench.arbiter.accepted_us == 500_000


def test_claims_count_only_while_the_clock_is_sure_enough(bench):
    bench.sessions.slots[0].bound_us = 10_001
    assert bench.say() == CLOCK_UNSURE
    bench.sessions.slots[0].bound_us = 10_000
    assert bench.say() == ACCEPTED


@pytest.mark.parametrize("lease_ms", [20, 60, 100, 120])
def test_what_the_clock_may_be_wrong_is_a_quarter_of_the_lease_at_most(lease_ms):
    """Beyond, most of a claim's time would be gone before it came; sooner where the file says."""
    bench = Bench(clock_bound_us=30_000)
    bench.sessions.slots[0].bound_us = lease_ms * 250 + 1
    assert bench.say(lease_ms=lease_ms) == CLOCK_UNSURE
    bench.sessions.slots[0].bound_us = lease_ms * 250
    assert bench.say(lease_ms=lease_ms) == ACCEPTED


def test_a_worse_clock_takes_off_a_claims_time_what_it_may_be_wrong():
    bench = Bench(clock_bound_us=30_000)
    bench.sessions.slots[0].bound_us = 30_000
    assert bench.say() == ACCEPTED
    assert bench.step(89.999).sources[PAD].is_fresh
    assert not bench.step(0.001).sources[PAD].is_fresh


def test_age_is_told_by_the_sessions_own_clock(bench):
    bench.sessions.slots[0].offset_us = 700_000
    assert bench.say() == TOO_OLD
    assert bench.say(stamp_us=700_000) == ACCEPTED
    assert bench.say(stamp_us=702_000) == FROM_FUTURE


@pytest.mark.parametrize("ahead", [0, 32768, 32769, 65535])
def test_what_is_not_ahead_in_sequence_is_refused(bench, ahead):
    assert bench.say(sequence=40_000) == ACCEPTED
    assert bench.say(sequence=(40_000 + ahead) % 65536) == OUT_OF_SEQUENCE


@pytest.mark.parametrize("ahead", [1, 32767])
def test_what_is_ahead_in_sequence_is_accepted_across_the_wrap(bench, ahead):
    assert bench.say(sequence=40_000) == ACCEPTED
    assert bench.say(sequence=(40_000 + ahead) % 65536) == ACCEPTED
    assert bench.sessions.slots[0].claim_sequence == (40_000 + ahead) % 65536


def test_a_silent_writer_still_cannot_go_back(bench):
    bench.say(sequence=100)
    bench.step(200)
    assert bench.say(sequence=100) == OUT_OF_SEQUENCE
    assert bench.say(sequence=101) == ACCEPTED


def test_a_source_has_one_writer_as_long_as_it_is_fresh(bench):
    bench.say(sequence=100)
    assert bench.say(epoch=OTHERS, sequence=200) == OTHER_WRITER
    bench.step(200)
    assert bench.say(epoch=OTHERS, sequence=5) == ACCEPTED  # its own count begins
    assert bench.arbiter.newest_slot == 1


def test_a_session_that_lost_its_slot_is_forgotten_with_its_sequence(bench):
    bench.say(PAD, sequence=100)
    bench.say(SEAT, epoch=OTHERS, sequence=100)
    bench.step(200)
    bench.arbiter.forget(0)
    assert (bench.arbiter.sources[PAD].slot, bench.arbiter.sources[SEAT].slot) == (-1, 1)
    assert bench.say(PAD, sequence=7) == ACCEPTED
    assert bench.say(SEAT, epoch=OTHERS, sequence=7) == OUT_OF_SEQUENCE


def test_what_a_session_claimed_ends_as_it_loses_its_slot(bench):
    """Its clock is nobody's then: the car once drove on, judged by its receiver's own clock."""
    bench.say(PAD)
    bench.arbiter.forget(0)
    assert bench.arbiter.sources[PAD].is_fresh
    bench.step()
    assert not bench.arbiter.sources[PAD].is_fresh
    assert bench.arbiter.silent_source == PAD


def test_accepted_claims_are_counted_by_session_across_the_wrap(bench):
    bench.sessions.slots[0].claim_count = 65534
    counts = []
    for _ in range(3):
        bench.say()
        counts.append(bench.sessions.slots[0].claim_count)
    assert counts == [65535, 0, 1]
    assert (bench.arbiter.newest_slot, bench.arbiter.accepted) == (0, 3)


def test_a_claim_is_kept_in_all_its_parts(bench):
    levels = {"brake": 9, "lights": 3, "aux_1": 11, "aux_2": 12, "aux_3": 13, "aux_4": 14}
    bench.say(steer_urad=-5, speed_mm_s=77, deadman=3, mask=13, sequence=8, **levels)
    source = bench.arbiter.sources[PAD]
    kept = (source.steer_urad, source.speed_mm_s, list(source.levels), source.deadman)
    assert kept == (-5, 77, [0, 0, 9, 3, 11, 12, 13, 14], 3)
    assert (source.claimed, source.sequence, source.slot, source.is_fresh) == (13, 8, 0, True)
    assert source.input_count == 1


def test_configuration_gives_each_source_its_own_row(bench):
    source = bench.arbiter.sources[PROGRAM]
    row = (source.mask, source.priority, source.lease_max_ms, source.cap_mm_s, source.needs)
    assert row == (7, 20, 120, 500, SEAT)
    assert (source.is_attended, source.has_counter, source.on_silence) == (False, False, STOPS)
    assert source.frozen_us == 200_000
    pad = bench.arbiter.sources[PAD]
    assert (pad.is_attended, pad.has_counter) == (True, True)
    assert [source.id for source in bench.arbiter.active] == [LAST, PAD, SEAT, PROGRAM]


# --- freshness


@pytest.mark.parametrize(
    ("stamp_us", "until_us"),
    [(0, 120_000 - BOUND), (-50_000, 70_000 - BOUND), (BOUND, 120_000 - BOUND)],
)
def test_a_claim_expires_at_the_earlier_of_stamp_and_arrival_plus_lease_less_the_doubt(
    bench, stamp_us, until_us
):
    bench.now_us = 1_000_000
    bench.say(stamp_us=1_000_000 + stamp_us)
    source = bench.arbiter.sources[PAD]
    bench.arbiter.step(1_000_000 + until_us - 1)
    assert (source.is_fresh, source.fell_silent) == (True, False)
    bench.arbiter.step(1_000_000 + until_us)
    assert (source.is_fresh, source.fell_silent, source.deadman) == (False, True, 0)
    bench.arbiter.step(1_000_000 + until_us + 1)
    assert source.fell_silent is False


def test_silence_is_named_on_its_step_and_only_where_it_is_a_stop(bench):
    bench.arbiter.sources[SEAT].on_silence = YIELDS
    bench.say(PAD)
    bench.say(SEAT)
    assert bench.step(100).silent_source == NOBODY
    bench.say(PAD)
    assert bench.step(100).silent_source == NOBODY
    assert bench.step(100).silent_source == PAD
    assert bench.step().silent_source == NOBODY


def test_somebody_is_there_until_three_seconds_after_the_last_claim_or_the_arm(bench):
    assert not bench.step().attended.is_open
    bench.arbiter.begin_from_neutral(bench.now_us)
    assert bench.step(2999.999).attended.is_open
    assert not bench.step(0.001).attended.is_open
    bench.say()
    assert bench.step(10).attended.is_open
    assert bench.step(2999.999).attended.is_open
    assert not bench.step(0.001).attended.is_open


def test_a_car_has_objects_of_the_sources_that_it_knows_alone():
    arbiter = Arbiter(sure_sessions(US))
    masks = [0] * 16
    masks[2] = masks[5] = 3
    arbiter.configure(params_with(source_mask=masks))
    assert [source.id for source in arbiter.sources if source.mask] == [2, 5]
    strangers = [source for source in arbiter.sources if not source.mask]
    assert len(strangers) == 14
    assert len(set(map(id, strangers))) == 1
    second = arbiter.sources[2]
    masks[5], masks[7] = 0, 1
    arbiter.configure(params_with(source_mask=masks))
    assert arbiter.sources[2] is second, "what it said last is not forgotten"
    assert [source.id for source in arbiter.sources if source.mask] == [2, 7]
    assert arbiter.sources[5] is arbiter.sources[0]
