"""Ring 1: what lets the car fall when its program hangs, to the microsecond."""

import pytest

from firmware.core.stops.guard import RATE_LIMITED_HZ, Guard, limit_us, rate_limited

PERIOD = 2**30
STARTS = [0, 5_000, PERIOD // 2 - 50, PERIOD - 50, PERIOD - 1]
TICK_US = 1_000_000 // RATE_LIMITED_HZ
MOST_US = 12_800
GATES, DOUBTS = 1, 2
LIMIT_US = 40_000


def running(start_us: int = 0) -> Guard:
    """A guard whose program has begun, and drives."""
    guard = Guard()
    guard.begin(LIMIT_US, MOST_US)
    guard.read()
    guard.beat(False, start_us)
    assert guard.beat(True, start_us) == 0
    assert not guard.is_gating
    return guard


def opened(guard: Guard, from_us: int, until_us: int) -> None:
    """The loop was seen open for that time, and then closed."""
    guard.look(0, from_us)
    guard.look(0, until_us)
    guard.look(1, until_us)


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


def ticks_with_work(guard: Guard, ticks: int, from_us: int = 0) -> int:
    """Of so many ticks of the timer, in how many the guard has to look."""
    worked = []

    def on_timer(tick) -> None:
        worked.append(tick)
        guard.look(1, (from_us + tick * TICK_US) % PERIOD)

    on_tick = rate_limited(guard.words, lambda: 1, on_timer)
    for tick in range(ticks):
        on_tick(tick)
    return len(worked)


@pytest.mark.parametrize("start_us", STARTS)
def test_a_program_that_leaves_is_cut_for_good_and_then_costs_hardly_a_tick(start_us):
    """Hardware in the loop: its board of metal gets no beat any more."""
    guard = running(start_us)
    guard.leave()
    assert guard.is_gating
    assert ticks_with_work(guard, RATE_LIMITED_HZ, start_us) < 1_000_000 / MOST_US + 5
    assert (guard.is_gating, guard.is_late) == (True, False)
    hung = running(start_us)  # one that does not say that it leaves may be in the middle of a write
    assert ticks_with_work(hung, RATE_LIMITED_HZ, start_us) > 0.9 * RATE_LIMITED_HZ


@pytest.mark.parametrize("start_us", STARTS)
def test_who_asks_after_a_program_that_left_is_told_that_it_gates(start_us):
    guard = running(start_us)
    guard.read()
    guard.leave()
    assert guard.look(1, start_us) == GATES
    assert guard.watch(lambda: 1, lambda: start_us) == 1
    guard.beat(False, start_us)  # a step that was under way: it has not seen that the gate fell
    assert guard.is_gating


def test_leaving_changes_what_it_has_to_and_nothing_else():
    """What the loop was, the limit and the times stay as they were for who looks afterwards."""
    guard = Guard()
    for i in range(len(guard.words)):
        guard.words[i] = 100 + i
    guard.leave()
    changed = {i: word for i, word in enumerate(guard.words) if word != 100 + i}
    assert changed == {2: 1, 5: 0, 6: 0, 7: 0}


def test_a_guard_that_was_never_begun_gates_and_says_so_to_whoever_asks():
    guard = Guard()
    assert guard.look(1, 0) == GATES
    assert guard.read() == 0
    assert guard.watch(lambda: 1, lambda: 0) == 1


def test_a_drive_that_is_off_does_not_open_a_gate_that_the_program_does_not_know_to_be_shut():
    guard = running()
    guard.read()
    opened(guard, 100, 400)  # after it looked
    guard.beat(False, 500)
    assert (guard.is_gating, guard.has_seen_loop_open) == (True, True)
    assert told(guard, True, 10_500)
    assert guard.has_seen_loop_open
    assert not told(guard, False, 20_500)
    assert guard.has_seen_loop_open is False


def test_a_gate_stays_shut_while_the_loop_is_open_whatever_the_program_does():
    guard = running()
    for now_us in range(1000, 30_000, 1000):
        guard.look(0, now_us)
        if now_us > 1000:
            assert told(guard, False, now_us)
    guard.look(1, 30_000)
    assert guard.is_gating
    assert not told(guard, False, 30_100)


def test_what_is_taken_again_is_to_be_seen_again():
    guard = running()
    opened(guard, 0, 300)
    guard.read()
    opened(guard, 400, 700)
    guard.beat(False, 800)
    assert guard.is_gating
    assert not told(guard, False, 900)


def test_what_it_shows_is_what_the_program_has_seen():
    guard = running()
    assert guard.read() == 0
    opened(guard, 0, 60)
    assert guard.read() == 1
    guard.look(1, LIMIT_US + 1)
    assert guard.read() == 3
    assert guard.beat(True, 50_000) == 1
    assert guard.beat(False, 50_000) == 0
    assert guard.read() == 0


# --- the loop


@pytest.mark.parametrize("start_us", STARTS)
@pytest.mark.parametrize(("open_us", "counts"), [(0, False), (59, False), (60, True), (61, True)])
def test_what_is_seen_open_for_sixty_microseconds_counts(start_us, open_us, counts):
    guard = running(start_us)
    assert guard.look(0, start_us) == DOUBTS
    assert not guard.is_gating
    assert guard.look(0, (start_us + open_us) % PERIOD) == (GATES if counts else DOUBTS)
    assert (guard.is_gating, guard.has_seen_loop_open) == (counts, counts)


@pytest.mark.parametrize("told_us", [60, 300, 5000])
def test_an_end_that_is_told_late_says_nothing_of_how_long_it_was_open(told_us):
    guard = running()
    guard.look(0, 0)
    assert guard.look(1, told_us) == 0
    assert not guard.has_seen_loop_open


def test_a_look_that_read_the_clock_before_the_one_that_saw_it_open_counts_for_nothing():
    for before_us in (1, PERIOD // 2):
        guard = running()
        guard.look(0, 5000)
        assert guard.look(0, (5000 - before_us) % PERIOD) == DOUBTS
        assert not guard.is_gating


def test_a_write_does_not_make_an_open_loop_younger_nor_the_loop_a_write():
    guard = running()
    guard.look(0, 100)
    guard.beat(True, 130)
    assert guard.look(0, 160) == GATES
    guard = running()
    guard.look(0, LIMIT_US - 10)
    guard.look(1, LIMIT_US + 1)
    assert guard.is_late


def test_who_stays_and_looks_knows_the_time_to_the_microsecond():
    guard = running()
    times, looks = iter([1, 60, 61, 62]), []
    assert guard.watch(lambda: looks.append(0) or 0, lambda: next(times)) == 1
    assert len(looks) == 3


class Processor:
    """Interrupts at their times, one after the other; each look at the loop takes ``look_us``."""

    def __init__(self, opens_us, open_us, look_us, start_us):
        self.opens_us, self.closes_us = opens_us, opens_us + open_us
        self.look_us = look_us
        self.start_us = start_us
        self.now_us = 0
        self.guard = running(start_us)

    def level(self):
        return int(not self.opens_us <= self.now_us < self.closes_us)

    def ticks_us(self):
        self.now_us += self.look_us
        return (self.start_us + self.now_us) % PERIOD

    def run(self, late_us, edges):
        ticks = range(0, 4 * TICK_US, TICK_US)
        told = [at_us + late_us for at_us in (self.opens_us, self.closes_us)] if edges else []
        for at_us in sorted([*ticks, *told]):
            self.now_us = max(self.now_us, at_us)
            self.guard.watch(self.level, self.ticks_us)
        return self.guard.is_gating


# how late the edges' interrupts come, what a look takes, from when on, every how many phases
@pytest.mark.parametrize(
    ("late_us", "look_us", "start_us", "every_us"),
    [(100, 40, 0, 1), (0, 1, 0, 7), (30, 15, 0, 7), (0, 40, 0, 7), (100, 15, PERIOD - 1500, 7)],
)
def test_a_spike_is_ignored_and_an_opening_taken_at_every_phase_of_the_tick(
    late_us, look_us, start_us, every_us
):
    """Under 20 us never, over 200 us always (SAFETY.md), edges up to 100 us late."""
    for phase_us in range(TICK_US, 2 * TICK_US, every_us):
        assert not Processor(phase_us, 19, look_us, start_us).run(late_us, True), phase_us
        assert Processor(phase_us, 200, look_us, start_us).run(late_us, True), phase_us


@pytest.mark.parametrize("late_us", [150, 500, 3000])
def test_a_spike_is_ignored_however_late_its_interrupts_come(late_us):
    for phase_us in range(TICK_US, 2 * TICK_US, 7):
        assert not Processor(phase_us, 19, 15, 0).run(late_us, True), phase_us


def test_a_loop_whose_interrupt_was_lost_is_taken_within_a_millisecond():
    for phase_us in range(0, TICK_US, 7):
        car = Processor(phase_us, 5000, 15, 0)
        assert car.guard.look(1, 0) == 0
        car.now_us = TICK_US
        assert car.guard.watch(car.level, car.ticks_us) == 1
        assert car.now_us - phase_us <= 1000


def test_a_clock_that_stands_keeps_nobody_in_the_interrupt():
    guard = running()
    looks = []

    def level():
        looks.append(0)
        return 0

    assert guard.watch(level, lambda: 5) == 0
    assert len(looks) == 250
    assert guard.look(0, 65) == GATES


def test_a_loop_whose_edge_was_lost_is_taken_by_its_level_within_two_ticks():
    guard = running()
    guard.look(0, 1000)
    assert not guard.is_gating
    guard.look(0, 2000)
    assert (guard.is_gating, guard.has_seen_loop_open) == (True, True)


def test_many_spikes_do_not_add_up():
    guard = running()
    for at_us in range(0, 5000, 200):
        guard.look(0, at_us)
        guard.look(0, at_us + 59)
        guard.look(1, at_us + 59)
    assert not guard.is_gating


def test_an_edge_that_repeats_what_is_known_moves_no_time():
    guard = running()
    guard.look(1, 10)
    guard.look(0, 100)
    guard.look(0, 150)
    guard.look(0, 160)
    guard.look(1, 170)
    assert guard.is_gating
    assert not told(guard, False, 300)
    guard.look(1, 1000)
    assert not guard.is_gating


# --- the program


@pytest.mark.parametrize("start_us", STARTS)
def test_a_program_that_is_away_for_longer_than_its_limit_falls(start_us):
    guard = running(start_us)
    guard.look(1, (start_us + LIMIT_US) % PERIOD)
    assert (guard.is_gating, guard.is_late) == (False, False)
    guard.look(1, (start_us + LIMIT_US + 1) % PERIOD)
    assert (guard.is_gating, guard.is_late, guard.has_seen_loop_open) == (True, True, False)


@pytest.mark.parametrize("before_us", [1, PERIOD // 2])
def test_a_look_that_read_the_clock_before_the_write_finds_nobody_late(before_us):
    guard = running(5000)
    guard.look(1, (5000 - before_us) % PERIOD)
    assert not guard.is_late


def test_that_the_program_was_late_is_no_open_loop_to_anybody():
    guard = running()
    assert guard.look(1, LIMIT_US + 1) == GATES
    assert guard.read() == 2
    assert guard.beat(True, 50_000) == 1


@pytest.mark.parametrize(
    ("beat_us", "away_us"), [(5000, 20_000), (9_999, 39_996), (10_000, 40_000), (20_000, 40_000)]
)
def test_a_program_may_miss_three_beats_and_never_40_ms(beat_us, away_us):
    assert limit_us(beat_us) == away_us


def test_each_write_begins_the_time_anew():
    guard = running()
    for now_us in range(0, 400_000, LIMIT_US):
        guard.look(1, now_us)
        guard.beat(True, now_us)
    assert not guard.is_gating


def test_a_late_program_that_comes_back_has_to_see_it_and_to_switch_off():
    guard = running()
    guard.look(1, 41_000)
    guard.beat(True, 50_000)
    guard.beat(False, 60_000)  # it has not looked yet
    assert (guard.is_gating, guard.is_late) == (True, True)
    assert told(guard, True, 70_000)
    assert guard.is_late
    assert not told(guard, False, 80_000)
    assert guard.is_late is False
    guard.look(1, 80_000 + LIMIT_US + 1)
    assert guard.is_gating


def test_it_falls_once_and_not_again_on_every_tick_of_a_long_hang():
    guard = running()
    guard.look(1, 41_000)
    guard.read()
    guard.look(1, 42_000)
    guard.look(1, 90_000)
    guard.beat(False, 91_000)
    assert not guard.is_gating


def test_a_program_that_has_not_begun_cannot_be_late():
    guard = Guard()
    guard.begin(LIMIT_US)
    guard.look(1, 400_000)
    assert (guard.is_gating, guard.is_late) == (True, False)
    guard.beat(True, 400_000)  # from its first write on it can be, with the gate still shut
    guard.look(1, 400_000 + LIMIT_US + 1)
    assert guard.is_late


def test_before_anybody_says_how_long_the_program_has_no_time_at_all():
    guard = Guard()
    guard.read()
    guard.beat(False, 0)
    guard.look(1, 0)
    assert not guard.is_late
    guard.look(1, 1)
    assert guard.is_late


# --- what need not be looked at


class Sparing:
    """A guard whose timer is spared what has nothing to do; how often it was not."""

    def __init__(self):
        self.guard = running()
        self.now_us = 0
        self.closed = 1
        self.looks = 0
        self.on_tick = rate_limited(self.guard.words, lambda: self.closed, self.on_timer)

    def on_timer(self, timer):
        self.looks += 1
        self.guard.look(self.closed, self.now_us)

    def ticks(self, many):
        """How many of them looked."""
        before = self.looks
        for _ in range(many):
            self.now_us += TICK_US
            self.on_tick(None)
        return self.looks - before


@pytest.fixture
def car():
    car = Sparing()
    assert car.ticks(1) == 1
    return car


def test_a_quiet_loop_is_looked_at_so_often_that_the_life_signal_goes_on(car):
    for _ in range(10):
        assert car.ticks(MOST_US // TICK_US - 1) == 0
        assert car.ticks(1) == 1
        car.guard.beat(True, car.now_us)


def test_a_level_that_changed_is_looked_at_by_the_next_tick(car):
    car.closed = 0
    assert car.ticks(2) == 2  # in doubt, then sure
    assert car.guard.is_gating
    car.guard.beat(True, car.now_us)
    assert car.ticks(9) == 0  # it stays open
    car.closed = 1
    assert car.ticks(1) == 1


def test_until_the_next_write_every_tick_undoes_what_this_one_may_still_put_out(car):
    car.closed = 0
    car.ticks(2)
    assert car.ticks(20) == 20
    car.guard.beat(True, car.now_us)
    assert car.ticks(15) == 0


def test_another_fall_of_a_gate_that_is_shut_undoes_nothing(car):
    opened(car.guard, 1000, 1100)
    car.guard.beat(True, 1100)
    opened(car.guard, 1200, 1300)
    assert car.ticks(15) == 0


@pytest.mark.parametrize("enable", [False, True])
def test_a_write_that_turns_the_drive_on_or_off_is_looked_at_by_the_next_tick(car, enable):
    car.guard.beat(not enable, car.now_us)
    car.ticks(1)
    car.guard.beat(not enable, car.now_us)
    assert car.ticks(1) == 0
    car.guard.beat(enable, car.now_us)
    assert car.ticks(1) == 1
    assert car.ticks(1) == 0


def test_another_limit_is_looked_at_by_the_next_tick(car):
    car.guard.begin(LIMIT_US, MOST_US)
    assert car.ticks(1) == 1


def test_a_program_that_hangs_is_late_at_the_very_tick_of_its_limit(car):
    car.guard.beat(True, 0)
    while not car.guard.is_late:
        car.ticks(1)
    assert car.now_us == LIMIT_US + TICK_US


def test_what_is_spared_ends_with_the_time_that_the_program_has_left(car):
    car.guard.beat(True, 0)
    car.now_us = LIMIT_US - 10_000
    car.guard.look(1, car.now_us)
    assert car.ticks(12) == 0
    assert car.ticks(1) == 1


def test_ticks_are_counted_as_the_timer_makes_them():
    assert RATE_LIMITED_HZ * TICK_US == 1_000_000
    car = Sparing()
    car.guard.begin(10_000_000, 1000 * TICK_US)
    assert car.ticks(1) == 1
    assert car.ticks(999) == 0
    assert car.ticks(1) == 1
    car.guard.begin(10_000_000, TICK_US + 1)
    assert [car.ticks(1) for _ in range(4)] == [1, 0, 1, 0]


def test_before_the_first_write_it_is_spared_as_ever_and_one_that_changes_nothing_is_no_news():
    car = Sparing()
    car.guard = Guard()
    car.guard.begin(LIMIT_US, MOST_US)
    car.on_tick = rate_limited(car.guard.words, lambda: car.closed, car.on_timer)
    assert car.ticks(1) == 1
    assert car.ticks(5) == 0
    car.guard.beat(False, car.now_us)
    assert car.ticks(5) == 0


def test_a_guard_that_is_told_nothing_of_it_is_spared_nothing():
    car = Sparing()
    car.guard.begin(LIMIT_US)
    assert car.ticks(10) == 10
