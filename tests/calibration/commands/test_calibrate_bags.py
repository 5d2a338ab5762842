"""``tandem calibrate`` of bags whose commands are shares: AutoDRIVE's and AutoRally's."""

from __future__ import annotations

import json

import numpy as np
import pytest

from host_bridge.cli import main as cli
from host_bridge.config import load_vehicle
from host_bridge.logs.bags.ros_types import empty
from tests.calibration.logs.test_run_bag import ROS1, ROS2, SHARE, chassis, share
from tests.calibration.regression.test_constant_speed import GAIN, driven
from tests.host_bridge.logs.made_bags import ODOMETRY, START_NS, odom, write

IMU = "sensor_msgs/msg/Imu"
SPEEDS_MPS = (1.0, 1.8, 2.6)  # by turns, for 6 s each; the drive begins and ends with 3 s of rest
FULL_MPS = 4.0  # to which all that its drive has would lead
CASES = [
    ("autodrive", ".bag"),
    ("autodrive", ".mcap"),
    (ROS1 + "State", ".bag"),
    (ROS2 + "State", ".db3"),
    (ROS2 + "Command", ".mcap"),
]


def rows(vehicle, vocabulary):
    """A made drive as this vocabulary's publishers write it, with odometry and a gyro."""
    trace = driven(SPEEDS_MPS)
    t_s, (steer,) = trace.steering
    speeds = np.gradient(trace.travel.values[0], t_s)
    for t, angle, speed, yaw in zip(t_s, steer, speeds, trace.inertial.values[0], strict=True):
        at_ns = START_NS + round(t * 1e9)
        wanted = SPEEDS_MPS[int(t / 6.0) % 3] if 3.0 <= t <= t_s[-1] - 3.0 else 0.0
        turn, effort = float(angle) / vehicle.steer_max_rad, wanted / FULL_MPS
        if vocabulary == "autodrive":
            yield at_ns, "/autodrive/f1tenth_1/steering_command", SHARE, share(turn)
            yield at_ns, "/autodrive/f1tenth_1/throttle_command", SHARE, share(effort)
        else:
            yield at_ns, "/chassis", vocabulary, chassis(vocabulary, effort, -turn, 0.0)
        place = odom(0.0, 0.0, 0.0, at_ns)
        place.twist.twist.linear.x = float(speed)
        yield at_ns, "/pose_estimate", ODOMETRY, place
        sensed = empty(IMU)
        sensed.angular_velocity.z, sensed.linear_acceleration.z = float(yaw), 9.81
        yield at_ns, "/imu/imu", IMU, sensed


@pytest.mark.fit
@pytest.mark.parametrize(("vocabulary", "kind"), CASES)
def test_the_steering_and_the_drive_of_shares_are_told(vocabulary, kind, tmp_path, capsys):
    vehicle = load_vehicle("f1tenth")
    bag = write(tmp_path, kind, rows(vehicle, vocabulary))
    assert cli.main(["calibrate", str(bag), "--vehicle", "f1tenth", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["parameters"]
    for name, true in (("steer_gain_left", GAIN), ("steer_gain_right", GAIN)):
        assert found[name]["is_told"], found[name]["why"]
        assert found[name]["low"] <= true <= found[name]["high"], name
    assert abs(found["steer_trim_rad"]["value"]) < 0.02
    assert found["full_effort_mps"]["value"] == pytest.approx(FULL_MPS, rel=0.05)
