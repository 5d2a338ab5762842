"""Times modulo 2**30 us: S9, silence is judged right across every wrap."""

import pytest

from firmware.core.deadlines import Deadline, elapsed_us, shifted_us

PERIOD = 2**30
HALF = 2**29
EDGES = [0, 1, 2, HALF - 2, HALF - 1, HALF, HALF + 1, HALF + 2, PERIOD - 2, PERIOD - 1]


@pytest.mark.parametrize("now", EDGES)
def test_elapsed_is_the_nearest_of_all_differences_at_every_edge(now):
    for then in EDGES:
        assert elapsed_us(now, then) == (now - then + HALF) % PERIOD - HALF


@pytest.mark.parametrize("time", EDGES)
def test_shifted_comes_round_at_every_edge(time):
    for by in [-HALF, -HALF + 1, -2, -1, 0, 1, 2, HALF - 2, HALF - 1]:
        assert shifted_us(time, by) == (time + by) % PERIOD


def test_a_deadline_that_was_never_set_is_shut():
    deadline = Deadline()
    assert deadline.is_open is False
    deadline.step(5)
    assert deadline.is_open is False


@pytest.mark.parametrize(("in_us", "is_open"), [(-1, False), (0, False), (1, True)])
def test_only_time_to_come_opens_a_deadline(in_us, is_open):
    deadline = Deadline()
    deadline.set(100, in_us)
    assert deadline.is_open is is_open


@pytest.mark.parametrize("start", [0, HALF - 5, PERIOD - 5])
def test_a_deadline_shuts_at_its_very_microsecond_and_no_sooner(start):
    deadline = Deadline()
    deadline.set(start, 10)
    deadline.step((start + 9) % PERIOD)
    assert deadline.is_open is True
    deadline.step((start + 10) % PERIOD)
    assert deadline.is_open is False


def test_a_deadline_that_passed_stays_shut_when_the_clock_comes_round_to_before_it():
    deadline = Deadline()
    deadline.set(1000, 10)
    deadline.step(2000)
    deadline.step(1005)
    assert deadline.is_open is False


def test_a_deadline_can_be_shut_before_its_time_and_set_again():
    deadline = Deadline()
    deadline.set(0, 10)
    deadline.shut()
    assert deadline.is_open is False
    deadline.set(0, 10)
    assert deadline.is_open is True
