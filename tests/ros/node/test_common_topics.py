"""What every car tells ROS 2: health with each stop cause, shape and joints, when, and how sure."""

from __future__ import annotations

import json
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from host_bridge.core import Cause
from tests.ros.real_ros import IN_REAL_TIME

pytestmark = IN_REAL_TIME

TF = "tf2_msgs/msg/TFMessage"


def hears(nodes, seconds: float, topics: dict[str, str]) -> dict[str, dict]:
    listener = nodes("listener", str(seconds), *(f"{name}={kind}" for name, kind in topics.items()))
    return json.loads(listener.stdout.readline())


def is_fast(row):
    return row.get("speed_mps", 0.0) > 0.8


def diagnoses(nodes, seconds=1.5):
    topic = "/diagnostics"
    said = hears(nodes, seconds, {topic: "diagnostic_msgs/msg/DiagnosticArray"})[topic]["message"]
    return {
        it["name"]: (it["level"], it["message"], {kv["key"]: kv["value"] for kv in it["values"]})
        for it in said["status"]
    }


def test_diagnostics_name_every_stop_cause_and_which_of_them_it_is(nodes, started):
    ros = started()
    talker = nodes("talker", "drive", "0.5", "0.0", "40")
    ros.until_it_drives(lambda row: row.get("speed_mps", 0.0) > 0.4, nodes)
    talker.kill()
    ros.until(lambda row: row.get("state") == "STOPPED")
    level, words, values = diagnoses(nodes)["tandem: stops"]
    assert {cause.name for cause in Cause} <= set(values)
    assert values["SILENCE"].startswith("latched")
    assert values["RUNSTOP_LOOP"] == "no"
    assert values["first"] == "SILENCE"
    assert level == "02"
    assert words == Cause.SILENCE.phrase


def test_a_late_comer_gets_the_shape_and_the_joints_that_are_in_it(nodes, started):
    started()
    topics = {
        "robot_description": "std_msgs/msg/String",
        "joint_states": "sensor_msgs/msg/JointState",
    }
    heard = hears(nodes, 0.5, topics)
    robot = ElementTree.fromstring(heard["robot_description"]["message"]["data"])
    moving = {it.get("name") for it in robot.findall("joint") if it.get("type") != "fixed"}
    assert set(heard["joint_states"]["message"]["name"]) == moving
    assert len(moving) == 6


def test_two_cars_have_frames_and_diagnoses_of_their_own(nodes, started):
    for name in ("red", "blue"):
        started("sim://f1tenth", "--ns", f"/{name}").until(lambda row: "speed_mps" in row)
    topics = {f"/{name}/odom": "nav_msgs/msg/Odometry" for name in ("red", "blue")}
    heard = hears(nodes, 0.5, topics)
    for name in ("red", "blue"):
        odom = heard[f"/{name}/odom"]["message"]
        assert odom["header"]["frame_id"] == f"{name}/odom"
        assert odom["child_frame_id"] == f"{name}/base_link"
    names = set(json.loads(nodes("diagnostics_reader", "red", "blue").stdout.readline()))
    assert {"red/tandem: car", "blue/tandem: car"} <= names


def test_a_scan_says_when_it_was_taken(nodes, started):
    """On the car's own beat of 25 ms, whatever the host was busy with."""
    started("sim://f1tenth?track=corridor")
    heard = hears(nodes, 2.0, {"scan": "sensor_msgs/msg/LaserScan"})["scan"]
    apart_s = [b - a for a, b in pairwise(heard["stamps_s"])]
    assert len(apart_s) > 20
    whole = [round(it / 0.025) for it in apart_s]
    off_s = [abs(it - 0.025 * n) for it, n in zip(apart_s, whole, strict=True)]
    assert sorted(off_s)[len(off_s) // 2] < 0.003
    assert heard["age_s"] > 0.0
    scan = heard["message"]
    assert scan["scan_time"] == pytest.approx(0.025)
    assert scan["time_increment"] == 0.0  # all rays of a virtual one are of one moment
    width = scan["angle_increment"] * (len(scan["ranges"]) - 1)
    assert scan["angle_max"] == pytest.approx(scan["angle_min"] + width, abs=1e-4)


def test_odometry_and_imu_say_how_sure_they_are(nodes, started):
    ros = started()
    nodes("talker", "drive", "1.0", "0.2", "40")
    topics = {"odom": "nav_msgs/msg/Odometry", "sensors/imu/raw": "sensor_msgs/msg/Imu"}
    heard = ros.hears_while_driving(is_fast, nodes, 1.0, topics)
    odom, imu = (heard[name]["message"] for name in topics)
    pose, twist = odom["pose"]["covariance"], odom["twist"]["covariance"]
    assert 0.0 < pose[0] == pose[7] < 1.0
    assert pose[14] == pose[21] == pose[28] == 1e6  # nothing measures them
    assert 0.0 < pose[35] < 0.1
    assert twist[0] == pytest.approx((0.002169195 / 0.04) ** 2 / 12)
    assert imu["angular_velocity_covariance"][8] == pytest.approx(0.0017**2 + 0.003**2)
    assert imu["orientation_covariance"][0] == -1.0


def test_left_is_positive_everywhere(nodes, started):
    """REP 103: a bend to the left has a positive angle, rate and y."""
    ros = started()
    nodes("talker", "drive", "1.0", "0.3", "40")
    topics = {
        "odom": "nav_msgs/msg/Odometry",
        "sensors/imu/raw": "sensor_msgs/msg/Imu",
        "joint_states": "sensor_msgs/msg/JointState",
    }
    told = ros.hears_while_driving(is_fast, nodes, 0.3, topics)
    heard = {name: row["message"] for name, row in told.items()}
    assert heard["odom"]["twist"]["twist"]["angular"]["z"] > 0.3
    assert heard["sensors/imu/raw"]["angular_velocity"]["z"] > 0.3
    assert heard["sensors/imu/raw"]["linear_acceleration"]["y"] > 0.3  # toward the middle
    joints = dict(zip(*(heard["joint_states"][it] for it in ("name", "position")), strict=True))
    assert joints["front_left_steering"] > joints["front_right_steering"] > 0.0
    assert joints["rear_left_wheel"] > 0.0
