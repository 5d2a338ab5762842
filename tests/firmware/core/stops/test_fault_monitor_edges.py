"""What a car watches, at its edges: what ends, what is timed, what brakes."""

import pytest

from tests.firmware.core.bare_car import (
    ACTIVE,
    BOOT_LOOP,
    CHARGER,
    CONFIGURATION,
    EMPTY,
    ENCODER,
    NO_MOTION,
    OUTPUT,
    OVERRUN,
    PAD,
    RELAY,
    RUNAWAY,
    RUNSTOP_LOOP,
    STAND,
    STAND_OVER,
    STEP_US,
    STOP_REQUEST,
    STOPPING,
    TOO_FAST,
    Car,
)
from tests.firmware.core.stops.test_fault_monitor import BOX, say, with_box

SECOND_US = 1_000_000


@pytest.mark.parametrize(
    ("cause", "name", "wrong", "right"),
    [
        (RUNSTOP_LOOP, "runstop_closed", 0, 1), (CHARGER, "charger", 1, 0),
        (EMPTY, "battery_mv", 5000, 8000),
    ],
)  # fmt: skip
def test_what_ends_is_present_no_longer(cause, name, wrong, right):
    car = Car()
    setattr(car.board, name, wrong)
    car.step(110)
    assert car.app.runstop.present == 1 << cause
    setattr(car.board, name, right)
    car.step(110)
    assert (car.app.runstop.present, car.app.runstop.bits) == (0, 1 << cause)


def test_a_configuration_that_came_is_a_fault_no_longer():
    car = Car(image=b"")
    car.step(2)
    assert car.app.faults.present == 1 << CONFIGURATION
    car.app.configuration.is_valid = car.app.configuration.is_ours = True
    car.step()
    assert (car.app.faults.present, car.app.faults.bits) == (0, 1 << CONFIGURATION)


def test_a_start_is_healthy_after_ten_seconds_to_the_microsecond():
    car = Car()
    car.board.failed_starts = 3
    car.app.step(0)
    car.app.step(10 * SECOND_US - 1)
    assert (car.board.is_healthy, car.app.faults.present) == (False, 1 << BOOT_LOOP)
    car.app.step(10 * SECOND_US)
    assert (car.board.is_healthy, car.app.faults.present) == (True, 0)


def test_an_overrun_is_told_by_the_configured_step():
    for step_us, longest_us in ((5_000, 15_000), (10_000, 30_000), (20_000, 30_000)):
        for over_us in (0, 1):
            car = Car(step_us=step_us)
            car.drive()
            car.board.step_us = longest_us + over_us
            car.step()
            assert bool(car.app.runstop.bits >> OVERRUN & 1) is bool(over_us)


def test_the_stands_seconds_are_seconds():
    for at_us, is_over in ((SECOND_US - 1, False), (SECOND_US, True)):
        car = Car(stand_ms=1000)
        car.drive()
        car.app.fault_monitor.begin(STAND, car.now_us)
        car.app.step(car.now_us + at_us)
        assert bool(car.app.runstop.bits >> STAND_OVER & 1) is is_over


def at_speed() -> Car:
    """As fast as it was told; whatever it is told then, it does not obey."""
    car = Car(runaway_mm_s=500, stuck_effort=10_000)
    car.drive(speed_mm_s=1000)
    car.step(10)
    car.speed_mm_s = 1000
    return car.step(10)


def told(**command) -> Car:
    car = at_speed()
    car.claims[PAD] = command
    return car.step(60)


def test_whoever_is_told_to_stand_and_rolls_on_runs_away():
    assert told(speed_mm_s=0).has_fault(RUNAWAY)


def test_whoever_is_braked_lightly_may_roll_for_long():
    car = told(speed_mm_s=1000, mask=7, brake=20)
    assert (car.state, car.app.faults.bits) == (ACTIVE, 0)


@pytest.mark.parametrize(("name", "is_open"), [("runstop_closed", 0), ("guard_tripped", 1)])
def test_a_welded_contact_is_a_fault_behind_an_open_loop_too(name, is_open):
    car = Car()
    car.step(12)
    setattr(car.board, name, is_open)
    car.step(12)
    assert car.app.faults.bits == 0
    car.is_welded, car.board.enable_contact = True, 1
    car.step()
    assert car.has_fault(RELAY)


def test_a_loop_that_opens_between_two_readings_of_a_step_is_no_fault_of_the_output():
    car = Car().drive()
    for is_closed in (1, 0):
        car.board.runstop_closed = is_closed
        car.board.read_back[0] = 0
        car.app.step(car.now_us)
        car.now_us += STEP_US
    assert (car.state, car.app.faults.bits) == (STOPPING, 0)


@pytest.mark.parametrize("is_cut_off", [False, True])
def test_whoever_gains_speed_runs_away_but_not_once_the_guard_has_cut_it_off(is_cut_off):
    car = Car(runaway_mm_s=500).drive(speed_mm_s=1000)
    car.board.guard_tripped = int(is_cut_off)  # downhill, then, and no output holds it
    for speed_mm_s in range(1000, 2200, 20):
        car.speed_mm_s = speed_mm_s
        car.step()
    assert car.has_fault(RUNAWAY) is not is_cut_off
    assert car.state == STOPPING


def test_a_stop_that_brakes_in_vain_is_a_runaway():
    car = at_speed()
    car.app.runstop.latch(STOP_REQUEST)
    assert car.step(60).has_fault(RUNAWAY)


@pytest.mark.parametrize("fault", [CONFIGURATION, RELAY, OUTPUT, NO_MOTION, TOO_FAST, ENCODER])
def test_by_a_speed_in_doubt_nobody_brakes_and_nobody_runs_away(fault):
    car = at_speed()
    car.app.faults.latch(fault)
    car.step(60)
    runs_away = car.app.faults.bits == 1 << fault | 1 << RUNAWAY
    assert runs_away is (fault not in (NO_MOTION, TOO_FAST, ENCODER))


def test_what_stopped_it_and_what_failed_grow_older_with_each_step():
    car = Car().step(12)
    car.app.runstop.latch(STOP_REQUEST)
    car.app.faults.latch(OUTPUT)
    car.step(20)
    assert (car.app.runstop.age_ms, car.app.faults.age_ms) == (200, 200)


@pytest.mark.parametrize(("runs", "silent_steps", "is_live"), [(1, 0, 1), (0, 0, 0), (1, 30, 0)])
def test_a_box_is_a_live_switch_while_it_is_heard_and_lets_it_run(runs, silent_steps, is_live):
    car = with_box()
    assert car.step(12).app.arbiter.live_switches == 1  # the loop
    say(car, runs)
    car.step(1 + silent_steps)
    assert car.app.arbiter.live_switches == 1 | is_live << BOX
