"""Ring 1: what lets the car fall when its program hangs, to the microsecond."""

import pytest

from firmware.core.guard import Guard

PERIOD = 2**30
STARTS = [0, 5_000, PERIOD // 2 - 50, PERIOD - 50, PERIOD - 1]
TICK_US = 1000
LIMIT_US = 40_000


def running(start_us: int = 0) -> Guard:
    """A guard whose program has begun, and drives."""
    guard = Guard()
    guard.begin(LIMIT_US)
    guard.read()
    guard.beat(False, start_us)
    guard.beat(True, start_us)
    assert not guard.is_gating
    return guard


def told(guard: Guard, enable: bool, now_us: int) -> bool:
    """A step of a program that looks and writes; whether the gate is shut after it."""
    guard.read()
    guard.beat(enable, now_us)
    return guard.is_gating


# --- the gate


def test_it_gates_until_the_program_has_looked_and_written_with_the_drive_off():
    guard = Guard()
    assert (guard.is_gating, guard.has_seen_loop_open, guard.is_late) == (True, False, False)
    guard.beat(False, 0)
    assert guard.is_gating
    guard.read()
    guard.beat(True, 0)
    assert guard.is_gating
    guard.beat(False, 0)
    assert not guard.is_gating


def test_a_drive_that_is_off_does_not_open_a_gate_that_the_program_does_not_know_to_be_shut():
    guard = running()
    guard.read()
    guard.edge(0, 100)
    guard.edge(1, 400)  # after it looked
    guard.beat(False, 500)
    assert (guard.is_gating, guard.has_seen_loop_open) == (True, True)
    assert told(guard, True, 10_500)
    assert guard.has_seen_loop_open
    assert not told(guard, False, 20_500)
    assert guard.has_seen_loop_open is False


def test_a_gate_stays_shut_while_the_loop_is_open_whatever_the_program_does():
    guard = running()
    for now_us in range(1000, 30_000, 1000):
        guard.tick(0, now_us)
        if now_us > 1000:
            assert told(guard, False, now_us)
    guard.edge(1, 30_000)
    assert guard.is_gating
    assert not told(guard, False, 30_100)


def test_what_is_taken_again_is_to_be_seen_again():
    guard = running()
    guard.edge(0, 0)
    guard.edge(1, 300)
    guard.read()
    guard.edge(0, 400)
    guard.edge(1, 700)
    guard.beat(False, 800)
    assert guard.is_gating
    assert not told(guard, False, 900)


# --- the loop


@pytest.mark.parametrize("start_us", STARTS)
@pytest.mark.parametrize(("open_us", "counts"), [(0, False), (99, False), (100, True), (101, True)])
def test_an_opening_counts_from_a_hundred_microseconds_on(start_us, open_us, counts):
    guard = running(start_us)
    guard.edge(0, start_us)
    assert not guard.is_gating
    guard.edge(1, (start_us + open_us) % PERIOD)
    assert (guard.is_gating, guard.has_seen_loop_open) == (counts, counts)


def opened_for(open_us: int, phase_us: int, late_us: tuple[int, int], start_us: int) -> Guard:
    """The loop opens at a phase of the tick; its edges' interrupts come late, in their order."""
    guard = running(start_us)
    opens_us = phase_us + late_us[0]
    closes_us = max(phase_us + open_us + late_us[1], opens_us)
    calls = [(opens_us, guard.edge, 0), (closes_us, guard.edge, 1)]
    for tick_us in range(0, 3 * TICK_US, TICK_US):
        is_closed = not phase_us <= tick_us < phase_us + open_us
        calls.append((tick_us, guard.tick, int(is_closed)))
    for at_us, call, is_closed in sorted(calls, key=lambda call: call[0]):
        call(is_closed, (start_us + at_us) % PERIOD)
    return guard


@pytest.mark.parametrize("late_us", [(0, 0), (0, 40), (40, 0), (40, 40)])
@pytest.mark.parametrize("start_us", [0, PERIOD - 1500])
def test_a_spike_is_ignored_and_an_opening_taken_at_every_phase_of_the_tick(late_us, start_us):
    """Under 20 us never, over 200 us always (safety.md, 3), edges up to 40 us late."""
    for phase_us in range(TICK_US):
        assert not opened_for(19, phase_us, late_us, start_us).is_gating, phase_us
        assert opened_for(201, phase_us, late_us, start_us).is_gating, phase_us


def test_a_loop_whose_edge_was_lost_is_taken_by_its_level_within_two_ticks():
    guard = running()
    guard.tick(0, 1000)
    assert not guard.is_gating
    guard.tick(0, 2000)
    assert (guard.is_gating, guard.has_seen_loop_open) == (True, True)


@pytest.mark.parametrize(("after_us", "counts"), [(99, False), (100, True)])
def test_a_tick_finds_a_loop_that_has_been_open_for_long_enough(after_us, counts):
    guard = running()
    guard.edge(0, 500)
    guard.tick(0, 500 + after_us)
    assert guard.is_gating is counts


def test_many_spikes_do_not_add_up():
    guard = running()
    for at_us in range(0, 5000, 200):
        guard.edge(0, at_us)
        guard.edge(1, at_us + 99)
    assert not guard.is_gating


def test_an_edge_that_repeats_what_is_known_moves_no_time():
    guard = running()
    guard.edge(1, 10)
    guard.edge(0, 100)
    guard.edge(0, 190)
    guard.edge(1, 200)
    assert guard.is_gating
    assert not told(guard, False, 300)
    guard.edge(1, 1000)
    assert not guard.is_gating


# --- the program


@pytest.mark.parametrize("start_us", STARTS)
def test_a_program_that_is_away_for_longer_than_its_limit_falls(start_us):
    guard = running(start_us)
    guard.tick(1, (start_us + LIMIT_US) % PERIOD)
    assert (guard.is_gating, guard.is_late) == (False, False)
    guard.tick(1, (start_us + LIMIT_US + 1) % PERIOD)
    assert (guard.is_gating, guard.is_late, guard.has_seen_loop_open) == (True, True, False)


def test_each_write_begins_the_time_anew():
    guard = running()
    for now_us in range(0, 400_000, LIMIT_US):
        guard.tick(1, now_us)
        guard.beat(True, now_us)
    assert not guard.is_gating


def test_a_late_program_that_comes_back_has_to_see_it_and_to_switch_off():
    guard = running()
    guard.tick(1, 41_000)
    guard.beat(True, 50_000)
    guard.beat(False, 60_000)  # it has not looked yet
    assert (guard.is_gating, guard.is_late) == (True, True)
    assert told(guard, True, 70_000)
    assert guard.is_late
    assert not told(guard, False, 80_000)
    assert guard.is_late is False
    guard.tick(1, 80_000 + LIMIT_US + 1)
    assert guard.is_gating


def test_it_falls_once_and_not_again_on_every_tick_of_a_long_hang():
    guard = running()
    guard.tick(1, 41_000)
    guard.read()
    guard.tick(1, 42_000)
    guard.tick(1, 90_000)
    guard.beat(False, 91_000)
    assert not guard.is_gating


def test_a_program_that_has_not_begun_cannot_be_late():
    guard = Guard()
    guard.begin(LIMIT_US)
    guard.tick(1, 400_000)
    assert (guard.is_gating, guard.is_late) == (True, False)
    guard.beat(True, 400_000)  # from its first write on it can be, with the gate still shut
    guard.tick(1, 400_000 + LIMIT_US + 1)
    assert guard.is_late


def test_before_anybody_says_how_long_the_program_has_no_time_at_all():
    guard = Guard()
    guard.read()
    guard.beat(False, 0)
    guard.tick(1, 0)
    assert not guard.is_late
    guard.tick(1, 1)
    assert guard.is_late
