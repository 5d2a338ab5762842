"""Bags of other vocabularies, and times in bags that jump, stand or run back."""

from __future__ import annotations

from math import cos, sin

import pytest

from host_bridge.logs.bags.messages import POSES, unused_topics
from host_bridge.logs.bags.reading import read_bag
from host_bridge.logs.bags.ros_types import empty
from host_bridge.logs.bags.times import Timed, gaps, in_time_order
from tests.host_bridge.logs.made_bags import (
    ACKERMANN,
    KINDS,
    ODOMETRY,
    START_NS,
    drive,
    odom,
    write,
)

NEW, OLD = (
    "autoware_control_msgs/msg/Control",
    "autoware_auto_control_msgs/msg/AckermannControlCommand",
)
STATE = "/localization/kinematic_state"
STEP_NS = 20_000_000


def control(kind, speed_mps, steer_rad):
    message = empty(kind)
    setattr(message.longitudinal, "velocity" if kind == NEW else "speed", speed_mps)
    message.lateral.steering_tire_angle = steer_rad
    return message


def autoware(kind):
    for i in range(20):
        at_ns = START_NS + i * STEP_NS
        yield at_ns, STATE, ODOMETRY, odom(0.02 * i, 0.0, 0.1, at_ns)
        yield at_ns, "/control/command/control_cmd", kind, control(kind, 1.0, 0.2)


@pytest.mark.parametrize("kind", [NEW, OLD])
@pytest.mark.parametrize("bag_kind", [".db3", ".mcap"])
def test_autowares_commands_and_state_are_read_in_both_generations(tmp_path, kind, bag_kind):
    bag = read_bag(write(tmp_path, bag_kind, autoware(kind)), for_replay=True)
    assert (bag.topics["commands"], bag.topics["odometry"]) == (
        "/control/command/control_cmd",
        STATE,
    )
    first = bag.commands[0]
    assert (first.speed_mps, first.steer_rad) == pytest.approx((1.0, 0.2))
    assert bag.notes == []


def posed(kind, x_m, yaw_rad, stamp_ns):
    message = empty(kind)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, 10**9)
    if kind.endswith("TransformStamped"):
        place, turn = message.transform.translation, message.transform.rotation
    else:
        pose = getattr(message.pose, "pose", message.pose)
        place, turn = pose.position, pose.orientation
    place.x, turn.z, turn.w = x_m, sin(yaw_rad / 2), cos(yaw_rad / 2)
    return message


@pytest.mark.parametrize("kind", [it for it in POSES if it != ODOMETRY])
@pytest.mark.parametrize("bag_kind", KINDS)
def test_a_motion_capture_in_a_bag_is_the_cars_poses(tmp_path, kind, bag_kind):
    rows = []
    for i in range(20):
        at_ns = START_NS + i * STEP_NS
        rows.append((at_ns, "/vicon/car", kind, posed(kind, 0.1 * i, 0.5, at_ns)))
        rows.append((at_ns, "/drive", ACKERMANN, drive(1.0, 0.0)))
    bag = read_bag(write(tmp_path, bag_kind, rows), for_replay=True)
    last = bag.odometry[-1]
    assert bag.topics["odometry"] == "/vicon/car"
    assert (last.x_m, last.yaw_rad) == pytest.approx((1.9, 0.5))


def test_of_f1tenth_systems_commands_the_planners_count_and_the_others_are_told(tmp_path):
    rows = []
    for i in range(20):
        at_ns = START_NS + i * STEP_NS
        rows.append((at_ns, "/odom", ODOMETRY, odom(0.0, 0.0, 0.0, at_ns)))
        for topic, speed_mps in (("/teleop", 0.5), ("/ackermann_cmd", 1.0), ("/drive", 2.0)):
            rows.append((at_ns, topic, ACKERMANN, drive(speed_mps, 0.0)))
        rows.append((at_ns, "/pf/pose/odom", ODOMETRY, odom(0.0, 0.0, 0.0, at_ns)))
        rows.append((at_ns, "/text", "std_msgs/msg/String", empty("std_msgs/msg/String")))
    bag = read_bag(write(tmp_path, ".mcap", rows), for_replay=True)
    assert bag.topics["commands"] == "/drive"
    told = "\n".join(bag.notes)
    assert "/ackermann_cmd was not used: --drive-topic /ackermann_cmd" in told
    assert "/pf/pose/odom was not used: --odom-topic /pf/pose/odom" in told
    assert "used by no option: /text" in told
    without = [row for row in rows if row[1] != "/drive"]
    (tmp_path / "b").mkdir()
    bag = read_bag(write(tmp_path / "b", ".mcap", without), for_replay=True)
    assert bag.topics["commands"] == "/ackermann_cmd"


def timed(stamps_s, lag_s=0.01):
    return [Timed(0.02 * i + lag_s, it, (float(i),)) for i, it in enumerate(stamps_s)]


def good(count=200):
    return [0.02 * i for i in range(count)]


def test_times_in_order_are_the_stamps_and_nothing_is_told():
    rows, notes = in_time_order("/odom", timed(good()))
    assert [time_s for time_s, _ in rows] == good()
    assert notes == []


@pytest.mark.parametrize("off_s", [5.0, -5.0, 3600.0, -3600.0])
def test_a_clock_that_is_set_in_the_middle_is_told_and_work_goes_on(off_s):
    stamps = [it + off_s if 120 <= i < 150 else it for i, it in enumerate(good())]
    rows, notes = in_time_order("/odom", timed(stamps))
    assert [time_s for time_s, _ in rows] == pytest.approx(good())
    (note,) = notes
    assert "30 stamps jump or stand" in note
    assert "the first at 2.410 s" in note


def test_stamps_that_stand_are_told():
    stamps = [min(it, 2.0) for it in good()]
    rows, notes = in_time_order("/odom", timed(stamps))
    assert rows[-1][0] == pytest.approx(good()[-1])
    assert any("stand" in note for note in notes)


def test_messages_that_overtook_each_other_are_left_out_and_told():
    stamps = good()
    stamps[50], stamps[51] = stamps[51], stamps[50]
    rows, notes = in_time_order("/odom", timed(stamps))
    assert len(rows) == 199
    assert any("1 messages are no later" in note and "at 1.000 s" in note for note in notes)


def test_a_topic_of_another_clock_has_the_times_of_receipt():
    rows, notes = in_time_order("/odom", timed([it - 1e6 for it in good()]))
    assert rows[0][0] == 0.01
    assert notes == []


def test_a_pause_is_told_with_its_place_and_a_slow_topic_has_none():
    times = [*good(100), *(10.0 + it for it in good(100))]
    assert list(gaps("/odom", times)) == ["/odom: nothing came for 8.0 s from 1.980 s on"]
    assert not list(gaps("/odom", [2.0 * i for i in range(20)]))


def test_what_no_option_uses_is_one_sentence():
    told = unused_topics({"/a": "x/msg/Y", "/b": "x/msg/Z", "/odom": ODOMETRY}, ["/odom"])
    assert told == ["not used, and used by no option: /a, /b"]
