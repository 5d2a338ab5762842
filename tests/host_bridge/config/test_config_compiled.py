"""What a vehicle file becomes: curves, curvatures, byte budget, and the very image of the board."""

import json
from math import degrees, isclose, radians, tan

import pytest

from firmware.core.motion.odometry import Odometry
from firmware.core.motion.steering import Steering
from firmware.core.settings.checked_params import CheckedParams
from firmware.core.settings.params import CURVE_POINTS, TABLE
from firmware.protocol import codes, messages
from firmware.protocol.frame import MAX_FRAME, crc_table
from host_bridge.config import (
    config_hash,
    image_of,
    load_vehicle,
    motion_every,
    parameter_name,
    vehicle_names,
)
from host_bridge.config.vehicle import compilation, image
from host_bridge.config.vehicle.geometry import SteeringGeometry, curve_angles_rad, pulse_us
from host_bridge.core import Cause
from host_bridge.deploy.hil.host.small_host import SmallHost
from sim_mock.plant.parameters import PlantParameters
from sim_mock.world import World
from tests.support.evidence import every, some

NAMES = vehicle_names()
BOARD = bytes(range(8))
NIGEL_GEOMETRY = SteeringGeometry(0.14154, 0.153, -1.0)


def read_back(stored):
    params = CheckedParams(crc_table())
    assert params.read_image(stored)
    return params


# --- geometry


def test_nigels_wheels_turn_as_its_own_program_turns_them():
    """Its published table: 30 degrees are 40.0 for the inner and 23.8 for the outer wheel."""
    assert isclose(degrees(NIGEL_GEOMETRY.wheel_rad(radians(30), "left")), 40.0, abs_tol=0.05)
    assert isclose(degrees(NIGEL_GEOMETRY.wheel_rad(radians(30), "right")), 23.8, abs_tol=0.05)


def test_left_and_right_wheels_mirror_each_other():
    for angle in (-0.5, -0.1, 0.0, 0.2, 0.5):
        left = NIGEL_GEOMETRY.wheel_rad(angle, "left")
        assert isclose(left, -NIGEL_GEOMETRY.wheel_rad(-angle, "right"), abs_tol=1e-12)


def test_both_front_wheels_point_at_the_same_centre():
    steer = 0.3
    geometry = SteeringGeometry(0.33, 0.236, 0.0)
    radius_m = geometry.wheelbase_m / tan(steer)
    for side, sign in (("left", 1), ("right", -1)):
        across_m = geometry.wheelbase_m / tan(geometry.wheel_rad(steer, side))
        assert isclose(across_m + sign * geometry.track_m / 2, radius_m, rel_tol=1e-9)


def test_counter_phase_steering_doubles_the_curvature():
    fixed = SteeringGeometry(0.14154, 0.153, 0.0)
    assert isclose(NIGEL_GEOMETRY.curvature_per_m(0.3), 2 * fixed.curvature_per_m(0.3))
    assert fixed.curvature_per_m(0.3) > 0  # left is positive


@pytest.mark.parametrize("steer_max_rad", [0.5236, 0.4189, 0.3, 0.123457])
def test_curve_points_lie_where_the_cars_program_looks_for_them(steer_max_rad):
    angles = curve_angles_rad(steer_max_rad)
    assert len(angles) == CURVE_POINTS
    assert isclose(angles[0], -steer_max_rad)
    assert 0 <= angles[-1] - steer_max_rad < 8e-6


def test_measured_points_are_joined_by_straight_lines():
    points = [[-0.5, 1900], [0.0, 1500], [0.4, 1200]]
    assert pulse_us(points, -0.25) == 1700
    assert pulse_us(points, 0.2) == 1350
    with pytest.raises(ValueError, match="not within"):
        pulse_us(points, 0.41)


@pytest.mark.parametrize("name", NAMES)
def test_the_cars_program_reads_the_pulses_of_the_true_linkage_out_of_the_curve(name):
    """Between the nine points too: within 0.3 degrees of wheel angle on any channel."""
    vehicle = load_vehicle(name)
    params = read_back(image_of(vehicle, BOARD, name))
    steering = Steering()
    steering.configure(params)
    for number, channel in some(enumerate(vehicle.channels)):
        if "curve" not in channel:
            continue
        for angle_rad, true_ns in some(channel["curve"]):
            target = round(angle_rad * 1e6)
            for _ in range(100):
                steering.step(target, 0, 10)
            us_per_degree = 11  # of a hobby servo
            assert abs(steering.pulse_ns(number) - true_ns) < 0.3 * us_per_degree * 1000


@pytest.mark.parametrize("name", NAMES)
def test_left_falls_on_every_front_servo_as_it_is_mounted(name):
    for channel in some(load_vehicle(name).channels):
        if channel.get("axle") == "front":
            assert channel["curve"][0][1] > channel["curve"][-1][1]
        if channel.get("axle") == "rear":
            assert channel["curve"][0][1] < channel["curve"][-1][1]


def test_one_turn_of_the_wheels_is_one_circumference_to_the_odometry():
    params = read_back(image_of(load_vehicle("nigel"), BOARD, "a"))
    odometry = Odometry()
    odometry.configure(params)
    odometry.step(0, 0, 0, 0, 0)
    for step in range(1, 11):
        odometry.step(192 * step, 192 * step, 10_000 * step, 0, 0)
    assert odometry.distance_mm == pytest.approx(204.2, abs=1)


# --- the byte budget


def test_the_budget_counts_the_frames_as_long_as_they_are():
    def wire_bytes(message):
        return message().size + 4 + 1 + 2  # CRC, COBS code, two delimiters

    slow = (messages.ClockReport, messages.Inputs, messages.Outputs, messages.Power,
            messages.LinkCounters)  # fmt: skip
    assert wire_bytes(messages.Status) == compilation.STATUS_BYTES
    assert wire_bytes(messages.Motion) == compilation.MOTION_BYTES
    assert wire_bytes(messages.Claim) == compilation.CLAIM_BYTES
    assert max(map(wire_bytes, slow)) == compilation.SLOW_BYTES
    assert max(map(wire_bytes, (messages.Event, messages.EventsLost))) == compilation.EVENT_BYTES
    assert compilation.MOTION_BYTES <= MAX_FRAME


@pytest.mark.parametrize("has_rc", [False, True])
@pytest.mark.parametrize("baud", [115_200, 230_400, 460_800, 921_600, 2_000_000])
def test_what_is_reported_fits_the_line(baud, has_rc):
    steps = motion_every(baud, 0.01, has_rc)
    longest = compilation.MOTION_BYTES + compilation.SLOW_BYTES
    each = compilation.STATUS_BYTES + compilation.EVENT_BYTES
    each += compilation.CLAIM_BYTES * 0.5 * has_rc  # 50 Hz
    sent = steps * each + longest
    assert sent <= 0.9 * baud / 10 * 0.01 * steps
    if steps > 1:  # and no rarer than it has to be
        sent -= each
        assert sent > 0.9 * baud / 10 * 0.01 * (steps - 1)


def test_motion_comes_every_step_at_the_default_and_every_third_at_115200():
    assert motion_every(921_600, 0.01) == 1
    assert motion_every(115_200, 0.01) == 3
    with pytest.raises(ValueError, match="57600 baud"):
        motion_every(57_600, 0.01)


# --- the image


def test_the_crc_table_is_that_of_the_board():
    assert image._crc_table() == crc_table()


@pytest.mark.parametrize("name", NAMES)
def test_the_image_is_the_one_that_a_board_takes(name):
    vehicle = load_vehicle(name)
    params = read_back(image_of(vehicle, BOARD, "left one"))
    assert params.first_wrong() == -1
    assert bytes(params.car_name) == b"left one".ljust(16, b"\0")
    assert bytes(params.config_hash) == config_hash(vehicle, BOARD, "left one")
    assert params.get_all("board_id") == [0x0100, 0x0302, 0x0504, 0x0706]
    for key, values in vehicle.parameters.items():
        assert params.get_all(key) == values, key


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_but_the_boards_id_is_compiled(name):
    compiled = load_vehicle(name).parameters
    assert set(compiled) == {row[0] for row in TABLE} - {"board_id"}
    assert every(len(compiled[row[0]]) == row[2] for row in TABLE if row[0] in compiled)


def test_another_board_another_name_or_another_number_is_another_hash():
    nigel, f1tenth = load_vehicle("nigel"), load_vehicle("f1tenth")
    hashes = {
        config_hash(nigel, BOARD, "a"),
        config_hash(nigel, BOARD, "b"),
        config_hash(nigel, BOARD[::-1], "a"),
        config_hash(f1tenth, BOARD, "a"),
    }
    assert len(hashes) == 4


@pytest.mark.parametrize(
    ("board", "name"), [(b"1234567", "a"), (BOARD, "a" * 17), (BOARD, "é" * 9)]
)
def test_a_board_id_or_name_of_the_wrong_size_is_refused(board, name):
    with pytest.raises(ValueError, match="8 bytes"):
        image_of(load_vehicle("nigel"), board, name)


def test_a_parameter_that_the_board_would_refuse_makes_no_image():
    vehicle = load_vehicle("nigel")
    vehicle.parameters["source_cap_mm_s"][3] = 30_000
    with pytest.raises(ValueError, match=r"source_cap_mm_s\[3\] = 30000"):
        image_of(vehicle, BOARD, "a")


def test_parameters_are_named_by_their_place():
    assert parameter_name(0) == "board_id[0]"
    assert parameter_name(4) == "step_us"
    params = CheckedParams(crc_table())
    assert parameter_name(params.index("channel_curve") + 71) == "channel_curve[71]"
    with pytest.raises(ValueError, match="no parameter"):
        parameter_name(params.size)


def test_a_car_with_the_image_stands_by_and_one_with_anothers_is_in_fault():
    vehicle = load_vehicle("nigel")
    ours = SmallHost(World(vehicle, name="ours"))
    board = ours.world.board_id
    ours.rest(1200)
    assert ours.state == codes.STANDBY
    twin = World(vehicle, name="ours", image=image_of(vehicle, board, "ours"))
    same = SmallHost(twin)
    same.rest(1200)
    assert same.state == codes.STANDBY
    foreign = SmallHost(World(vehicle, name="ours", image=image_of(vehicle, BOARD, "ours")))
    foreign.rest(1200)
    assert foreign.state == codes.FAULT
    assert foreign.status.faults == 1 << codes.FAULT_FOREIGN_CONFIGURATION


# --- what the rest of the host and the simulator get


@pytest.mark.parametrize("name", NAMES)
def test_the_plant_takes_the_files_plant_and_channels(name):
    vehicle = load_vehicle(name)
    facts = {**vehicle.plant, "channels": list(vehicle.channels)}
    plant = PlantParameters.from_mapping(facts)
    sent = json.loads(json.dumps(facts))  # they go to another process
    assert PlantParameters.from_mapping(sent) == plant


@pytest.mark.parametrize("name", NAMES)
def test_a_car_of_the_file_is_the_car_of_the_plant(name):
    """Where the file says the same thing twice, once for the program and once for the plant."""
    vehicle = load_vehicle(name)
    body = vehicle.plant["body"]
    assert body["lf_m"] + body["lr_m"] == pytest.approx(vehicle.wheelbase_m, rel=0.002)
    assert body["track_m"] == vehicle.track_m
    turn_m = 2 * 3.14159265 * vehicle.plant["drive"]["wheel_radius_m"]
    per_count_nm = turn_m / vehicle.plant["encoder"]["counts_per_rev"] * 1e9
    assert vehicle.parameters["nm_per_count"][0] == pytest.approx(per_count_nm, rel=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_the_runstop_loop_cuts_and_everything_else_brakes(name):
    policies = load_vehicle(name).stop_policies
    assert set(policies) == {cause.name.lower() for cause in Cause}
    assert policies.pop("runstop_loop") == "cut"
    assert set(policies.values()) == {"brake"}


@pytest.mark.parametrize("name", NAMES)
def test_autonomy_needs_the_seat_and_people_outrank_programs(name):
    vehicle = load_vehicle(name)
    assert vehicle.source("ros2").needs == "seat"
    people = [vehicle.source(who).priority for who in ("seat", "seat_slow", "gamepad")]
    assert min(people) > vehicle.source("script").priority > vehicle.source("ros2").priority
    with pytest.raises(KeyError):
        vehicle.source("nobody")
