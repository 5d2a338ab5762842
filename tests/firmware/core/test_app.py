"""What stops a car, and its faults: S2, S3, S9, S11, each decision seen for itself.

The whole program on its wheels is test_driving.py.
"""

import pytest

from firmware.protocol.codec import encode_into
from firmware.protocol.frame import FrameWriter, crc_table
from firmware.protocol.messages import Stop
from tests.firmware.core.bare_car import (
    ACTIVE,
    BRAKES,
    CHARGER,
    CLOCK_UNSURE,
    CONFIGURATION,
    EMPTY,
    ESC_NEUTRAL,
    FAULT,
    FOREIGN,
    FROZEN,
    HOLD,
    NO_MOTION,
    OVERRUN,
    PAD,
    RELAY,
    RUNSTOP_LOOP,
    SILENCE,
    STANDBY,
    STARTING,
    STEP_US,
    STOP_REQUEST,
    STOPPING,
    TOO_FAST,
    UNATTENDED,
    Car,
    share,
)


@pytest.fixture
def car():
    return Car()


# --- what stops it


def test_a_car_stands_by_after_its_time_in_neutral_and_not_before(car):
    assert car.step(10).state == STARTING
    assert car.step().state == STANDBY
    assert (car.app.runstop.bits, car.app.faults.bits) == (0, 0)
    assert not car.board.enable
    assert car.drive_ns == ESC_NEUTRAL


CAUSES = {
    RUNSTOP_LOOP: lambda car: setattr(car.board, "runstop_closed", 0),
    CHARGER: lambda car: setattr(car.board, "charger", 1),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_a_cause_on_a_pin_is_latched_in_every_state_and_stops_what_is_armed(cause):
    for state in range(7):
        car = Car()
        car.step(12)
        car.app.arbiter.begin_from_neutral(car.now_us)
        car.app.supervisor.state = state
        CAUSES[cause](car)
        car.step()
        assert car.has_cause(cause)
        assert car.app.runstop.present == 1 << cause
        if state in (ACTIVE, HOLD):
            assert car.state == STOPPING


def test_a_loop_that_is_not_fitted_stops_nothing():
    seat = [0, 0, 0, 1] + [0] * 12  # a person can stop it by other means
    car = Car(stop_source_kind=[0, 0, 0, 3], stop_source_need=seat * 3)
    car.board.runstop_closed = 0
    assert car.step(12).state == STANDBY
    assert car.app.runstop.bits == 0


def test_a_charger_that_is_taken_away_is_no_longer_present_but_latched(car):
    car.board.charger = 1
    car.step()
    car.board.charger = 0
    car.step()
    assert (car.app.runstop.bits, car.app.runstop.present) == (1 << CHARGER, 0)


@pytest.mark.parametrize(("millivolts", "stops"), [(5999, True), (6000, False), (6999, False)])
def test_an_empty_battery_stops_and_a_low_one_does_not(car, millivolts, stops):
    car.board.battery_mv = millivolts
    car.step(110)
    assert car.has_cause(EMPTY) is stops


def test_silence_and_frozen_inputs_stop_only_what_is_armed(car):
    car.step(12)
    car.claims = {PAD: {}}
    car.step(3)
    car.claims = {PAD: {"input_count": 7}}
    car.step(30)
    car.claims = {}
    car.step(30)
    assert (car.state, car.app.runstop.bits) == (STANDBY, 0)


@pytest.mark.parametrize("state", [ACTIVE, HOLD])
def test_silence_stops_an_armed_car(car, state):
    car.drive()
    if state == HOLD:
        car.claims[PAD]["deadman"] = 0
        car.step()
    assert car.state == state
    car.claims = {}
    car.step(9)
    assert (car.state, car.app.runstop.bits) == (state, 0)
    car.step(2)
    assert car.state == STOPPING
    assert car.has_cause(SILENCE)


def test_a_frozen_input_stops_an_armed_car(car):
    car.drive()
    car.claims[PAD]["input_count"] = 7
    car.step(20)
    assert (car.state, car.app.runstop.bits) == (ACTIVE, 0)
    car.step(2)
    assert car.state == STOPPING
    assert car.has_cause(FROZEN)


def test_an_armed_car_that_nobody_comes_to_stops(car):
    car.step(12)
    car.app.supervisor.state = HOLD
    car.app.arbiter.begin_from_neutral(car.now_us)
    car.step(300)
    assert (car.state, car.app.runstop.bits) == (HOLD, 0)
    car.step(1)
    assert car.state == STOPPING
    assert car.has_cause(UNATTENDED)


@pytest.mark.parametrize(("bound_us", "stops"), [(10_000, False), (10_001, True)])
def test_a_clock_in_doubt_stops_whom_it_drives(car, bound_us, stops):
    car.drive(mask=15)
    car.claims = {}
    session = car.app.sessions.slots[0]
    session.bound_us = session._sampled_bound_us = bound_us
    car.app.sessions.step = lambda now_us, ran_us: None
    car.app.step(car.now_us)
    assert car.has_cause(CLOCK_UNSURE) is stops
    assert (car.state == STOPPING) is stops


@pytest.mark.parametrize(("slot", "stops"), [(0, False), (1, True)])
def test_only_the_clock_of_whom_drives_it_counts(car, slot, stops):
    share(car)
    car.app.sessions.slots[slot].bound_us = 50_000
    car.app.sessions.step = lambda now_us, ran_us: None
    car.app.step(car.now_us)
    assert car.has_cause(CLOCK_UNSURE) is stops


def test_doubt_about_a_clock_grows_with_each_step(car):
    car.step()
    car.app.step(car.now_us + 2_000_000)
    assert car.app.sessions.slots[0].bound_us > 1100


def stop_frame() -> bytes:
    writer = FrameWriter(crc_table())
    size = writer.wrap(encode_into(Stop(), writer.payload))
    return bytes(writer.out[:size])


def test_a_stop_in_the_bytes_that_came_is_obeyed_on_the_same_step(car):
    car.drive()
    frame = stop_frame()
    car.board.received[: len(frame)] = frame
    car.board.received_size = len(frame)
    car.step()
    assert car.state == STOPPING
    assert car.has_cause(STOP_REQUEST)


def test_a_clock_in_doubt_stops_nobody_who_is_not_in_command(car):
    car.drive()
    car.claims[PAD]["deadman"] = 0
    car.step()
    assert car.state == HOLD
    car.app.sessions.slots[0].bound_us = 50_000
    car.app.sessions.step = lambda now_us, ran_us: None
    car.app.step(car.now_us)
    assert (car.state, car.app.runstop.bits) == (HOLD, 0)


@pytest.mark.parametrize(("took_us", "stops"), [(30_000, False), (30_001, True)])
def test_a_step_as_long_as_three_stops_an_armed_car(car, took_us, stops):
    car.board.step_us = took_us
    car.step(12)
    assert car.app.runstop.bits == 0
    car.board.step_us = 0
    car.drive()
    car.board.step_us = took_us
    car.step()
    assert car.has_cause(OVERRUN) is stops


# --- on a stand


@pytest.mark.parametrize("profile", [0, 1, 2])
def test_odometry_is_told_before_each_step_whether_the_car_is_on_a_stand(car, profile):
    """There one wheel alone may turn: its speed is not doubled as if the other counter died."""
    car.app.fault_monitor.begin(profile, car.now_us)
    assert car.step().app.odometry.is_on_stand is (profile == 0)


# --- faults


def test_a_car_without_configuration_is_in_fault_and_is_nobody_elses():
    car = Car(image=b"")
    car.step(12)
    assert car.state == FAULT
    assert car.has_fault(CONFIGURATION)


def test_a_car_with_anothers_configuration_is_in_fault():
    car = Car(board_id=[0x0100, 0x0302, 0x0504, 0x0707])
    car.step(12)
    assert car.state == FAULT
    assert car.has_fault(FOREIGN)


@pytest.mark.parametrize("contact", [1, 0])
def test_a_contact_that_does_not_follow_within_its_time_is_a_fault(car, contact):
    car.is_welded = True
    if contact:
        car.board.enable_contact = 1
        car.step()
    else:
        car.is_welded = False
        car.step(12)
        car.app.arbiter.begin_from_neutral(car.now_us)
        car.app.supervisor.state = HOLD
        car.is_welded = True
        car.step(6)
        assert car.app.faults.bits == 0
        car.step()
    assert car.has_fault(RELAY)
    assert car.app.faults.present == 1 << RELAY


def test_a_contact_may_take_its_time_each_way_and_no_longer(car):
    car.drive()
    car.step(10)
    car.is_welded = True
    car.app.runstop.latch(RUNSTOP_LOOP)
    car.app.supervisor.state = STANDBY
    car.step(6)
    assert car.app.faults.bits == 0
    car.step()
    assert car.has_fault(RELAY)


def test_a_contact_has_fifty_milliseconds_to_the_microsecond(car):
    car.drive()
    car.step(10)
    car.is_welded = True
    car.app.supervisor.state = STANDBY
    car.step(2)
    seen_us = car.now_us - STEP_US  # the first step after the one that opened it
    car.app.step(seen_us + 49_999)
    assert car.app.faults.bits == 0
    car.app.step(seen_us + 50_000)
    assert car.has_fault(RELAY)


class LateBoard:
    """What the line brings while a step is under way; ``asked`` counts who looked for a Stop."""

    def __init__(self, car: Car) -> None:
        self._board = car.board
        self.late = b""
        self.asked = 0
        car.board.hears_stop = self.hears_stop

    def hears_stop(self) -> bool:
        self.asked += 1
        board, late = self._board, self.late
        board.received[board.received_size : board.received_size + len(late)] = late
        board.received_size += len(late)
        self.late = b""
        return bool(late)


def test_a_stop_that_comes_within_a_step_changes_that_step_s_outputs(car):
    car.drive(speed_mm_s=1000)
    before_ns = car.drive_ns
    assert before_ns > ESC_NEUTRAL
    late = LateBoard(car)
    late.late = stop_frame()
    car.step()
    assert (car.state, car.has_cause(STOP_REQUEST)) == (STOPPING, True)
    assert car.drive_ns < before_ns
    asked = late.asked
    car.step(5)
    assert late.asked == asked  # who stops already has no haste


def test_a_car_that_is_not_armed_looks_for_no_stop_within_its_step(car):
    late = LateBoard(car)
    car.step(20)
    assert (car.state, late.asked) == (STANDBY, 0)


def test_driven_without_motion_is_a_fault_only_while_it_drives():
    car = Car(stuck_ms=100, stuck_effort=1000)
    car.drive(speed_mm_s=1000)
    car.step(9)
    assert car.app.faults.bits == 0
    car.step(9)
    assert car.has_fault(NO_MOTION)
    assert car.state in (STOPPING, FAULT)
    assert car.app.drive.effort == 0


def test_a_car_that_is_pushed_too_fast_is_a_fault_and_does_not_brake_by_its_speed(car):
    car.drive()
    car.speed_mm_s = 5000
    car.step(40)
    assert car.has_fault(TOO_FAST)
    assert (car.state, car.app.stop_sequence.policy, car.app.drive.effort) == (STOPPING, BRAKES, 0)


def test_a_stop_whose_speed_is_trusted_brakes(car):
    car.drive()
    car.app.runstop.latch(STOP_REQUEST)
    car.step()
    assert car.app.stop_sequence.policy == BRAKES
