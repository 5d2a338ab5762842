"""S6, S7: who commands each actuator, and what is refused."""

import pytest

from firmware.core.arbiter import Arbiter, Source
from tests.firmware.core.desk import claim_of, params_with, sure_sessions

STEERING, DRIVE, BRAKE, LIGHTS = 1, 2, 4, 8
HELD, PERMITS = 1, 2
NOBODY = 255
STOPS, YIELDS = 0, 1
ATTENDED, COUNTS = 1, 2
(ACCEPTED, UNKNOWN_EPOCH, UNKNOWN_SOURCE, OTHER_WRITER, OUT_OF_SEQUENCE, NOT_PERMITTED,
 LEASE_TOO_LONG, CLOCK_UNSURE, FROM_FUTURE, TOO_OLD) = range(10)  # fmt: skip
WINS, OUTRANKED, EXPIRED, NO_DEADMAN, NOT_NEUTRAL, NOT_ENGAGED = range(6)  # as in losers
PAD, SEAT, PROGRAM, LAST = 1, 2, 4, 15
US, OTHERS = 1001, 1002
BOUND = 1000


class Bench:
    """An arbiter that hears claims of two hosts, at a time that is set by hand."""

    def __init__(self, **values) -> None:
        masks, priorities, flags, needs = [0] * 16, [0] * 16, [0] * 16, [NOBODY] * 16
        for source, mask, priority, flag in (
            (PAD, 15, 120, ATTENDED | COUNTS),
            (SEAT, 15, 100, ATTENDED),
            (PROGRAM, STEERING | DRIVE | BRAKE, 20, 0),
            (LAST, DRIVE, 200, ATTENDED),
        ):
            masks[source], priorities[source], flags[source] = mask, priority, flag
        needs[PROGRAM] = SEAT
        self.sessions = sure_sessions(US, OTHERS, bound_us=BOUND)
        self.arbiter = Arbiter(self.sessions)
        given = {
            "source_mask": masks, "source_priority": priorities, "source_flags": flags,
            "source_needs": needs, "source_lease_ms": [120] * 16,
            "source_cap_mm_s": list(range(100, 1700, 100)), "source_on_silence": [STOPS] * 16,
            "clock_bound_us": 10_000, "frozen_ms": 200,
        }  # fmt: skip
        self.arbiter.configure(params_with(**{**given, **values}))
        self.now_us = 0
        self.sequence = 0
        self.count = 0

    def say(self, source=PAD, **changes) -> int:
        self.sequence += 1
        self.count += 1
        fields = {
            "epoch": US, "source": source, "sequence": self.sequence, "mask": STEERING | DRIVE,
            "deadman": HELD, "input_count": self.count, "lease_ms": 120, "stamp_us": self.now_us,
        }  # fmt: skip
        return self.arbiter.receive(claim_of(**{**fields, **changes}), self.now_us)

    def step(self, ms: float = 10) -> "Arbiter":
        self.now_us += round(ms * 1000)
        self.arbiter.step(self.now_us)
        return self.arbiter

    def engage(self, *sources: int, **changes) -> None:
        """Released, then held from neutral."""
        for deadman in (0, HELD):
            for source in sources:
                assert self.say(source, deadman=deadman, **changes) == ACCEPTED
            self.step()

    def why(self, source: int) -> int:
        return self.arbiter.losers[source]


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
    wishes = (source.deadman, source.input_count, source.claimed, source.steer_urad)
    assert (*wishes, source.speed_mm_s, source.brake, source.lights) == (0,) * 7
    assert (source.is_fresh, source.fell_silent, source.is_frozen) == (False, False, False)
    assert not source.is_held()
    assert not source.is_engaged()
    assert not source.permits()
    source.step(0)
    assert (source.fell_silent, source.is_frozen, source.gate) == (False, False, 0)


def test_nobody_has_anything_at_first():
    arbiter = Arbiter(sure_sessions(US))
    assert arbiter.winners == [NOBODY] * 4
    assert arbiter.losers == [0] * 16
    assert [source.id for source in arbiter.sources] == list(range(16))
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


def test_accepted_claims_are_counted_by_session_across_the_wrap(bench):
    bench.sessions.slots[0].claim_count = 65534
    counts = []
    for _ in range(3):
        bench.say()
        counts.append(bench.sessions.slots[0].claim_count)
    assert counts == [65535, 0, 1]
    assert (bench.arbiter.newest_slot, bench.arbiter.accepted) == (0, 3)


def test_a_claim_is_kept_in_all_its_parts(bench):
    bench.say(steer_urad=-5, speed_mm_s=77, brake=9, lights=3, deadman=3, mask=13, sequence=8)
    source = bench.arbiter.sources[PAD]
    kept = (source.steer_urad, source.speed_mm_s, source.brake, source.lights, source.deadman)
    assert kept == (-5, 77, 9, 3, 3)
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
    assert [source.id for source in bench.arbiter.active] == [PAD, SEAT, PROGRAM, LAST]


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


# --- the gate


def test_a_deadman_held_from_the_beginning_wins_nothing(bench):
    for _ in range(3):
        bench.say()
        assert bench.step().winners == [NOBODY] * 4
    assert bench.why(PAD) == NOT_ENGAGED
    assert not bench.arbiter.sources[PAD].is_engaged()


def test_one_begins_by_letting_go_and_then_from_neutral(bench):
    bench.say(deadman=0)
    assert bench.step().winners == [NOBODY] * 4
    assert bench.why(PAD) == NO_DEADMAN
    for speed in (1, -1):
        bench.say(speed_mm_s=speed)
        assert bench.step().winners == [NOBODY] * 4
        assert bench.why(PAD) == NOT_NEUTRAL
    bench.say(speed_mm_s=0)
    assert bench.step().winners == [PAD, PAD, NOBODY, NOBODY]
    bench.say(speed_mm_s=500)
    assert bench.step().winners == [PAD, PAD, NOBODY, NOBODY]
    assert bench.why(PAD) == WINS
    assert bench.arbiter.sources[PAD].is_engaged()


def test_letting_go_ends_command_at_once_and_driving_on_begins_from_neutral(bench):
    bench.engage(PAD)
    bench.say(deadman=PERMITS)  # permitting is not holding
    assert bench.step().winners == [NOBODY] * 4
    assert bench.why(PAD) == NO_DEADMAN
    bench.say(speed_mm_s=5)
    assert bench.step().winners == [NOBODY] * 4
    bench.say()
    assert bench.step().winners[1] == PAD


def test_who_fell_silent_has_to_let_go_before_it_wins_again(bench):
    bench.engage(PAD)
    bench.step(200)
    assert bench.why(PAD) == EXPIRED
    for _ in range(2):
        bench.say()
        assert bench.step().winners == [NOBODY] * 4
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
    assert bench.step().winners == [NOBODY] * 4
    assert (bench.why(PAD), bench.why(LAST)) == (NOT_NEUTRAL, NOT_ENGAGED)
    bench.say(speed_mm_s=0)
    assert bench.step().winners[1] == PAD


def both(bench, seat_deadman, **changes):
    assert bench.say(SEAT, deadman=seat_deadman, mask=0) == ACCEPTED
    assert bench.say(PROGRAM, deadman=0, **changes) == ACCEPTED
    return bench.step()


def test_autonomy_needs_a_permission_that_was_given_anew(bench):
    assert both(bench, HELD | PERMITS).winners == [NOBODY] * 4
    assert bench.why(PROGRAM) == NOT_ENGAGED
    for no in (HELD, PERMITS, 0):
        assert both(bench, no).winners == [NOBODY] * 4
        assert bench.why(PROGRAM) == NO_DEADMAN
    assert both(bench, HELD | PERMITS, speed_mm_s=50).winners[:2] == [PROGRAM] * 2
    assert bench.why(PROGRAM) == WINS
    bench.arbiter.begin_from_neutral(bench.now_us)
    assert both(bench, HELD | PERMITS).winners == [NOBODY] * 4
    assert bench.why(PROGRAM) == NOT_ENGAGED


def test_autonomy_ends_when_its_person_falls_silent(bench):
    both(bench, 0)
    assert both(bench, 3).winners[1] == PROGRAM
    bench.step(80)
    bench.say(PROGRAM, deadman=0)
    assert bench.step(50).winners == [NOBODY] * 4


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
    assert bench.step().winners == [NOBODY] * 4
    assert bench.why(PROGRAM) == NOT_ENGAGED


@pytest.mark.parametrize("needs", [16, NOBODY])
def test_autonomy_that_needs_nobody_known_is_never_permitted(needs):
    bench = Bench(source_needs=[needs] * 16)
    both(bench, 0)
    assert both(bench, 3).winners == [NOBODY] * 4


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
    assert bench.step().winners == [SEAT, PAD, SEAT, SEAT]
    assert (bench.why(SEAT), bench.why(PAD)) == (WINS, WINS)
    bench.say(SEAT, mask=DRIVE)
    bench.say(PAD, mask=DRIVE)
    assert bench.step().winners == [NOBODY, PAD, NOBODY, NOBODY]
    assert bench.why(SEAT) == OUTRANKED


def test_of_equals_the_first_wins():
    bench = Bench(source_priority=[0] * 16)
    bench.engage(PAD, SEAT)
    assert bench.arbiter.winners == [PAD, PAD, NOBODY, NOBODY]


def test_who_wants_no_motion_loses_none(bench):
    bench.say(mask=STEERING | LIGHTS)
    bench.step()
    assert bench.why(PAD) == WINS
    for mask in (DRIVE, BRAKE):
        bench.say(mask=mask)
        bench.step()
        assert bench.why(PAD) == NOT_ENGAGED


def test_who_never_came_is_not_named_as_a_loser(bench):
    bench.step()
    assert bench.arbiter.losers == [0] * 16


def test_who_is_in_command_is_known_by_session(bench):
    bench.engage(SEAT)
    assert bench.arbiter.is_commanded_from(0) is True
    assert bench.arbiter.is_commanded_from(1) is False
    bench.step(200)
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
    assert bench.arbiter.winners == [NOBODY] * 4
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


def test_an_input_that_comes_back_from_silence_has_its_time_again(bench):
    bench.engage(PAD)
    bench.step(300)
    bench.say(input_count=2)
    assert bench.step().frozen_source == NOBODY
