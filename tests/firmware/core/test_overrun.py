"""Which beats were missed, how many of late, and what a step takes by itself."""

import pytest

from firmware.core.overrun import OverrunMonitor
from tests.firmware.core.bare_car import ACTIVE, STANDBY, Car
from tests.firmware.core.desk import params_with

BEAT_US = 10_000
PERIOD_US = 1 << 30


class Program:
    """Steps as a board takes them (firmware/boards/start.py): each as late as the last made it."""

    def __init__(self, beat_us=BEAT_US, begun_us=0) -> None:
        self.overruns = OverrunMonitor()
        self.overruns.configure(params_with(step_us=beat_us))
        self.beat_us = beat_us
        self.due_us = self.begun_us = begun_us
        self.told_us = 0

    def step(self, takes_us, steps=1) -> OverrunMonitor:
        """So many steps, and the beginning of the one after, which is told of the last."""
        for _ in range(steps):
            self.overruns.step(self.told_us, self.begun_us % PERIOD_US)
            ended_us = self.begun_us + takes_us
            self.told_us = ended_us - self.due_us
            self.due_us += self.beat_us
            if ended_us - self.due_us > self.beat_us:
                self.due_us = ended_us
            self.begun_us = max(self.due_us, ended_us)
        return self.overruns


def told(overruns, *steps_us):
    """Each step is told so long, and a beat passes."""
    for took_us in steps_us:
        overruns.step(took_us, 0)
    return overruns


@pytest.fixture
def program():
    return Program()


def test_nothing_is_missed_at_first(program):
    found = program.overruns
    assert (found.missed, found.missed_lately, found.takes_us) == (0, 0, 0)
    assert found.beat_us == BEAT_US
    assert found.is_off_beat is False


def test_before_it_is_configured_it_has_no_beat():
    assert OverrunMonitor().beat_us == 0


@pytest.mark.parametrize(("takes_us", "missed"), [(10_000, 0), (10_001, 1)])
def test_a_beat_is_missed_by_a_step_that_ends_after_it(program, takes_us, missed):
    assert program.step(takes_us, 2).missed == missed


@pytest.mark.parametrize("beat_us", [10_000, 13_000, 20_000])
@pytest.mark.parametrize("begun_us", [0, PERIOD_US - 300_000])
def test_what_a_step_takes_is_said_without_what_it_began_late(beat_us, begun_us):
    """And across a wrap of the clock."""
    program = Program(beat_us, begun_us)
    takes_us = beat_us * 114 // 100
    found = program.step(takes_us, 101)
    assert takes_us - 8 <= found.takes_us <= takes_us
    assert (found.missed, found.missed_lately) == (100, 100)
    assert found.is_off_beat is True


def test_a_step_that_keeps_its_beat_is_said_as_it_was_told(program):
    found = program.step(8_600, 60)
    assert 8_592 <= found.takes_us <= 8_600
    assert (found.missed, found.is_off_beat) == (0, False)


def test_the_newest_eighth_counts(program):
    assert program.step(8_000, 2).takes_us == 1000
    assert program.step(8_000).takes_us == 1000 + 7000 // 8
    found = program.step(0).takes_us  # it is told of the last one
    assert program.step(0).takes_us == found + (0 - found >> 3)


def test_one_step_counts_as_three_beats_at_most(program):
    assert program.step(500_000, 2).takes_us == 3 * BEAT_US >> 3
    program = Program()
    assert program.step(29_992, 2).takes_us == 29_992 >> 3


def test_a_told_time_that_is_less_than_from_step_to_step_is_the_one(program):
    """It hung between two steps, or its clock is another than that of the board."""
    found = program.overruns
    found.step(0, 0)
    found.step(16_000, 25_000)
    assert found.takes_us == 2000
    for takes_us in (0, 1):
        found = Program().overruns
        found.step(0, 500)
        found.takes_us = takes_us
        found.step(16_000, 400)  # time does not go backward; if it did, nothing is made of it
        assert found.takes_us == 0


@pytest.mark.parametrize(("now_us", "takes_us"), [(16_000, 2000), (15_999, 1999)])
def test_the_first_step_of_all_began_with_the_clock(now_us, takes_us):
    found = Program().overruns
    found.step(16_008, now_us)
    assert found.takes_us == takes_us


def test_it_is_off_its_beat_from_more_than_a_fifth_of_the_last_hundred_on(program):
    found = program.overruns
    told(found, *[10_001, 0] * 20)
    assert (found.missed_lately, found.is_off_beat) == (20, False)
    told(found, 10_001)
    assert (found.missed_lately, found.is_off_beat) == (21, True)


def test_it_stays_off_its_beat_until_a_tenth_is_left(program):
    found = program.overruns
    told(found, *[10_001] * 21, *[0] * 79)
    assert (found.missed_lately, found.is_off_beat) == (21, True)
    told(found, *[0] * 10)
    assert (found.missed_lately, found.is_off_beat) == (11, True)
    told(found, 0)
    assert (found.missed_lately, found.is_off_beat) == (10, False)
    told(found, *[0] * 200)
    assert (found.missed_lately, found.missed) == (0, 21)


def test_a_beat_is_forgotten_after_a_hundred_wherever_the_window_begins(program):
    found = program.overruns
    for _ in range(7):
        told(found, 10_001, *[0] * 99)
        assert found.missed_lately == 1
        told(found, 0)
        assert found.missed_lately == 0
    told(found, *[10_001] * 250)
    assert (found.missed_lately, found.missed) == (100, 257)


def test_the_count_wraps_where_a_message_does(program):
    found = program.overruns
    found.missed = 0x7FFF
    assert told(found, 10_001).missed == 0x8000
    found.missed = 0xFFFF
    assert told(found, 10_001).missed == 0


@pytest.mark.parametrize("takes_us", [6_000, 8_600, 9_500])
@pytest.mark.parametrize("pause_us", [5_000, 29_000, 200_000])
def test_a_single_pause_keeps_nobody_from_arming(program, takes_us, pause_us):
    """A collection of garbage or a write to flash, in a car that is loaded up to 95 %."""
    program.step(takes_us, 50)
    program.step(takes_us + pause_us)
    for _ in range(120):
        assert program.step(takes_us).is_off_beat is False
    assert 0 < program.overruns.missed <= 20
    assert program.overruns.missed_lately == 0


def test_another_beat_is_kept_by_the_same_steps(program):
    assert program.step(11_400, 200).is_off_beat
    program.overruns.configure(params_with(step_us=20_000))
    program.beat_us = 20_000
    assert program.step(11_400, 89).is_off_beat
    found = program.step(11_400, 3)
    assert (found.is_off_beat, found.beat_us) == (False, 20_000)


# --- in the car


def test_a_car_that_misses_its_beat_says_so_and_goes_on_driving():
    car = Car().drive()
    car.board.step_us = 11_400
    car.step(300)
    assert (car.state, car.app.runstop.bits, car.app.faults.bits) == (ACTIVE, 0, 0)
    assert car.app.overruns.is_off_beat
    assert car.app.overruns.missed == 300


def test_who_acts_is_told_before_each_steps_messages():
    car = Car()
    car.step(20)
    assert (car.state, car.app.actions.is_off_beat) == (STANDBY, False)
    car.board.step_us = 11_400
    car.step(20)
    assert car.app.actions.is_off_beat is False
    car.step()
    assert car.app.actions.is_off_beat is True
    car.board.step_us = 0
    car.step(90)
    assert car.app.actions.is_off_beat is False
