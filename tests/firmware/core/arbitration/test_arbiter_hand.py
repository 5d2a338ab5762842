"""A hand ends autonomy: no program drives on before a person permits it anew (S4, S6)."""

import pytest

from tests.firmware.core.arbitration.offering import (
    ACCEPTED,
    BRAKE,
    DRIVE,
    HELD,
    LIGHTS,
    NO_WINNERS,
    NOBODY,
    NOT_ENGAGED,
    OUTRANKED,
    PAD,
    PERMITS,
    PROGRAM,
    SEAT,
    STEERING,
    UNPERMITTED,
    Bench,
)
from tests.firmware.core.arbitration.test_arbiter_sources import (
    BOX,
    LIVE,
    RC,
    OwnBench,
    SwitchBench,
)

PERMITTED, LET_GO = HELD | PERMITS, 0


def program_and(bench: Bench, permission: int, *hands: tuple[int, dict]) -> int:
    """A step in which a program claims all it may, and who drives at its end."""
    for source, changes in hands:
        assert bench.say(source, **changes) == ACCEPTED
    assert bench.say(SEAT, deadman=permission, mask=0) == ACCEPTED
    assert bench.say(PROGRAM, deadman=0, mask=7, speed_mm_s=500) == ACCEPTED
    return bench.step().winners[1]


def permitted(bench: Bench) -> None:
    """The program drives, by a permission that was given anew."""
    program_and(bench, LET_GO)
    assert program_and(bench, PERMITTED) == PROGRAM


def taken_over(bench: Bench, permission: int = PERMITTED, **changes) -> None:
    """The pad's person takes over for a while, and lets go."""
    assert program_and(bench, permission, (PAD, {"deadman": LET_GO})) == PROGRAM
    for _ in range(3):
        program_and(bench, permission, (PAD, changes))


@pytest.mark.parametrize("mask", [STEERING, DRIVE, BRAKE, STEERING | DRIVE | BRAKE | LIGHTS])
def test_who_steers_drives_or_brakes_by_hand_has_taken_over_everything(mask):
    bench = Bench()
    permitted(bench)
    taken_over(bench, mask=mask)
    held = [who for actuator, who in enumerate(bench.arbiter.winners) if mask >> actuator & 1]
    assert set(held) == {PAD}
    assert PROGRAM not in bench.arbiter.winners
    assert bench.why(PROGRAM) == OUTRANKED


def test_a_permission_that_was_held_all_along_is_none_after_a_hand_let_go():
    bench = Bench()
    permitted(bench)
    taken_over(bench)
    for _ in range(5):
        assert program_and(bench, PERMITTED, (PAD, {"deadman": LET_GO})) == NOBODY
    assert bench.why(PROGRAM) == NOT_ENGAGED
    assert program_and(bench, LET_GO, (PAD, {"deadman": LET_GO})) == NOBODY
    assert program_and(bench, PERMITTED, (PAD, {"deadman": LET_GO})) == PROGRAM


def test_a_permission_that_was_given_anew_before_the_hand_let_go_is_none():
    bench = Bench()
    permitted(bench)
    taken_over(bench)
    assert program_and(bench, LET_GO, (PAD, {})) == PAD
    assert program_and(bench, PERMITTED, (PAD, {})) == PAD
    for _ in range(3):
        assert program_and(bench, PERMITTED, (PAD, {"deadman": LET_GO})) == NOBODY


def test_a_hand_that_falls_silent_has_let_go_and_returns_nothing():
    bench = Bench()
    permitted(bench)
    taken_over(bench)
    for _ in range(30):
        last = program_and(bench, PERMITTED)
    assert (last, bench.why(PROGRAM)) == (NOBODY, NOT_ENGAGED)
    permitted(bench)


def test_a_program_that_was_silent_meanwhile_has_to_be_permitted_anew_too():
    bench = Bench()
    permitted(bench)
    for deadman in (LET_GO, HELD, HELD):
        bench.say(SEAT, deadman=PERMITTED, mask=0)
        bench.say(PAD, deadman=deadman)
        bench.step(60)
    bench.say(SEAT, deadman=PERMITTED, mask=0)
    bench.step(60)
    bench.say(SEAT, deadman=PERMITTED, mask=0)
    assert bench.step(60).winners == NO_WINNERS
    for _ in range(3):
        assert program_and(bench, PERMITTED) == NOBODY


def test_one_person_who_drives_and_then_permits_has_to_let_go_in_between():
    bench = Bench()
    permitted(bench)
    for _ in range(3):
        bench.say(SEAT, deadman=HELD)
        bench.say(PROGRAM, deadman=0, mask=7)
        bench.step()
    assert program_and(bench, LET_GO) == NOBODY
    bench.say(SEAT, deadman=HELD)
    bench.say(PROGRAM, deadman=0, mask=7)
    assert bench.step().winners[1] == SEAT
    for _ in range(3):
        assert program_and(bench, PERMITTED) == NOBODY
    permitted(bench)


@pytest.mark.parametrize(
    "changes",
    [{"deadman": LET_GO}, {"deadman": HELD, "mask": LIGHTS}, {"deadman": HELD, "mask": 0}],
)
def test_a_pad_that_lies_there_or_works_the_lights_takes_nothing_over(changes):
    bench = Bench()
    permitted(bench)
    for deadman in (LET_GO, HELD):
        program_and(bench, PERMITTED, (PAD, {**changes, "deadman": deadman and changes["deadman"]}))
    for _ in range(3):
        assert program_and(bench, PERMITTED, (PAD, changes)) == PROGRAM


def test_a_hand_of_a_lower_priority_takes_over_from_a_program_above_it():
    """A person never loses to a program, whatever a file ranks."""
    bench = Bench(source_priority=[0, 5, 100, 0, 200] + [0] * 10 + [1])
    permitted(bench)
    taken_over(bench)
    assert bench.arbiter.winners[:2] == [PAD, PAD]


# --- the receiver


def receiver_and(bench: OwnBench, permission: int, **changes) -> int:
    assert bench.own(**changes) == ACCEPTED
    return program_and(bench, permission)


def test_the_receivers_manual_excludes_programs_for_as_long_as_it_is_set():
    """The live-man switch let go, held, let go; then the mode autonomy, which claims nothing."""
    bench = OwnBench(source_needs=[NOBODY] * 4 + [SEAT] + [NOBODY] * 11)
    permitted(bench)
    for _ in range(3):
        assert receiver_and(bench, PERMITTED, deadman=LET_GO) == NOBODY
    assert bench.why(PROGRAM) == OUTRANKED
    assert receiver_and(bench, PERMITTED) == RC
    for _ in range(3):
        assert receiver_and(bench, PERMITTED, deadman=LET_GO) == NOBODY
    for permission in (LET_GO, PERMITTED):
        assert receiver_and(bench, permission, deadman=LET_GO) == NOBODY
    for _ in range(3):
        assert receiver_and(bench, PERMITTED, deadman=LET_GO, mask=0) == NOBODY
    assert receiver_and(bench, LET_GO, deadman=LET_GO, mask=0) == NOBODY
    assert receiver_and(bench, PERMITTED, deadman=LET_GO, mask=0) == PROGRAM


def test_a_live_man_switch_that_is_held_from_manual_into_autonomy_permits_nothing():
    bench = OwnBench(source_needs=[NOBODY] * 4 + [RC] + [NOBODY] * 11)

    def flown(**changes) -> int:
        bench.own(**changes)
        bench.say(PROGRAM, deadman=0, mask=7, speed_mm_s=500)
        return bench.step().winners[1]

    flown(deadman=LET_GO)
    assert flown() == RC
    for _ in range(5):
        assert flown(deadman=PERMITTED, mask=0) == NOBODY
    assert flown(deadman=LET_GO, mask=0) == NOBODY
    assert flown(deadman=PERMITTED, mask=0) == PROGRAM


# --- a kill-switch in place of a person


class HandBench(SwitchBench):
    """A program that a live switch lets drive, beside a pad."""

    def runs(self, *, said: int = 0, hand: int = LET_GO, arm: bool = False) -> int:
        assert self.say(PAD, deadman=hand) == ACCEPTED
        self.arbiter.asserted = said
        return self.run(LIVE & ~said, arm=arm, mask=7).winners[1]


@pytest.fixture
def bench():
    bench = HandBench()
    bench.runs()
    assert bench.runs(arm=True) == PROGRAM
    assert bench.runs(hand=HELD) == PAD
    return bench


def test_after_a_hand_a_kill_switch_has_to_say_stop_and_then_run(bench):
    assert bench.runs() == NOBODY
    assert bench.why(PROGRAM) == UNPERMITTED
    assert bench.runs(arm=True) == NOBODY, "an arm alone is not enough"
    assert bench.runs(said=LIVE) == NOBODY
    assert bench.runs() == NOBODY, "and a switch that comes back is no person"
    assert bench.runs(arm=True) == PROGRAM


def test_a_stop_that_a_kill_switch_said_before_the_hand_let_go_counts_for_nothing(bench):
    assert bench.runs(said=LIVE, hand=HELD) == PAD
    assert bench.runs() == NOBODY
    assert bench.runs(arm=True) == NOBODY


def test_a_kill_switch_that_was_silent_said_no_stop(bench):
    bench.runs()
    bench.say(PAD, deadman=LET_GO)
    bench.run(0)
    assert bench.runs(arm=True) == NOBODY
    bench.runs(said=1 << BOX + 1)
    assert bench.runs(arm=True) == NOBODY, "another switch's stop is not this one's"


@pytest.mark.parametrize("switch", [0, BOX, 15])
def test_a_program_that_was_silent_while_a_hand_drove_gets_nothing_by_an_arm(switch):
    bench = Bench(source_kill_switch=[NOBODY] * 4 + [switch] + [NOBODY] * 11)
    bench.arbiter.live_switches = 1 << switch
    for deadman in (LET_GO, HELD, LET_GO):
        bench.say(PAD, deadman=deadman)
        bench.step()
    bench.say(PROGRAM, deadman=0)
    bench.arbiter.begin_from_neutral(bench.now_us)
    assert bench.step().winners == NO_WINNERS


@pytest.mark.parametrize("switch", [0, 1, BOX, 15])
def test_no_hand_has_taken_over_at_the_start(switch):
    bench = Bench(source_kill_switch=[NOBODY] * 4 + [switch] + [NOBODY] * 11)
    bench.arbiter.live_switches = 1 << switch
    bench.say(PROGRAM, deadman=0)
    bench.arbiter.begin_from_neutral(bench.now_us)
    assert bench.step().winners[1] == PROGRAM


@pytest.mark.parametrize("switch", [16, 40, 254])
def test_a_kill_switch_that_there_is_not_is_never_live_and_takes_no_heap(switch):
    """A bit beyond the sixteen would be a long integer on a chip, made in a step."""
    bench = Bench(source_kill_switch=[NOBODY] * 4 + [switch] + [NOBODY] * 11)
    assert bench.arbiter._switches == 0
    bench.arbiter.live_switches = 0xFFFF
    bench.say(PROGRAM, deadman=0)
    bench.arbiter.begin_from_neutral(bench.now_us)
    assert bench.step().winners == NO_WINNERS
