"""What stops a car beside its pins and its person, and each fault by its name: S2, S3, S5, S11."""

import pytest

from firmware.core.settings.params import CHANNEL_BRAKE, CHANNEL_ESC
from firmware.protocol.codec import fill_values
from firmware.protocol.messages import Alive
from tests.firmware.core.bare_car import (
    ACTIVE,
    BOOT_LOOP,
    BROWN_OUT,
    CUTS,
    ENCODER,
    ESC_HIGH,
    ESC_LOW,
    ESC_NEUTRAL,
    FAULT,
    HOLD,
    NEUTRAL,
    OUTPUT,
    OVER_TEMPERATURE,
    OVERRUN,
    PAD,
    RUNAWAY,
    RUNSTOP_LOOP,
    STAND,
    STAND_OVER,
    STANDBY,
    STEP_US,
    STOP_SOURCE,
    STOP_SOURCE_SILENT,
    STOPPING,
    TRACK,
    US,
    Car,
)

LOOP, RC, LINK = 1, 2, 3  # kinds of stop source
BOX = 3
REQUIRED = 2
IN_TRACK = [2] + [0] * 15 + [2, 0, 0, REQUIRED] + [0] * 12 + [2]


def with_box(needs=None, **values) -> Car:
    """A car with a loop and a runstop box over the link."""
    kinds = {"stop_source_kind": [LOOP, 0, 0, LINK]}
    return Car(**kinds, **({"stop_source_need": needs} if needs else {}), **values)


def say(car: Car, runs=1, stop_source=BOX, epoch=US) -> None:
    alive = Alive()
    alive.epoch, alive.stop_source, alive.runs = epoch, stop_source, runs
    car.sequence += 1
    alive.sequence, alive.stamp_us = car.sequence, car.now_us
    fill_values(alive)
    car.app.stop_sources.receive(alive, car.now_us)


def keep_saying(car: Car, steps: int, runs=1) -> Car:
    for _ in range(steps):
        say(car, runs)
        car.step()
    return car


def driving(car: Car, **command) -> Car:
    car.drive(**command)
    return car


@pytest.fixture
def car():
    return Car()


# --- stop sources


@pytest.mark.parametrize("state", range(7))
def test_a_stop_that_is_said_is_present_in_every_state_and_latched(state):
    car = with_box()
    car.step(12)
    car.app.arbiter.begin_from_neutral(car.now_us)
    car.app.supervisor.state = state
    say(car, runs=0)
    car.step()
    assert car.has_cause(STOP_SOURCE)
    assert car.app.runstop.present == 1 << STOP_SOURCE
    if state in (ACTIVE, HOLD):
        assert car.state == STOPPING
    say(car, runs=1)
    car.step()
    assert car.has_cause(STOP_SOURCE)
    assert car.app.runstop.present == 0


@pytest.mark.parametrize("named", [0, BOX, 7])
def test_a_stop_from_a_stranger_in_any_name_is_latched_and_not_present(named):
    car = with_box()
    driving(car)
    say(car, runs=0, stop_source=named, epoch=5)
    car.step()
    assert car.state == STOPPING
    assert car.has_cause(STOP_SOURCE)
    assert car.app.runstop.present == 0


def test_an_open_loop_is_its_own_cause_and_not_that_of_a_stop_source():
    car = driving(with_box())
    car.board.runstop_closed = 0
    car.step()
    assert car.has_cause(RUNSTOP_LOOP)
    assert car.app.runstop.present == 1 << RUNSTOP_LOOP


def test_a_required_one_that_falls_silent_stops_an_armed_car_and_no_other():
    car = with_box(IN_TRACK)
    car.step(12)
    assert (car.state, car.app.runstop.bits) == (STANDBY, 0)
    say(car)
    driving(car)
    keep_saying(car, 30)
    assert (car.state, car.app.runstop.bits) == (ACTIVE, 0)
    car.step(24)
    assert car.state == ACTIVE
    car.step(2)
    assert car.state == STOPPING
    assert car.has_cause(STOP_SOURCE_SILENT)


@pytest.mark.parametrize(("policy", "enable"), [(NEUTRAL, True), (CUTS, False)])
def test_a_stop_source_stops_by_its_own_policy(policy, enable):
    car = with_box(stop_source_policy=[0, 0, 0, policy])
    driving(car)
    car.speed_mm_s = 500
    say(car, runs=0)
    car.step()
    assert (car.app.stop_sequence.policy, car.board.enable) == (policy, enable)
    assert car.drive_ns == ESC_NEUTRAL


def test_one_that_is_missing_stops_by_its_policy_too():
    car = with_box(IN_TRACK, stop_source_policy=[0, 0, 0, CUTS])
    car.step(12)
    say(car)
    driving(car)
    car.step(30)
    assert car.has_cause(STOP_SOURCE_SILENT)
    assert car.app.stop_sequence.policy == CUTS


# --- the guard, and the stand


@pytest.mark.parametrize("state", [STANDBY, HOLD, ACTIVE])
def test_a_guard_that_fell_is_an_overrun_of_what_was_armed_and_a_cut(car, state):
    driving(car)
    if state == HOLD:
        car.claims[PAD]["deadman"] = 0
        car.step()
    car.app.supervisor.state = state
    car.board.guard_tripped = 1
    car.step()
    assert car.has_cause(OVERRUN) is (state != STANDBY)
    if state != STANDBY:
        assert (car.app.stop_sequence.policy, car.board.enable) == (CUTS, False)


def test_the_time_on_a_stand_is_over_after_its_seconds_and_no_sooner():
    car = driving(Car(stand_ms=1000))
    began_us = car.now_us
    car.app.fault_monitor.begin(STAND, began_us)
    assert car.app.fault_monitor.is_on_stand
    while car.now_us < began_us + 1_000_000:
        assert car.step().app.runstop.bits == 0
    car.step()
    assert car.state == STOPPING
    assert car.has_cause(STAND_OVER)


def test_on_the_ground_there_is_no_such_time():
    car = driving(Car(stand_ms=1000))
    car.app.fault_monitor.begin(TRACK, car.now_us)
    assert not car.app.fault_monitor.is_on_stand
    assert car.step(150).app.runstop.bits == 0


def test_a_new_arm_begins_the_time_on_the_stand_anew():
    car = driving(Car(stand_ms=1000))
    car.app.fault_monitor.begin(STAND, car.now_us)
    car.step(90)
    car.app.fault_monitor.begin(STAND, car.now_us)
    assert car.step(99).app.runstop.bits == 0


# --- faults


def test_a_brown_out_is_a_fault_that_ends_with_it():
    car = driving(Car(brown_out_mv=6500))
    car.board.battery_mv = 6499
    assert car.step().app.faults.bits == 0
    car.step()
    assert car.has_fault(BROWN_OUT)
    assert car.state == STOPPING
    car.board.battery_mv = 8000
    car.step()
    assert (car.app.faults.bits, car.app.faults.present) == (1 << BROWN_OUT, 0)


@pytest.mark.parametrize(("degrees_c", "is_fault"), [(79, False), (80, True)])
def test_heat_is_a_fault_from_its_limit_on(degrees_c, is_fault):
    car = driving(Car(temperature_max_c=80))
    car.board.temperature_c = degrees_c
    car.step()
    assert car.has_fault(OVER_TEMPERATURE) is is_fault


def test_an_output_that_does_not_come_out_is_a_fault(car):
    driving(car)
    for is_away in (True, False, True, True):
        car.step()
        car.board.read_back[0] = car.board.values[0] + (6_000 if is_away else 0)
        car.app.step(car.now_us)
        assert car.has_fault(OUTPUT) is False
    car.board.read_back[0] += 6_000
    car.app.step(car.now_us)
    assert car.has_fault(OUTPUT)


def test_a_drive_that_is_off_is_not_read_back(car):
    car.step(12)
    for _ in range(5):
        car.board.read_back[0] = 0
        car.app.step(car.now_us)
    assert car.app.faults.bits == 0


def test_an_output_that_something_held_at_the_start_is_a_fault_that_stays():
    car = Car()
    car.board.has_held_output = 1
    car.step(300)
    assert car.state == FAULT
    assert (car.app.faults.bits, car.app.faults.present) == (1 << OUTPUT, 1 << OUTPUT)


@pytest.mark.parametrize("failed", [2, 3, 4])
def test_three_starts_that_failed_are_a_fault_until_one_lasts_ten_seconds(failed):
    car = Car()
    car.board.failed_starts = failed
    for step in range(1001):
        assert car.board.is_healthy is False
        car.step()
        if step < 1000:
            assert car.has_fault(BOOT_LOOP) is (failed >= 3)
            assert (car.app.faults.present != 0) is (failed >= 3)
    assert car.board.is_healthy
    assert car.app.faults.present == 0
    assert (car.state == FAULT) is (failed >= 3)


def test_a_start_is_marked_healthy_once(car):
    car.step(1001)
    car.board.is_healthy = False
    car.step(1100)
    assert car.board.is_healthy is False


# --- wheels that do not obey


def rolling(car: Car, state: int = ACTIVE) -> Car:
    """Faster than anybody asked for by far more than its limit, for most of a second."""
    car.speed_mm_s = 1500
    if state == HOLD:
        car.claims[PAD]["deadman"] = 0
    return car.step(70)


@pytest.mark.parametrize("state", [ACTIVE, HOLD])
def test_an_armed_car_that_does_not_obey_runs_away(state):
    car = rolling(driving(Car(runaway_mm_s=500)), state)
    assert car.has_fault(RUNAWAY)
    assert car.state == STOPPING


@pytest.mark.parametrize("is_signed", [0, 1])
@pytest.mark.parametrize("channels", [[CHANNEL_ESC], [CHANNEL_ESC, CHANNEL_BRAKE]])
def test_a_car_that_nothing_can_brake_has_a_second_to_roll_slower(is_signed, channels):
    """Of counts without a direction the drive never brakes; a brake channel needs no direction."""
    low, neutral, high = [ESC_LOW, 1_000_000], [ESC_NEUTRAL, 1_000_000], [ESC_HIGH, 2_000_000]
    ranges = {"channel_low": low, "channel_neutral": neutral, "channel_high": high}
    given = {"encoder_signed": is_signed, "channel_kind": channels, **ranges}
    car = driving(Car(runaway_mm_s=500, **given), speed_mm_s=1000)
    car.speed_mm_s = 1000
    car.step(10)
    car.claims[PAD]["deadman"] = 0
    can_brake = bool(is_signed) or CHANNEL_BRAKE in channels
    assert car.step(70).has_fault(RUNAWAY) is can_brake
    assert car.step(50).has_fault(RUNAWAY)


def test_a_stop_that_does_not_slow_it_down_is_a_runaway():
    car = driving(Car(runaway_mm_s=500))
    car.app.runstop.latch(1)
    rolling(car)
    assert car.has_fault(RUNAWAY)


def test_a_stop_that_does_not_brake_lets_it_roll():
    car = driving(Car(runaway_mm_s=500, stop_policy=[NEUTRAL] * 13), speed_mm_s=1000)
    car.step(10)
    car.speed_mm_s = 1000
    car.step(10)
    car.app.runstop.latch(1)
    car.step(70)
    assert (car.app.faults.bits, car.state) == (0, STOPPING)


def test_whoever_is_not_armed_may_be_pushed():
    car = Car(runaway_mm_s=500)
    car.step(12)
    car.speed_mm_s = 1500
    assert car.step(50).app.faults.bits == 0


def test_on_a_stand_wheels_are_turned_by_hand():
    car = driving(Car(runaway_mm_s=500))
    car.app.fault_monitor.begin(STAND, car.now_us)
    assert rolling(car).app.faults.bits == 0


def one_sided(car: Car, steps: int) -> Car:
    """The left wheels turn, the right ones do not."""
    for _ in range(steps):
        car.board.count_left += 10
        car.step()
    return car


def test_one_side_that_stands_while_it_drives_is_a_dead_encoder():
    car = one_sided(driving(Car(stuck_ms=300), speed_mm_s=1000), 60)
    assert car.has_fault(ENCODER)
    assert car.app.drive.effort == 0


def test_a_wheel_that_is_turned_by_hand_is_no_dead_encoder():
    car = Car(stuck_ms=300)
    car.step(12)
    assert one_sided(car, 60).app.faults.bits == 0
    on_stand = driving(Car(stuck_ms=300), speed_mm_s=1000)
    on_stand.app.fault_monitor.begin(STAND, on_stand.now_us)
    assert one_sided(on_stand, 60).app.faults.bits == 0


# --- the relay


def test_a_contact_is_sure_when_it_was_seen_open_for_its_time(car):
    car.step()
    assert car.app.actions.is_contact_sure
    driving(car)
    assert not car.app.actions.is_contact_sure
    car.app.supervisor.state = STANDBY
    car.claims = {}
    car.step(6)
    assert not car.app.actions.is_contact_sure
    car.step()
    assert car.app.actions.is_contact_sure
    car.board.enable_contact, car.is_welded = 1, True
    car.step()
    assert not car.app.actions.is_contact_sure


@pytest.mark.parametrize("why", ["guard", "loop"])
def test_a_contact_that_the_guard_has_opened_is_no_fault(car, why):
    driving(car)
    car.step(10)
    car.is_welded, car.board.enable_contact = True, 0
    if why == "guard":
        car.board.guard_tripped = 1
    else:
        car.board.runstop_closed = 0
    car.app.step(car.now_us + STEP_US)
    assert car.app.faults.bits == 0
    assert car.state == STOPPING
