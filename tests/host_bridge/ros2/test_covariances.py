"""What a car says of how far off it may be, held against how far off virtual cars are."""

from __future__ import annotations

import json
from math import cos, hypot, remainder, sin, sqrt, tau

import pytest

from host_bridge import config
from host_bridge.cli import main as cli
from host_bridge.core import CarMotion
from host_bridge.logs.reading import read
from host_bridge.logs.rows import from_row
from host_bridge.ros2.messages.covariances import (
    NOT_MEASURED,
    OdometryError,
    SensorNoise,
    fill_diagonal,
)

CAR = "sim://{}?seed={}&sensors={}"
SECONDS = 8
VEHICLES = config.vehicle_names()
SEEDS = range(4)


def drive(folder, vehicle, seed):
    """The last pose that a virtual car reckoned with its covariance, and where it was."""
    log, sensors = folder / f"{seed}.mcap", folder / f"{seed}.jsonl"
    words = f"drive --input script:slalom --seconds {SECONDS} --lockstep --record {log}"
    assert cli.main([*words.split(), "--car", CAR.format(vehicle, seed, sensors)]) == 0
    odometry_error, motion = OdometryError(config.load_vehicle(vehicle)), None
    for record in read(log):
        if record.topic == "motion":
            motion = from_row(CarMotion, record.value)
            odometry_error.step(motion)
    rows = (json.loads(line) for line in sensors.open() if '"truth", "taken_s' in line)
    truth = min(
        (row for row in rows if row["sensor"] == "truth"),
        key=lambda row: abs(row["taken_s"] * 1e6 - motion.captured_us),
    )["truth"]
    return motion, odometry_error.pose(motion), truth


@pytest.mark.exhaustive(as_a_whole=True)  # a statistic over many drives
@pytest.mark.parametrize("vehicle", ["f1tenth", "nigel"])
def test_a_reckoned_pose_is_off_about_as_far_as_it_says(tmp_path, vehicle):
    rear_m = config.load_vehicle(vehicle).turns_behind_centre_m
    places, turns = [], []
    for seed in SEEDS:
        motion, variances, truth = drive(tmp_path, vehicle, seed)
        assert motion.distance_m > 1.0
        # base_link began behind the origin, as it ends behind the centre of gravity
        x_m = truth["x_m"] - rear_m * (cos(truth["yaw_rad"]) - 1.0)
        y_m = truth["y_m"] - rear_m * sin(truth["yaw_rad"])
        off_m = hypot(motion.x_m - x_m, motion.y_m - y_m)
        places.append(off_m / sqrt(variances[0] + variances[7]))
        turns.append(abs(remainder(motion.yaw_rad - truth["yaw_rad"], tau)) / sqrt(variances[35]))
    # neither too sure of itself nor useless
    assert 0.05 < sum(places) / len(places) < 2.0, places
    assert max(places) < 3.0
    assert max(turns) < 3.0, turns


def motion(captured_us, distance_m):
    return CarMotion(captured_us, 0, 0, distance_m, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_it_grows_with_way_and_time_across_the_clock_s_wrap_and_begins_anew_with_the_board():
    odometry_error = OdometryError(config.load_vehicle("f1tenth"))
    seen = []
    for time_us, way_m in (((1 << 30) - 1_000_000, 1.0), (1_000_000, 2.0), (500_000, 0.0)):
        odometry_error.step(motion(time_us, way_m))
        seen.append(odometry_error.pose(motion(time_us, way_m)))
    assert seen[1][0] > seen[0][0]
    bias = SensorNoise.of(config.load_vehicle("f1tenth")).yaw_rate_bias_radps
    assert sqrt(seen[1][35]) == pytest.approx(2.0 * bias, rel=0.1)  # two seconds
    assert seen[2][35] < seen[1][35]


def test_a_pose_s_variances_are_of_the_way_of_its_count_and_of_half_the_angle_it_turned():
    odometry_error = OdometryError(config.load_vehicle("f1tenth"))
    odometry_error.noise = SensorNoise(0.01, 0.02, 0.03, 0.1)
    for time_us in (0, 4_000_000):
        odometry_error.step(motion(time_us, 5.0))
    found = odometry_error.pose(motion(4_000_000, 5.0))
    angle_rad = 0.03 * 4.0
    # a count, and of 5 m a share of 2 % and half of that angle
    place = 0.01**2 + (0.02**2 + (angle_rad / 2.0) ** 2) * 25.0
    assert [found[0], found[7]] == [pytest.approx(place)] * 2
    assert found[35] == pytest.approx(angle_rad**2 + 0.02**2)


def test_a_twist_s_variances_are_of_a_count_in_40_ms_and_of_the_gyro():
    odometry_error = OdometryError(config.load_vehicle("f1tenth"))
    odometry_error.noise = SensorNoise(0.01, 0.02, 0.03, 0.1)
    found = odometry_error.twist()
    assert [found[0], found[7]] == [pytest.approx((0.01 / 0.04) ** 2 / 12.0)] * 2
    assert found[35] == pytest.approx(0.02**2 + 0.03**2)


def test_what_is_not_measured_is_believed_by_nobody():
    covariance = [0.0] * 36
    fill_diagonal(covariance, OdometryError(config.load_vehicle("f1tenth")).twist())
    assert [covariance[i] for i in (14, 21, 28)] == [NOT_MEASURED] * 3
    assert 0.0 < covariance[0] < 1.0
    assert sum(1 for it in covariance if it) == 6


@pytest.mark.parametrize("name", VEHICLES)
def test_every_vehicle_has_spreads_above_nothing(name):
    noise = SensorNoise.of(config.load_vehicle(name))
    assert min(noise.count_m, noise.yaw_rate_noise_radps, noise.accel_mps2) > 0.0
