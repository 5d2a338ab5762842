"""S6, S8: which command counts: the lowest cap, the brake, and what else a claim sets."""

import pytest

from tests.firmware.core.bare_car import (
    ACTIVE,
    CLOCK_STEP,
    CUTS,
    EMPTY,
    ENCODER,
    ESC_NEUTRAL,
    FAULT,
    HOLD,
    LAST,
    NEUTRAL,
    NO_MOTION,
    PAD,
    RUNAWAY,
    SEAT,
    STANDBY,
    STARTING,
    STOP_REQUEST,
    STOPPED,
    STOPPING,
    TOO_FAST,
    Car,
)

STEERING_BIT, DRIVE_BIT = 1, 2
LIGHTS, AUX_1, AUX_4 = 3, 4, 7
BRAKE_CHANNEL, LEVEL_CHANNEL, ESC = 4, 5, 2
CHANNELS = {
    "channel_kind": [ESC, BRAKE_CHANNEL, LEVEL_CHANNEL], "channel_actuator": [0, 0, AUX_1],
    "channel_low": [1_000_000, 1_000_000, 1_000_000],
    "channel_neutral": [1_500_000, 1_000_000, 1_000_000],
    "channel_high": [2_000_000, 2_000_000, 2_020_000],
}  # fmt: skip


# --- caps


def target_of(car: Car, command: int, source=SEAT) -> int:
    """Where the target settles; the seat may ask for 1500 at most, the car for 2000 or -700."""
    car.drive(source, speed_mm_s=command)
    return car.step(20).app.drive.target_mm_s


@pytest.mark.parametrize(
    ("caps", "command", "target"),
    [
        ({}, 5000, 1500), ({}, 1500, 1500), ({}, 1499, 1499), ({}, -5000, -700),
        ({"speed_max_mm_s": 1499}, 5000, 1499), ({"reverse_max_mm_s": 5000}, -9000, -1500),
        ({"profile_cap_mm_s": [1, 1200, 1]}, 5000, 1200),
        ({"profile_cap_mm_s": [1, 600, 1]}, -5000, -600),
        ({"profile_cap_mm_s": [1, 1600, 1]}, 5000, 1500),
        ({"source_cap_mm_s": [0, 0, 400]}, 5000, 400),
    ],
)  # fmt: skip
def test_the_lowest_of_all_caps_binds_forward_and_backward(caps, command, target):
    assert target_of(Car(**caps), command) == target


@pytest.mark.parametrize(("cap", "target"), [(900, 900), (1499, 1499), (1501, 1500), (0, 0)])
def test_the_operators_cap_binds_while_it_drives(cap, target):
    car = Car()
    car.drive(SEAT, speed_mm_s=5000)
    car.app.actions.cap_mm_s = cap
    assert car.step(30).app.drive.target_mm_s == target
    assert car.app.motion.cap_mm_s() == cap


def test_a_low_battery_limps_and_a_good_one_does_not():
    car = Car(limp_mm_s=250, stuck_effort=10_000)
    assert target_of(car, 5000) == 1500
    car.board.battery_mv = 6999
    car.step(130)
    assert (car.state, car.app.drive.target_mm_s, car.app.motion.cap_mm_s()) == (ACTIVE, 250, 250)
    car.claims[SEAT]["speed_mm_s"] = -5000
    assert car.step(60).app.drive.target_mm_s == -250


def test_limping_raises_no_cap():
    car = Car(limp_mm_s=900, profile_cap_mm_s=[1, 400, 1])
    car.app.battery.stage = 1
    assert car.app.motion.cap_mm_s() == 400
    car.app.battery.stage = EMPTY
    car.app.actions.cap_mm_s = 300
    assert car.app.motion.cap_mm_s() == 300


def test_the_profile_it_was_armed_in_is_the_one_that_binds():
    car = Car(profile_cap_mm_s=[300, 1200, 700])
    seen = []
    for profile in range(3):
        car.app.actions.profile = profile
        seen.append(car.app.motion.cap_mm_s())
    assert seen == [300, 1200, 700]


# --- what was beyond the car's limits is said


@pytest.mark.parametrize(
    ("command", "bits"),
    [
        ({"speed_mm_s": 1000}, 0), ({"speed_mm_s": 1001}, DRIVE_BIT),
        ({"speed_mm_s": -700}, 0), ({"speed_mm_s": -701}, DRIVE_BIT),
        ({"steer_urad": 400_000}, 0), ({"steer_urad": 400_001}, STEERING_BIT),
        ({"steer_urad": -400_001}, STEERING_BIT),
        ({"speed_mm_s": 9000, "steer_urad": 900_000}, STEERING_BIT | DRIVE_BIT),
    ],
)  # fmt: skip
def test_what_is_clamped_is_named_by_its_actuator(command, bits):
    car = Car()
    car.drive(**command)
    assert car.app.motion.clamped == bits
    car.claims[PAD] = {}
    assert car.step().app.motion.clamped == 0


def test_an_angle_that_is_not_obeyed_is_not_clamped():
    car = Car()
    car.drive(steer_urad=900_000)
    assert car.app.motion.clamped == STEERING_BIT
    car.app.runstop.latch(CLOCK_STEP)
    assert car.step().app.motion.clamped == 0


# --- the brake


def brake_of(car: Car) -> tuple[int, int]:
    """As reported, and on its channel."""
    return car.app.motion.brake, car.board.values[1]


def at_speed(**values) -> Car:
    car = Car(**CHANNELS, **values)
    car.drive(speed_mm_s=800)
    car.step(10)
    car.speed_mm_s = 800
    return car.step(6)


def test_driving_does_not_brake():
    assert brake_of(at_speed()) == (0, 1_000_000)


def test_a_claimed_brake_is_on_its_channel_and_on_the_motor():
    car = at_speed()
    car.claims[PAD] = {"mask": 7, "speed_mm_s": 800, "brake": 51}
    car.step()
    assert brake_of(car) == (51, 1_200_000)
    assert car.app.drive.effort <= 0


def test_hold_a_braking_stop_and_a_cut_brake_fully_and_a_neutral_stop_does_not():
    car = at_speed()
    car.claims[PAD]["deadman"] = 0
    car.step()
    assert car.state == HOLD
    assert brake_of(car) == (255, 2_000_000)
    car.app.runstop.latch(STOP_REQUEST)
    car.step()
    assert car.state == STOPPING
    assert brake_of(car) == (255, 2_000_000)
    car.app.stop_sequence.tighten(NEUTRAL)
    car.step()
    assert brake_of(car) == (0, 1_000_000)
    car.app.stop_sequence.tighten(CUTS)  # the drive; a brake channel needs none
    car.step()
    assert brake_of(car) == (255, 2_000_000)
    assert car.drive_ns == ESC_NEUTRAL


def test_a_board_that_begins_anew_while_it_rolls_brakes_until_the_wheels_have_stood_once():
    car = Car(**CHANNELS)
    car.speed_mm_s = 900
    for _ in range(40):
        car.step()
        assert brake_of(car) == (255, 2_000_000)
    assert car.state == STANDBY
    car.speed_mm_s = 0
    car.step(6)
    assert brake_of(car) == (0, 1_000_000)
    car.speed_mm_s = 900  # somebody pushes it
    car.step(6)
    assert brake_of(car) == (0, 1_000_000)


def test_a_board_that_begins_at_rest_brakes_only_while_it_starts():
    car = Car(**CHANNELS)
    car.step()
    assert car.state == STARTING
    assert brake_of(car) == (255, 2_000_000)
    while car.state == STARTING:
        car.step()
    assert car.state == STANDBY
    assert brake_of(car) == (0, 1_000_000)


def test_with_the_speed_in_doubt_there_is_the_brake_channel_only():
    car = at_speed(fault_policy=[0] * 11)
    car.app.faults.latch(4)  # too fast
    car.step()
    assert car.state == STOPPING
    assert brake_of(car) == (255, 2_000_000)
    assert (car.app.drive.effort, car.drive_ns) == (0, ESC_NEUTRAL)


@pytest.mark.parametrize("fault", range(11))
def test_the_motor_brakes_unless_the_fault_puts_the_speed_in_doubt(fault):
    car = at_speed(fault_policy=[0] * 11)
    car.app.faults.latch(fault)
    car.app.drive._rest_ms = 0  # driven, until now
    car.app.motion._brake(255, car.now_us)
    assert (car.app.drive.effort == 0) == (fault in (NO_MOTION, TOO_FAST, RUNAWAY, ENCODER))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("beyond", "brake"), [(0, 0), (99, 16), (100, 17), (1499, 254), (1510, 255)]
)
def test_the_brake_helps_in_proportion_to_what_is_too_fast(sign, beyond, brake):
    car = Car(**CHANNELS)
    car.drive(speed_mm_s=600 * sign)
    car.step(20)
    car.app.odometry.speed_mm_s = (600 + 300 + beyond) * sign
    car.app.motion._move(car.now_us)
    assert car.app.drive.target_mm_s == 600 * sign
    assert car.app.motion.brake == brake


@pytest.mark.parametrize(
    ("after_us", "dt_ms"),
    [(10_000, 10), (10_600, 10), (9_600, 10), (8_500, 9), (8_499, 8), (0, 1), (40_000, 10)],
)
def test_a_change_is_as_large_as_the_time_since_the_last_one_allows_and_a_beats_at_most(
    after_us, dt_ms
):
    car = Car(step_us=10_000)
    car.step()
    motion = car.app.motion
    begun_us = motion._stepped_us
    motion.step(begun_us + after_us)
    assert motion._dt_ms == dt_ms
    motion.step(begun_us + after_us + 3_000)
    assert motion._dt_ms == 3


@pytest.mark.parametrize(("step_us", "longest_ms"), [(10_000, 10), (19_990, 19), (20_000, 20)])
def test_how_long_a_beat_is_comes_from_the_configuration(step_us, longest_ms):
    car = Car(step_us=step_us)
    car.step()
    car.app.motion.step(car.app.motion._stepped_us + 50_000)
    assert car.app.motion._dt_ms == longest_ms


def test_a_car_that_is_far_faster_than_its_target_is_helped_by_the_brake():
    car = at_speed()
    car.claims[PAD]["speed_mm_s"] = 800
    for speed, brake in ((1100, 0), (1106, 1), (2600, 255), (2000, 153)):
        car.speed_mm_s = speed
        car.step(8)
        assert car.app.drive.target_mm_s == 800
        beyond = car.app.odometry.speed_mm_s - 800 - 300
        assert car.app.motion.brake == min(max(beyond * 255 // 1500, 0), 255)
        assert car.app.motion.brake == pytest.approx(brake, abs=9)


# --- lights and others


MASKS = [0, 255, 255] + [0] * 13
CLAIMED = {"mask": 8 | 16 | 128 | 2, "lights": 5, "aux_1": 51, "aux_4": 9}


def test_lights_and_others_follow_their_winner_and_nobodys_are_off():
    car = Car(**CHANNELS, source_mask=MASKS)
    car.drive(**CLAIMED)
    levels = car.app.output_stage.levels
    assert [levels[at] for at in (LIGHTS, AUX_1, 5, 6, AUX_4)] == [5, 51, 0, 0, 9]
    assert (car.board.lights, car.board.values[2]) == (5, 1_204_000)
    car.claims = {PAD: {**CLAIMED, "deadman": 0}}
    car.step()
    assert car.state == HOLD
    assert (car.board.lights, car.board.values[2], sum(levels)) == (0, 1_000_000, 0)


@pytest.mark.parametrize("state", [STARTING, STANDBY, STOPPING, STOPPED, FAULT])
@pytest.mark.parametrize(("in_stop", "expected"), [(0, (0, 0)), (8, (5, 0)), (8 | 16, (5, 51))])
def test_a_car_that_is_not_armed_obeys_a_claim_only_where_its_file_says_so(
    state, in_stop, expected
):
    car = Car(**CHANNELS, source_mask=MASKS, aux_in_stop=in_stop)
    car.drive(**CLAIMED)
    car.app.supervisor.state = state
    car.app.motion._set_levels()
    levels = car.app.output_stage.levels
    assert (levels[LIGHTS], levels[AUX_1]) == expected
    assert levels[AUX_4] == 0


def test_no_configuration_lets_a_claim_brake_or_drive_a_level_while_the_car_is_not_armed():
    car = Car(**CHANNELS, source_mask=MASKS, aux_in_stop=255)
    car.drive(**{**CLAIMED, "mask": 255}, brake=9)
    car.app.supervisor.state = STOPPED
    car.app.motion._set_levels()
    assert car.app.output_stage.levels == [0, 0, 0, 5, 51, 0, 0, 9]


def test_an_opened_loop_turns_off_what_a_claim_had_on_and_leaves_the_lights():
    car = Car(**CHANNELS, source_mask=MASKS, aux_in_stop=8)
    car.drive(**CLAIMED)
    car.board.runstop_closed = 0
    car.step(2)
    levels = car.app.output_stage.levels
    assert (car.state, levels[LIGHTS], levels[AUX_1], levels[AUX_4]) == (STOPPING, 5, 0, 0)
    assert car.board.values[2] == 1_000_000


def test_each_level_is_of_its_own_winner():
    car = Car(**CHANNELS, source_mask=[0, 255, 255] + [0] * 12 + [255], aux_in_stop=8 | 16)
    for deadman in (0, 1):
        car.claims = {
            PAD: {"mask": 8, "lights": 1, "aux_1": 2, "deadman": deadman},
            LAST: {"mask": 16, "lights": 3, "aux_1": 4, "deadman": deadman},
        }
        car.step(2)
    assert (car.board.lights, car.app.output_stage.levels[AUX_1]) == (1, 4)
