"""The guard of a car with an off-delay: an opened loop is braked first, and never for too long."""

import pytest

from firmware.core.stops.guard import BRAKES_US, Guard

PERIOD = 2**30
STARTS = [0, PERIOD // 2 - 50, PERIOD - 300_000, PERIOD - 1]
LIMIT_US = 40_000
STEP_US = 10_000


def running(start_us, grace_us=BRAKES_US):
    guard = Guard()
    guard.begin(LIMIT_US, 0, grace_us)
    guard.read()
    guard.beat(False, start_us)
    guard.beat(True, start_us)
    assert not guard.is_gating
    return guard


class Course:
    """A guard whose loop opens at 0, looked at each millisecond; steps each 10 ms, which tell
    whether they brake, until ``dies_ms``. ``closed`` says of a time whether the loop is closed."""

    def __init__(self, start_us=0, brakes_from_ms=0, dies_ms=10_000, closed=lambda _ms: False):
        self.guard = running(start_us)
        self.start_us, self.brakes_from_ms, self.dies_ms = start_us, brakes_from_ms, dies_ms
        self.closed = closed

    def fell_ms(self, until_ms=2_000):
        """When the gate fell, or None."""
        for ms in range(until_ms):
            now_us = (self.start_us + ms * 1_000) % PERIOD
            if ms % 10 == 5 and ms < self.dies_ms:
                self.guard.read()
                self.guard.tell(ms >= self.brakes_from_ms)
                self.guard.beat(True, now_us)
            if self.guard.look(int(self.closed(ms)), now_us) & 1:
                return ms
        return None


@pytest.mark.parametrize("start_us", STARTS)
def test_while_it_brakes_it_falls_when_its_time_is_over(start_us):
    assert Course(start_us).fell_ms() == 1 + BRAKES_US // 1_000 + 1  # seen open at 1 ms


@pytest.mark.parametrize("start_us", STARTS)
def test_what_drives_on_falls_within_the_limit_of_a_step(start_us):
    assert Course(start_us, brakes_from_ms=10_000).fell_ms() == 1 + LIMIT_US // 1_000 + 1
    assert Course(start_us, brakes_from_ms=30).fell_ms() > 600


def test_what_braked_before_the_loop_opened_has_to_brake_again():
    """A program that does not answer the opening is not taken for one that brakes."""
    course = Course(dies_ms=0)
    course.guard.tell(True)
    course.guard.beat(True, 0)
    assert course.fell_ms() <= 1 + LIMIT_US // 1_000 + 1


def test_who_drives_again_meanwhile_falls_at_once():
    course = Course()
    course.fell_ms(300)
    assert not course.guard.is_gating
    course.guard.tell(False)
    assert course.guard.look(0, 300_000) & 1


def test_a_program_that_hangs_falls_as_ever():
    assert Course(dies_ms=100).fell_ms() == 95 + LIMIT_US // 1_000 + 1


@pytest.mark.parametrize("period_ms", [4, 30, 200])
def test_a_loop_that_bounces_does_not_begin_the_time_again(period_ms):
    course = Course(closed=lambda ms: ms // (period_ms // 2) % 2 == 1)
    assert course.fell_ms() == 1 + BRAKES_US // 1_000 + 1


def test_a_loop_that_closed_again_stays_seen_until_the_program_lets_go():
    course = Course(closed=lambda ms: ms > 5)
    course.fell_ms(200)
    guard = course.guard
    assert guard.has_seen_loop_open
    assert not guard.is_gating
    guard.read()
    guard.beat(False, 200_000)
    assert not guard.has_seen_loop_open
    guard.beat(True, 210_000)
    assert guard.look(1, 211_000) == 0
    assert guard.look(0, 220_000) == 2  # and the next opening has its own time
    assert guard.look(0, 221_000) == 0
    guard.tell(True)
    guard.beat(True, 850_000)
    assert guard.look(0, 221_000 + BRAKES_US) == 0
    guard.beat(True, 221_000 + BRAKES_US)
    assert guard.look(0, 221_001 + BRAKES_US) == 1


def test_once_it_fell_it_is_an_ordinary_guard():
    course = Course(dies_ms=0)
    course.fell_ms()
    guard = course.guard
    assert guard.look(0, 500_000) & 1
    guard.read()
    guard.beat(False, 510_000)
    assert guard.is_gating  # the loop is open
    guard.look(1, 520_000)
    guard.read()
    guard.beat(False, 530_000)
    assert not guard.is_gating


def test_without_a_grace_the_loop_falls_at_once():
    guard = running(0, 0)
    guard.tell(True)
    guard.beat(True, 0)
    assert guard.look(0, 1_000) == 2
    assert guard.look(0, 1_060) == 1


def test_its_time_is_what_the_parts_list_has_room_for():
    assert BRAKES_US == 640_000


def test_what_it_tells_the_program_is_the_opening_and_nothing_else():
    guard = running(0)
    guard.look(0, 1_000)
    guard.look(0, 1_060)
    assert guard.read() == 1


def test_each_opening_asks_anew_whether_what_is_written_brakes():
    guard = running(0)
    guard.tell(True)  # of before
    for at_us in range(1_000, 52_000, 10_000):
        guard.beat(True, at_us)
        guard.look(0, at_us)
        assert guard.look(0, at_us + 60) & 1 == (at_us == 51_000)


@pytest.mark.parametrize("reads", [False, True])
def test_after_its_fall_the_program_has_to_look_before_the_gate_closes(reads):
    guard = running(0)
    guard.read()
    guard.look(0, 1_000)
    assert guard.look(0, 1_060) == 0
    guard.beat(True, 30_000)
    assert guard.look(0, 1_061 + LIMIT_US) == 1  # nothing told that it brakes
    assert guard.words[6]  # a write that began before may still go on
    guard.look(1, 50_000)
    if reads:
        guard.read()
        guard.look(1, 50_500)
    guard.beat(False, 51_000)
    assert guard.is_gating is not reads


def test_a_spike_after_the_fall_is_seen_too():
    guard = running(0, BRAKES_US)
    guard.look(0, 1_000)
    guard.look(0, 1_060)
    guard.beat(True, 30_000)
    assert guard.look(0, 1_061 + LIMIT_US) == 1
    guard.look(1, 50_000)
    guard.read()
    guard.look(0, 50_100)
    guard.look(0, 50_200)  # open for longer than the filter
    guard.look(1, 50_300)
    guard.beat(False, 51_000)
    assert guard.is_gating


def test_while_an_opening_is_braked_each_tick_looks():
    guard = Guard()
    guard.begin(LIMIT_US, 5_000, BRAKES_US)
    guard.read()
    guard.beat(False, 0)
    guard.beat(True, 0)
    guard.look(1, 100)
    assert guard.words[1] > 800
    guard.look(0, 200)
    guard.look(0, 260)
    assert guard.words[1] < 800  # a tick
    guard.look(1, 300)  # closed again, and still to be let go of
    assert guard.words[1] < 800


def test_an_opening_with_the_drive_off_is_seen():
    guard = Guard()
    guard.begin(LIMIT_US, 0, BRAKES_US)
    guard.read()
    guard.beat(False, 0)
    guard.look(0, 1_000)
    assert guard.look(0, 1_060) == 0
    assert guard.has_seen_loop_open
    guard = Guard()
    guard.begin(LIMIT_US, 0, BRAKES_US)
    guard.read()
    guard.beat(False, 0)
    assert guard.watch(lambda: 0, clock(1_000, 1_060)) == 0
    assert guard.has_seen_loop_open


def clock(*times_us):
    """Each time once, then the last of them."""
    left = list(times_us)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


def test_a_watch_of_an_opening_lets_it_be_braked_and_ends_in_time():
    guard = running(0)
    assert guard.watch(lambda: 0, clock(1_000, 1_030, 1_060, 1_076)) == 0
    assert guard.has_seen_loop_open
    guard.beat(True, 30_000)
    late_us = 1_076 + LIMIT_US  # from the time that the watch saw it for certain
    assert guard.watch(lambda: 0, lambda: late_us) == 0
    assert guard.watch(lambda: 0, lambda: late_us + 1) == 1


def test_a_watch_that_time_cannot_settle_counts_for_nothing():
    guard = running(0)
    assert guard.watch(lambda: 0, lambda: 1_000) == 0
    assert not guard.has_seen_loop_open
    assert not guard.is_gating


def test_a_watch_of_what_gates_says_so():
    guard = running(0)
    guard.leave()
    assert guard.watch(lambda: 1, lambda: 1_000) == 1


def test_a_watch_of_a_closed_loop_is_over():
    guard = running(0)
    assert guard.watch(lambda: 1, lambda: 1_000) == 0
    assert not guard.has_seen_loop_open
