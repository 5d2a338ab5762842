"""A path of the poses in a ROS bag, by whatever topic says them."""

from __future__ import annotations

import json
from math import cos, pi, sin

import numpy as np
import pytest

from host_bridge.inputs.paths.recorded_poses import drive_of_poses
from host_bridge.logs.bags.ros_types import empty
from tests.host_bridge.cli.programs import tandem
from tests.host_bridge.logs.made_bags import KINDS, ODOMETRY, START_NS, odom, write

POSE = "geometry_msgs/msg/PoseStamped"
PERIOD_NS, RADIUS_M, SPEED_MPS = 20_000_000, 3.0, 1.5


def circle(seconds=13.0, centre=(0.0, 0.0)):
    """Rows of time and place: once round and a little more."""
    for i in range(round(seconds * 1e9 / PERIOD_NS)):
        turned = SPEED_MPS * i * PERIOD_NS * 1e-9 / RADIUS_M
        x, y = centre[0] + RADIUS_M * sin(turned), centre[1] + RADIUS_M * (1 - cos(turned))
        yield i * PERIOD_NS, x, y, turned


def poses(centre):
    for at_ns, x, y, yaw in circle(centre=centre):
        message = empty(POSE)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(START_NS + at_ns, 10**9)
        message.pose.position.x, message.pose.position.y = x, y
        message.pose.orientation.z, message.pose.orientation.w = sin(yaw / 2), cos(yaw / 2)
        yield START_NS + at_ns, "/vicon/car/pose", POSE, message


def odometry(topic, centre=(0.0, 0.0)):
    for at_ns, x, y, yaw in circle(centre=centre):
        message = odom(x, y, yaw, START_NS + at_ns)
        message.twist.twist.linear.x = SPEED_MPS
        yield START_NS + at_ns, topic, ODOMETRY, message


def recorded(bag, out, *words):
    done = tandem("path", "record", str(bag), *words, "-o", str(out), "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.process
@pytest.mark.parametrize("kind", KINDS)
def test_a_localisers_topic_gives_the_path_in_its_frame(tmp_path, kind):
    rows = [*odometry("/odom"), *odometry("/pf/pose/odom", (5.0, -2.0))]
    bag = write(tmp_path, kind, sorted(rows, key=lambda row: row[0]))
    told = recorded(bag, tmp_path / "lap.csv", "--topic", "/pf/pose/odom")
    assert told["is_loop"]
    assert told["length_m"] == pytest.approx(2 * pi * RADIUS_M, rel=0.01)
    assert told["start"][:2] == pytest.approx([5.0, -2.0], abs=0.1)
    assert told["speeds_mps"] == pytest.approx([SPEED_MPS, SPEED_MPS], abs=0.05)
    assert recorded(bag, tmp_path / "own.csv")["start"][:2] == pytest.approx([0, 0], abs=0.1)


@pytest.mark.process
def test_poses_alone_say_how_fast_the_car_was(tmp_path):
    bag = write(tmp_path, ".mcap", poses((0.0, 0.0)))
    told = recorded(bag, tmp_path / "lap.csv", "--topic", "/vicon/car/pose")
    assert told["speeds_mps"] == pytest.approx([SPEED_MPS, SPEED_MPS], abs=0.05)


@pytest.mark.process
@pytest.mark.parametrize("words", [("--topic", "/scan"), ()])
def test_a_bag_without_such_poses_says_what_it_has(tmp_path, words):
    bag = write(tmp_path, ".mcap", poses((0.0, 0.0)))
    done = tandem("path", "record", str(bag), *words, "-o", str(tmp_path / "lap.csv"))
    assert done.returncode == 7
    assert "--topic" in done.stderr or "/vicon/car/pose" in done.stderr


def test_poses_in_another_order_and_twice_at_one_time_are_taken_by_their_times():
    rows = [(0.2, 0.4, 0.0), (0.0, 0.0, 0.0), (0.1, 0.2, 0.0), (0.1, 0.2, 0.0)]
    found = drive_of_poses(rows, None)
    assert found.places_m[:, 0].tolist() == [0.0, 0.2, 0.2, 0.4]
    assert found.speeds_mps == pytest.approx(np.full(4, 2.0))
