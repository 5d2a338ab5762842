"""What a car does in each of its states: S1, S3, S6, S8: steering, moving, and what is put out."""

import pytest

from tests.firmware.core.bare_car import (
    BRAKES,
    CLOCK_STEP,
    CLOCK_UNSURE,
    CONFIGURATION,
    CUTS,
    ESC_NEUTRAL,
    FAULT,
    FROZEN,
    HOLD,
    LAST,
    NEUTRAL,
    PAD,
    SEAT,
    STANDBY,
    STARTING,
    STOP_REQUEST,
    STOPPED,
    STOPPING,
    Car,
    share,
)

CLOCK = (CLOCK_STEP, CLOCK_UNSURE)


@pytest.fixture
def car():
    return Car()


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
    assert car.app.stop_sequence.policy == BRAKES  # its speed is not in doubt
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
    car.claims[PAD]["deadman"] = 0
    car.step(10)
    assert car.app.steering.steer_urad == 90_000


def test_with_nobody_the_wheels_centre_where_they_are_to():
    car = Car(steer_centres=1)
    car.drive(steer_urad=90_000)
    car.step(10)
    assert car.app.steering.steer_urad == 90_000
    car.claims[PAD]["deadman"] = 0
    car.step(10)
    assert car.app.steering.steer_urad == 0


@pytest.mark.parametrize("cause", [c for c in range(13) if c not in (FROZEN, *CLOCK)])
def test_during_a_stop_its_winner_steers_while_it_is_there_and_then_the_angle_is_held(car, cause):
    car.drive(steer_urad=90_000)
    car.app.runstop.latch(cause)
    car.claims[PAD]["steer_urad"] = -90_000
    car.step(3)
    assert (car.state, car.app.steering.steer_urad) == (STOPPING, -90_000)
    car.claims[PAD].update(deadman=0, steer_urad=50_000)
    car.step(10)
    assert car.app.steering.steer_urad == -90_000


@pytest.mark.parametrize("cause", [FROZEN, *CLOCK])
def test_a_winner_that_is_the_cause_of_a_stop_steers_no_longer(car, cause):
    car.drive(steer_urad=90_000)
    car.step(10)
    car.app.runstop.latch(cause)
    car.claims[PAD]["steer_urad"] = -90_000
    car.step(10)
    assert car.app.arbiter.winners[0] == PAD
    assert car.app.steering.steer_urad == 90_000


@pytest.mark.parametrize(("in_stop", "held_urad"), [(0, -80_000), (1, 90_000), (2, 0)])
def test_in_a_stop_the_steering_follows_holds_or_centres_as_the_file_says(in_stop, held_urad):
    car = Car(steer_in_stop=in_stop)
    car.drive(steer_urad=90_000)
    car.step(20)
    car.app.runstop.latch(STOP_REQUEST)
    car.claims[PAD]["steer_urad"] = -80_000
    car.speed_mm_s = 1000  # it stops for as long as it rolls
    car.step(40)
    assert (car.state, car.app.steering.steer_urad) == (STOPPING, held_urad)


@pytest.mark.parametrize("centres", [0, 1])
@pytest.mark.parametrize("state", [STANDBY, STOPPED, FAULT])
def test_the_steering_is_still_while_the_car_is_not_armed(state, centres):
    car = Car(steer_centres=centres, steer_in_stop=2 * centres)
    car.drive(steer_urad=90_000)
    car.step(20)
    for claims in ({PAD: {"steer_urad": -800_000}}, {PAD: {"deadman": 0}}, {}):
        car.app.supervisor.state = state
        car.claims = claims
        car.app.motion.clamped = 0
        car.app.motion._steer()
        assert (car.app.steering.steer_urad, car.app.motion.clamped) == (90_000, 0)


def test_steering_is_slewed_by_the_length_of_the_step():
    car = Car(steer_rate_urad_s=1_000_000)
    car.drive(steer_urad=90_000)
    assert car.app.steering.steer_urad == 10_000


def test_while_it_starts_it_stands_straight_whatever_is_claimed(car):
    car.claims = {PAD: {"deadman": 0, "steer_urad": 50_000}}
    car.step(2)
    car.claims = {PAD: {"steer_urad": 50_000}}
    car.step(5)
    assert (car.state, car.app.arbiter.winners[0]) == (STARTING, PAD)
    assert car.app.steering.steer_urad == 0


def test_the_wheels_follow_the_envelope_of_the_measured_speed():
    car = Car(lateral_accel_mm_s2=1000, wheelbase_um=500_000)
    car.drive(steer_urad=300_000)
    car.step(10)
    assert car.app.steering.steer_urad == 300_000
    car.speed_mm_s = 1500
    car.step(60)
    assert car.app.steering.steer_urad < 1000 * 500 / 1.5**2


def test_each_actuator_follows_its_own_winner(car):
    share(car)
    assert car.app.steering.steer_urad == 90_000
    assert car.app.drive.target_mm_s == 600


# --- moving


@pytest.mark.parametrize(
    ("command", "target"), [(5000, 1000), (1000, 1000), (300, 300), (-300, -300), (-5000, -700)]
)
def test_the_target_stays_within_the_sources_cap_and_the_cars_limits(car, command, target):
    car.drive(speed_mm_s=command)
    car.step(20)
    assert car.app.drive.target_mm_s == target
    assert car.app.motion.brake == 0


def test_the_cars_limits_hold_where_the_cap_is_higher_and_the_cap_in_reverse():
    car = Car(speed_max_mm_s=1200, reverse_max_mm_s=2000)
    car.drive(SEAT, speed_mm_s=5000)
    assert car.step(20).app.drive.target_mm_s == 1200
    car.claims[SEAT]["speed_mm_s"] = -5000
    assert car.step(25).app.drive.target_mm_s == -1500


def test_the_winners_brake_comes_before_its_speed(car):
    car.drive(speed_mm_s=800, mask=7)
    car.step(10)
    assert (car.app.motion.brake, car.app.drive.effort > 0) == (0, True)
    car.speed_mm_s = 800
    car.step(5)
    car.claims[PAD]["brake"] = 3
    car.step()
    assert car.app.motion.brake == 3
    assert car.app.drive.effort < 0
    car.claims[PAD]["brake"] = 0
    assert car.step().app.motion.brake == 0


def test_the_last_source_can_brake_what_another_drives(car):
    car.drive(speed_mm_s=800)
    for deadman in (0, 1):
        car.claims[LAST] = {"deadman": deadman, "mask": 4, "brake": 9}
        car.step()
    assert car.app.arbiter.winners[:4] == [PAD, PAD, LAST, 255]
    assert car.app.motion.brake == 9


def test_a_stopped_car_that_is_pushed_is_neutral(car):
    car.drive()
    car.app.runstop.latch(STOP_REQUEST)
    assert car.step(10).state == STOPPED
    assert car.app.stop_sequence.policy == BRAKES
    car.speed_mm_s = 800
    car.step(5)
    assert (car.drive_ns, car.app.drive.effort, car.app.motion.brake) == (ESC_NEUTRAL, 0, 0)


def test_a_brake_that_is_not_claimed_does_not_brake(car):
    car.drive(speed_mm_s=800, brake=200, mask=3)
    car.step(5)
    assert (car.app.motion.brake, car.app.drive.effort > 0) == (0, True)


def test_hold_and_a_braking_stop_brake_what_rolls(car):
    car.drive(speed_mm_s=800)
    car.speed_mm_s = 800
    car.step(5)
    car.claims[PAD]["deadman"] = 0
    car.step()
    assert (car.state, car.app.motion.brake, car.board.enable) == (HOLD, 255, True)
    assert car.drive_ns < ESC_NEUTRAL
    car.app.runstop.latch(STOP_REQUEST)
    car.step()
    assert (car.state, car.app.motion.brake, car.board.enable) == (STOPPING, 255, True)
    assert car.drive_ns < ESC_NEUTRAL


@pytest.mark.parametrize(("policy", "enable"), [(NEUTRAL, True), (CUTS, False)])
def test_a_stop_that_does_not_brake_is_neutral_and_a_cut_opens_the_enable(policy, enable):
    car = Car(stop_policy=[policy] * 10)
    car.drive(speed_mm_s=800)
    car.speed_mm_s = 800
    car.step(5)
    car.app.runstop.latch(STOP_REQUEST)
    car.step()
    assert (car.state, car.board.enable, car.app.output_stage.is_enabled) == (
        STOPPING,
        enable,
        enable,
    )
    brake = 0 if enable else 255  # of a brake channel, which needs no drive
    assert (car.drive_ns, car.app.drive.effort, car.app.motion.brake) == (ESC_NEUTRAL, 0, brake)


@pytest.mark.parametrize("state", [STARTING, STANDBY, STOPPED, FAULT])
def test_a_car_that_may_not_move_is_neutral_and_not_enabled(state):
    car = Car(start_ms=10_000)
    car.step(12)
    car.app.supervisor.state = state
    car.claims = {PAD: {"deadman": 0}}
    car.step()
    car.claims = {PAD: {}}
    car.step()
    car.claims = {PAD: {"speed_mm_s": 800}}
    car.app.drive.effort = 5000
    car.speed_mm_s = 800
    car.step(5)
    assert car.state in (state, FAULT)
    assert not car.board.enable
    assert (car.drive_ns, car.app.drive.effort, car.app.motion.brake) == (ESC_NEUTRAL, 0, 0)


def test_what_is_put_out_is_the_effort_in_the_calibrated_range(car):
    car.drive(speed_mm_s=1000)
    car.step(10)
    effort = car.app.drive.effort
    assert effort > 0
    assert car.drive_ns == ESC_NEUTRAL + 50_000 * effort // 1000


def test_the_car_reports_after_it_has_decided(car):
    car.step(12)
    assert car.board.sent_size > 0
    assert car.app.actions.is_standing
    car.speed_mm_s = 500
    car.step(5)
    assert not car.app.actions.is_standing
