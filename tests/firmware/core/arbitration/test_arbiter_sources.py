"""Sources of other kinds: the board's own, one with a kill-switch, one pressed anew, and many."""

import pytest

from firmware.core.arbitration.arbiter import Arbiter
from firmware.core.clock import OWN
from tests.firmware.core.arbitration.offering import (
    ACCEPTED,
    ATTENDED,
    AUX_1,
    AUX_4,
    DRIVE,
    HELD,
    LEASE_TOO_LONG,
    LIGHTS,
    NO_WINNERS,
    NOBODY,
    NOT_ENGAGED,
    NOT_PERMITTED,
    ON_BOARD,
    OTHER_WRITER,
    OTHERS,
    OUT_OF_SEQUENCE,
    OUTRANKED,
    PAD,
    PERMITS,
    PROGRAM,
    SEAT,
    STEERING,
    UNKNOWN_SOURCE,
    UNPERMITTED,
    WINS,
    Bench,
)
from tests.firmware.core.desk import OWN_EPOCH, claim_of, params_with, sure_sessions

RC = 0
BOX, LOOP = 3, 0  # stop sources
REPRESS_MS = 1000


@pytest.fixture
def bench():
    return Bench()


# --- the receiver on the board


class OwnBench(Bench):
    """With a receiver on board, whose source may have all and outranks all."""

    def __init__(self, mask=15, **values) -> None:
        masks = [mask, 15, 15, 0, 7]
        priorities = [200, 120, 100, 0, 20]
        flags = [ATTENDED, ATTENDED, ATTENDED]
        super().__init__(
            source_mask=masks, source_priority=priorities, source_flags=flags, **values
        )
        self.arbiter.has_receiver = True

    def own(self, **changes) -> int:
        self.sequence += 1
        fields = {
            "epoch": OWN_EPOCH, "source": RC, "sequence": self.sequence, "mask": STEERING | DRIVE,
            "deadman": HELD, "lease_ms": 60, "stamp_us": self.now_us,
        }  # fmt: skip
        return self.arbiter.receive_own(claim_of(**{**fields, **changes}), self.now_us)


def test_nobody_speaks_for_a_receiver_that_is_on_the_board():
    bench = OwnBench()
    assert bench.say(RC) == ON_BOARD
    assert bench.say(RC, mask=255, lease_ms=999) == ON_BOARD
    assert bench.say(PAD) == ACCEPTED
    assert (bench.arbiter.refused, bench.arbiter.accepted) == (2, 1)
    bench.arbiter.has_receiver = False
    assert bench.say(RC) == ACCEPTED


def test_a_receiver_that_is_not_in_the_file_is_an_unknown_source():
    bench = OwnBench(mask=0)
    assert bench.own() == UNKNOWN_SOURCE
    assert bench.say(RC) == UNKNOWN_SOURCE
    assert (bench.arbiter.refused, bench.arbiter.accepted) == (2, 0)


def test_what_the_receiver_claims_is_of_the_boards_own_session():
    bench = OwnBench()
    bench.now_us = 70_000
    assert bench.own(sequence=9) == ACCEPTED
    own = bench.sessions.slots[OWN]
    assert (own.claim_sequence, own.claim_count) == (9, 1)
    assert (bench.arbiter.newest_slot, bench.arbiter.accepted_us) == (OWN, 70_000)
    assert bench.arbiter.sources[RC].slot == OWN
    assert bench.arbiter.accepted == 1


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"mask": 16}, NOT_PERMITTED), ({"lease_ms": 121}, LEASE_TOO_LONG),
        ({"sequence": 0}, OUT_OF_SEQUENCE), ({"mask": 15, "lease_ms": 120}, ACCEPTED),
        ({"stamp_us": 5_000_000}, ACCEPTED),
    ],
)  # fmt: skip
def test_the_receiver_needs_its_rights_but_no_clock(changes, verdict):
    bench = OwnBench()
    bench.own(sequence=0)
    bench.sequence = 7
    assert bench.own(**changes) == verdict
    assert bench.arbiter.refused == (verdict != ACCEPTED)


def test_a_host_that_claimed_as_the_receiver_is_one_writer_until_it_is_silent():
    bench = OwnBench()
    bench.arbiter.has_receiver = False
    bench.say(RC)
    assert bench.own() == OTHER_WRITER
    bench.step(200)
    assert bench.own() == ACCEPTED


@pytest.mark.parametrize(("after_us", "is_fresh"), [(59_999, True), (60_000, False)])
def test_an_own_claim_counts_for_its_whole_lease(after_us, is_fresh):
    bench = OwnBench()
    bench.own()
    assert bench.step(after_us / 1000).sources[RC].is_fresh is is_fresh


def test_the_receiver_wins_from_neutral_as_anybody():
    bench = OwnBench()
    bench.engage(PAD)
    for deadman, winner in ((0, PAD), (HELD, RC)):
        bench.own(deadman=deadman)
        bench.say(PAD)
        assert bench.step().winners[1] == winner
    assert bench.why(PAD) == OUTRANKED
    assert bench.arbiter.is_commanded_from(OWN)


# --- a live kill-switch in place of a deadman


class SwitchBench(Bench):
    def __init__(self) -> None:
        switches = [NOBODY] * 16
        switches[PROGRAM] = BOX
        super().__init__(source_kill_switch=switches)

    def run(self, switches, *, arm=False, **changes) -> Arbiter:
        self.arbiter.live_switches = switches
        assert self.say(PROGRAM, deadman=0, **changes) == ACCEPTED
        if arm:
            self.arbiter.begin_from_neutral(self.now_us)
        return self.step()


LIVE = 1 << BOX


def test_with_a_live_switch_and_an_arm_a_program_drives_without_a_deadman():
    bench = SwitchBench()
    assert bench.run(LIVE).winners == NO_WINNERS
    assert bench.why(PROGRAM) == NOT_ENGAGED
    assert bench.run(LIVE, arm=True, speed_mm_s=500).winners[:2] == [PROGRAM, PROGRAM]
    assert bench.why(PROGRAM) == WINS


@pytest.mark.parametrize("switches", [0, 1 << LOOP, 1 << BOX - 1, 1 << BOX + 1])
def test_a_switch_that_is_not_live_permits_nothing(switches):
    bench = SwitchBench()
    bench.run(LIVE)
    assert bench.run(switches, arm=True).winners == NO_WINNERS
    assert bench.why(PROGRAM) == UNPERMITTED


def test_a_switch_that_comes_back_is_no_person():
    bench = SwitchBench()
    bench.run(LIVE)
    assert bench.run(LIVE, arm=True).winners[1] == PROGRAM
    assert bench.run(0).winners == NO_WINNERS
    assert bench.run(LIVE).winners == NO_WINNERS
    assert bench.why(PROGRAM) == NOT_ENGAGED
    assert bench.run(LIVE, arm=True).winners[1] == PROGRAM


def test_a_deadman_is_no_switch():
    bench = SwitchBench()
    bench.say(SEAT, deadman=0, mask=0)
    bench.run(0)
    bench.say(SEAT, deadman=HELD | PERMITS, mask=0)
    assert bench.run(0, arm=True).winners == NO_WINNERS


def test_a_program_that_is_silent_at_the_arm_waits_for_another():
    bench = SwitchBench()
    bench.run(LIVE)
    bench.step(200)
    bench.arbiter.begin_from_neutral(bench.now_us)
    assert bench.run(LIVE).winners == NO_WINNERS
    assert bench.why(PROGRAM) == NOT_ENGAGED
    assert bench.run(LIVE, arm=True).winners[1] == PROGRAM
    bench.step(200)
    assert bench.run(LIVE).winners == NO_WINNERS


# --- a deadman that has to be pressed anew


class PressBench(Bench):
    def __init__(self) -> None:
        super().__init__(source_repress_ms=[0, 0, REPRESS_MS] + [0] * 13)

    def hold(self, source: int, for_ms: int, deadman=HELD) -> int:
        for _ in range(for_ms // 10):
            self.say(source, deadman=deadman)
            self.step()
        return self.arbiter.winners[1]


def test_a_deadman_counts_for_its_time_and_has_then_to_be_let_go():
    bench = PressBench()
    bench.say(SEAT, deadman=0)
    bench.step()
    bench.say(SEAT)
    began_us = bench.now_us
    assert bench.hold(SEAT, REPRESS_MS - 10) == SEAT
    bench.say(SEAT)
    assert bench.step((began_us + REPRESS_MS * 1000 - bench.now_us - 1) / 1000).winners[1] == SEAT
    assert bench.step(0.001).winners[1] == NOBODY
    assert bench.why(SEAT) == NOT_ENGAGED
    assert bench.hold(SEAT, 500) == NOBODY
    assert bench.hold(SEAT, 10, deadman=0) == NOBODY
    assert bench.hold(SEAT, 20) == SEAT


def test_letting_go_in_between_begins_its_time_anew():
    bench = PressBench()
    bench.hold(SEAT, 10, deadman=0)
    for _ in range(5):
        assert bench.hold(SEAT, REPRESS_MS - 100) == SEAT
        bench.hold(SEAT, 10, deadman=0)


def test_who_comes_back_from_silence_has_its_time_again():
    bench = PressBench()
    bench.hold(SEAT, 10, deadman=0)
    bench.hold(SEAT, 900)
    bench.step(200)
    bench.hold(SEAT, 50)
    assert bench.why(SEAT) == NOT_ENGAGED
    bench.hold(SEAT, 10, deadman=0)
    assert bench.hold(SEAT, 900) == SEAT


def test_a_key_that_is_stuck_permits_nobody_for_longer_than_it_counts():
    bench = PressBench()
    stuck = {"deadman": HELD | PERMITS, "mask": 0}
    for _ in range(2):
        bench.say(SEAT, deadman=0, mask=0)
        bench.say(PROGRAM, deadman=0)
        bench.step()
        winners = set()
        for _ in range(REPRESS_MS // 10 - 1):
            bench.say(SEAT, **stuck)
            bench.say(PROGRAM, deadman=0)
            winners.add(bench.step().winners[1])
        assert winners == {PROGRAM}
        for _ in range(5):
            bench.say(SEAT, **stuck)
            bench.say(PROGRAM, deadman=0)
            bench.step()
        assert (bench.arbiter.winners[1], bench.why(PROGRAM)) == (NOBODY, UNPERMITTED)


def test_another_deadman_counts_for_ever():
    bench = PressBench()
    bench.hold(PAD, 10, deadman=0)
    assert bench.hold(PAD, 3 * REPRESS_MS) == PAD


# --- many, and all actuators


def test_each_of_sixteen_sources_has_its_own_actuators_by_its_own_priority():
    """Source i has the priority 16 * i and wants actuator i % 8: 8 to 15 outrank 0 to 7."""
    bench = Bench(
        source_mask=[255] * 16, source_priority=list(range(0, 256, 16)),
        source_flags=[ATTENDED] * 16, source_needs=[NOBODY] * 16,
    )  # fmt: skip
    for deadman in (0, HELD):
        for source in range(16):
            assert bench.say(source, deadman=deadman, mask=1 << source % 8) == ACCEPTED
        bench.step()
    assert bench.arbiter.winners == list(range(8, 16))
    assert [bench.why(source) for source in (1, 2, 9, 10)] == [OUTRANKED] * 2 + [WINS] * 2
    for source in range(16):
        bench.say(source, deadman=HELD if source < 8 else 0, mask=1 << source % 8)
    assert bench.step().winners == list(range(8))


def test_a_source_wants_of_an_actuator_what_its_claim_says():
    bench = Bench(source_mask=[0, 255, 255])
    for deadman in (0, HELD):
        bench.say(PAD, deadman=deadman, mask=AUX_1 | AUX_4, aux_1=11, aux_4=14)
        bench.say(SEAT, deadman=deadman, mask=AUX_4 | LIGHTS, aux_4=24, lights=3)
        bench.step()
    assert bench.arbiter.winners == [NOBODY] * 3 + [SEAT, PAD, NOBODY, NOBODY, PAD]
    assert bench.arbiter.sources[PAD].levels.tolist() == [0, 0, 0, 0, 11, 0, 0, 14]
    assert bench.arbiter.sources[SEAT].levels.tolist() == [0, 0, 0, 3, 0, 0, 0, 24]


def test_of_equals_the_lower_id_wins_wherever_it_stands_in_the_table():
    bench = Bench(source_priority=[7] * 16, source_flags=[ATTENDED] * 16, source_mask=[2] * 16)
    assert [source.id for source in bench.arbiter.active] == list(range(16))
    bench.engage(*range(15, 4, -1), mask=DRIVE)
    assert bench.arbiter.winners[1] == 5


def test_a_new_configuration_ranks_anew():
    arbiter = Arbiter(sure_sessions(OTHERS))
    for priorities, ranked in (([1, 2, 3], [2, 1, 0]), ([0, 255, 254], [1, 2, 0])):
        arbiter.configure(params_with(source_mask=[15, 15, 15], source_priority=priorities))
        assert [source.id for source in arbiter.active] == ranked
