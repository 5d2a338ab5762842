"""The car's own step, part by part: what stops it, how it steers, moves and is put out.

The board is the virtual one; its inputs are set by hand and the state of the car likewise, so that
each of its decisions is seen for itself. The whole program on its wheels is test_driving.py.
"""

import pytest

from firmware.app import App
from firmware.boards.virtual import VirtualBoard
from tests.firmware.core.desk import claim_of, params_with

STARTING, STANDBY, ACTIVE, HOLD, STOPPING, STOPPED, FAULT = range(7)
(RUNSTOP_LOOP, STOP_REQUEST, FROZEN, SILENCE, CLOCK_STEP, CLOCK_UNSURE, CHARGER, EMPTY, OVERRUN,
 UNATTENDED) = range(10)  # fmt: skip
CONFIGURATION, FOREIGN, RELAY, NO_MOTION, TOO_FAST = range(5)
BRAKES, NEUTRAL, CUTS = 0, 1, 2
PAD, SEAT = 1, 2
US = 1001
BOARD_ID = bytes(range(8))
STEP_US = 10_000
ESC_LOW, ESC_NEUTRAL, ESC_HIGH = 1_000_000, 1_500_000, 2_000_000
CHANNEL_ESC = 2

GIVEN = {
    "board_id": [0x0100, 0x0302, 0x0504, 0x0706], "start_ms": 100, "runstop_fitted": 1,
    "battery_low_mv": 7000, "battery_empty_mv": 6000, "clock_bound_us": 10_000,
    "speed_max_mm_s": 2000, "reverse_max_mm_s": 700, "accel_mm_s2": 30_000, "decel_mm_s2": 30_000,
    "blind_mm": 1000,
    "steer_max_urad": 400_000, "steer_rate_urad_s": 10_000_000, "lateral_accel_mm_s2": 30_000,
    "full_effort_mm_s": 4000, "nm_per_count": 1_000_000, "gain_per_m": 0,
    "source_mask": [0, 15, 15], "source_priority": [0, 120, 100],
    "source_lease_ms": [0, 500, 500], "source_cap_mm_s": [0, 1000, 1500],
    "source_flags": [0, 3, 1],
    "channel_kind": [CHANNEL_ESC], "channel_low": [ESC_LOW], "channel_neutral": [ESC_NEUTRAL],
    "channel_high": [ESC_HIGH],
}  # fmt: skip


class Car:
    """An App on a virtual board. Wheels turn as they are told, the contact follows the enable."""

    def __init__(self, image=None, **values) -> None:
        params = params_with(**{**GIVEN, **values})
        made = bytearray(params.image_size())
        params.write_image(made)
        self.board = VirtualBoard(BOARD_ID, bytes(made) if image is None else image, 1)
        self.board.battery_mv = 8000
        self.app = App(self.board)
        self.now_us = 0
        self.speed_mm_s = 0
        self.is_welded = False
        self.sequence = 0
        self.app.sessions.bind(US, 0)
        self.wishes = {}
        self.counts = {}

    @property
    def state(self) -> int:
        return self.app.supervisor.state

    def step(self, steps=1) -> "Car":
        for _ in range(steps):
            session = self.app.sessions.slots[0]
            # as after a Sync
            session.bound_us = session._sampled_bound_us = min(session.bound_us, 1000)
            session._sampled_us = self.now_us
            self._claim()
            moved = self.speed_mm_s * STEP_US // 1_000_000
            self.board.count_left += moved
            self.board.count_right += moved
            if not self.is_welded:
                self.board.enable_contact = int(self.board.enable)
            self.app.step(self.now_us)
            self.now_us += STEP_US
        return self

    def _claim(self) -> None:
        for source, wish in self.wishes.items():
            self.sequence += 1
            self.counts[source] = self.counts.get(source, 0) + 1
            fields = {"epoch": US, "source": source, "sequence": self.sequence, "mask": 3,
                      "deadman": 1, "input_count": self.counts[source], "lease_ms": 100,
                      "stamp_us": self.now_us}  # fmt: skip
            claim = claim_of(**{**fields, **wish})
            assert self.app.arbiter.receive(claim, self.now_us) == 0

    def drive(self, source=PAD, **wish) -> "Car":
        """From power-up to ACTIVE under this source; the arm itself is actions' business."""
        self.step(12)
        self.wishes = {source: {"deadman": 0}}
        self.step(2)
        self.app.supervisor.state = HOLD
        self.app.arbiter.begin_from_neutral(self.now_us)
        self.wishes = {source: {}}
        self.step(2)
        assert self.state == ACTIVE
        self.wishes = {source: wish}
        return self.step()

    def has_cause(self, cause: int) -> bool:
        return self.app.runstop.bits == 1 << cause

    def has_fault(self, fault: int) -> bool:
        return self.app.faults.bits == 1 << fault

    @property
    def drive_ns(self) -> int:
        return self.board.values[0]


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
    car = Car(runstop_fitted=0)
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
    car.wishes = {PAD: {}}
    car.step(3)
    car.wishes = {PAD: {"input_count": 7}}
    car.step(30)
    car.wishes = {}
    car.step(30)
    assert (car.state, car.app.runstop.bits) == (STANDBY, 0)


@pytest.mark.parametrize("state", [ACTIVE, HOLD])
def test_silence_stops_an_armed_car(car, state):
    car.drive()
    if state == HOLD:
        car.wishes[PAD]["deadman"] = 0
        car.step()
    assert car.state == state
    car.wishes = {}
    car.step(9)
    assert (car.state, car.app.runstop.bits) == (state, 0)
    car.step(2)
    assert car.state == STOPPING
    assert car.has_cause(SILENCE)


def test_a_frozen_input_stops_an_armed_car(car):
    car.drive()
    car.wishes[PAD]["input_count"] = 7
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
    car.wishes = {}
    session = car.app.sessions.slots[0]
    session.bound_us = session._sampled_bound_us = bound_us
    car.app.sessions.step = lambda now_us: None
    car.app.step(car.now_us)
    assert car.has_cause(CLOCK_UNSURE) is stops
    assert (car.state == STOPPING) is stops


def test_a_clock_in_doubt_stops_nobody_who_is_not_in_command(car):
    car.drive()
    car.wishes[PAD]["deadman"] = 0
    car.step()
    assert car.state == HOLD
    car.app.sessions.slots[0].bound_us = 50_000
    car.app.sessions.step = lambda now_us: None
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
        car.step(5)
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
    car.step(5)
    assert car.app.faults.bits == 0
    car.step()
    assert car.has_fault(RELAY)


def test_driven_without_motion_is_a_fault_only_while_it_drives():
    car = Car(stuck_ms=100, stuck_effort=1000)
    car.drive(speed_mm_s=1000)
    car.step(9)
    assert car.app.faults.bits == 0
    car.step(9)
    assert car.has_fault(NO_MOTION)
    assert car.state in (STOPPING, FAULT)
    assert car.app.stop_sequence.policy == NEUTRAL


def test_a_car_that_is_pushed_too_fast_is_a_fault_and_does_not_brake_by_its_speed(car):
    car.drive()
    car.speed_mm_s = 5000
    car.step(40)
    assert car.has_fault(TOO_FAST)
    assert car.app.stop_sequence.policy == NEUTRAL


def test_a_stop_whose_speed_is_trusted_brakes(car):
    car.drive()
    car.app.runstop.latch(STOP_REQUEST)
    car.step()
    assert car.app.stop_sequence.policy == BRAKES


# --- its state


def test_what_was_granted_counts_for_one_step(car):
    car.step(12)
    car.app.actions.granted = 32
    car.step()
    assert (car.state, car.app.actions.granted) == (HOLD, 0)


def test_a_stop_and_a_fault_keep_a_granted_arm_from_moving_the_car(car):
    for latch in (car.app.runstop, car.app.faults):
        car.step(12)
        latch.latch(1)
        car.app.actions.granted = 32
        car.step()
        assert car.state in (STANDBY, FAULT)
        latch.clear()


def test_a_stop_ends_when_the_wheels_have_stood(car):
    car.drive()
    car.app.runstop.latch(STOP_REQUEST)
    assert car.step(5).state == STOPPING
    assert car.step().state == STOPPED


def test_a_stop_waits_for_the_wheels(car):
    car.drive()
    car.speed_mm_s = 500
    car.step(5)
    car.app.runstop.latch(STOP_REQUEST)
    assert car.step(50).state == STOPPING
    car.speed_mm_s = 0
    assert car.step(15).state == STOPPED


def test_a_fault_while_moving_goes_through_stopping(car):
    car.drive()
    car.app.faults.latch(CONFIGURATION)
    assert car.step().state == STOPPING
    assert car.step(7).state == FAULT


def test_a_stricter_cause_that_comes_while_it_stops_is_obeyed():
    car = Car(stop_policy=[CUTS, BRAKES])
    car.drive()
    car.speed_mm_s = 500
    car.app.runstop.latch(STOP_REQUEST)
    car.step(5)
    assert (car.app.stop_sequence.policy, car.board.enable) == (BRAKES, True)
    car.board.runstop_closed = 0
    car.step()
    assert (car.app.stop_sequence.policy, car.board.enable) == (CUTS, False)


# --- steering


def test_the_winner_steers_and_with_nobody_the_angle_is_held(car):
    car.drive(steer_urad=90_000)
    car.step(10)
    assert car.app.steering.steer_urad == 90_000
    car.wishes[PAD]["deadman"] = 0
    car.step(10)
    assert car.app.steering.steer_urad == 90_000


def test_with_nobody_the_wheels_centre_where_they_are_to():
    car = Car(steer_centres=1)
    car.drive(steer_urad=90_000)
    car.step(10)
    assert car.app.steering.steer_urad == 90_000
    car.wishes[PAD]["deadman"] = 0
    car.step(10)
    assert car.app.steering.steer_urad == 0


def test_during_a_stop_the_angle_is_held_whatever_is_claimed(car):
    car.drive(steer_urad=90_000)
    car.step(10)
    car.app.runstop.latch(STOP_REQUEST)
    car.wishes[PAD]["steer_urad"] = -90_000
    car.step(10)
    assert car.app.steering.steer_urad == 90_000


def test_steering_is_slewed_by_the_length_of_the_step():
    car = Car(steer_rate_urad_s=1_000_000)
    car.drive(steer_urad=90_000)
    assert car.app.steering.steer_urad == 10_000


def test_while_it_starts_it_stands_straight_whatever_is_claimed(car):
    car.wishes = {PAD: {"deadman": 0, "steer_urad": 50_000}}
    car.step(2)
    car.wishes = {PAD: {"steer_urad": 50_000}}
    car.step(5)
    assert (car.state, car.app.arbiter.winners[0]) == (STARTING, PAD)
    assert car.app.steering.steer_urad == 0


def test_the_wheels_follow_the_envelope_of_the_measured_speed():
    car = Car(lateral_accel_mm_s2=1000, wheelbase_um=300_000)
    car.drive(steer_urad=300_000)
    car.step(10)
    assert car.app.steering.steer_urad == 300_000
    car.speed_mm_s = 1500
    car.step(60)
    assert car.app.steering.steer_urad < 1000 * 300 / 1.5**2


# --- moving


@pytest.mark.parametrize(
    ("wish", "target"), [(5000, 1000), (1000, 1000), (300, 300), (-300, -300), (-5000, -700)]
)
def test_the_target_stays_within_the_sources_cap_and_the_cars_limits(car, wish, target):
    car.drive(speed_mm_s=wish)
    car.step(20)
    assert car.app.drive.target_mm_s == target
    assert car.app.brake == 0


def test_the_cars_limits_hold_where_the_cap_is_higher_and_the_cap_in_reverse():
    car = Car(speed_max_mm_s=1200, reverse_max_mm_s=2000)
    car.drive(SEAT, speed_mm_s=5000)
    assert car.step(20).app.drive.target_mm_s == 1200
    car.wishes[SEAT]["speed_mm_s"] = -5000
    assert car.step(25).app.drive.target_mm_s == -1500


def test_the_winners_brake_comes_before_its_speed(car):
    car.drive(speed_mm_s=800, mask=7)
    car.step(10)
    assert (car.app.brake, car.app.drive.effort > 0) == (0, True)
    car.speed_mm_s = 800
    car.step(5)
    car.wishes[PAD]["brake"] = 3
    car.step()
    assert car.app.brake == 3
    assert car.app.drive.effort < 0
    car.wishes[PAD]["brake"] = 0
    assert car.step().app.brake == 0


def test_a_brake_that_is_not_claimed_does_not_brake(car):
    car.drive(speed_mm_s=800, brake=200, mask=3)
    car.step(5)
    assert (car.app.brake, car.app.drive.effort > 0) == (0, True)


def test_hold_and_a_braking_stop_brake_what_rolls(car):
    car.drive(speed_mm_s=800)
    car.speed_mm_s = 800
    car.step(5)
    car.wishes[PAD]["deadman"] = 0
    car.step()
    assert (car.state, car.app.brake, car.board.enable) == (HOLD, 255, True)
    assert car.drive_ns < ESC_NEUTRAL
    car.app.runstop.latch(STOP_REQUEST)
    car.step()
    assert (car.state, car.app.brake, car.board.enable) == (STOPPING, 255, True)
    assert car.drive_ns < ESC_NEUTRAL


@pytest.mark.parametrize(("policy", "enable"), [(NEUTRAL, True), (CUTS, False)])
def test_a_stop_that_does_not_brake_is_neutral_and_a_cut_opens_the_enable(policy, enable):
    car = Car(stop_policy=[policy] * 10)
    car.drive(speed_mm_s=800)
    car.speed_mm_s = 800
    car.step(5)
    car.app.runstop.latch(STOP_REQUEST)
    car.step()
    assert (car.state, car.board.enable, car.app.is_enabled) == (STOPPING, enable, enable)
    assert (car.drive_ns, car.app.drive.effort, car.app.brake) == (ESC_NEUTRAL, 0, 0)


@pytest.mark.parametrize("state", [STARTING, STANDBY, STOPPED, FAULT])
def test_a_car_that_may_not_move_is_neutral_and_not_enabled(state):
    car = Car(start_ms=10_000)
    car.step(12)
    car.app.supervisor.state = state
    car.wishes = {PAD: {"deadman": 0}}
    car.step()
    car.wishes = {PAD: {}}
    car.step()
    car.wishes = {PAD: {"speed_mm_s": 800}}
    car.app.drive.effort = 5000
    car.speed_mm_s = 800
    car.step(5)
    assert car.state in (state, FAULT)
    assert not car.board.enable
    assert (car.drive_ns, car.app.drive.effort, car.app.brake) == (ESC_NEUTRAL, 0, 0)


def test_what_is_put_out_is_the_effort_in_the_calibrated_range(car):
    car.drive(speed_mm_s=1000)
    car.step(10)
    effort = car.app.drive.effort
    assert effort > 0
    assert car.drive_ns == ESC_NEUTRAL + 50_000 * effort // 1000


def test_the_car_reports_after_it_has_decided(car):
    car.step(12)
    assert car.board.sent_size > 0
    assert car.app.is_standing()
    car.speed_mm_s = 500
    car.step(5)
    assert not car.app.is_standing()
