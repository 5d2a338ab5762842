"""f1tenth_system's files, read as they are; the tables of topics against the facts."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.ros2.bus.discovery_range import is_secured, stay_on_this_machine
from host_bridge.ros2.node.make_input import make
from host_bridge.ros2.node.mux import MuxSource, StampedCommand
from host_bridge.ros2.node.split_command import SplitCommand
from host_bridge.ros2.node.vesc_scale import VescScale
from host_bridge.ros2.vocabularies.f1tenth.config_files import read_mux, read_vesc
from host_bridge.ros2.vocabularies.f1tenth.gym import GYM
from host_bridge.ros2.vocabularies.f1tenth.vocabulary import F1TENTH
from host_bridge.ros2.vocabularies.topics import Content, MuxRow
from sim_mock.autodrive.cars import simulated_car

MUX = """\
ackermann_mux:
  ros__parameters:
    topics:
      navigation:
        topic   : drive
        timeout : 0.2
        priority: 10
      joystick:
        topic   : teleop
        timeout : 0.2
        priority: 100
    locks:
      pause: {topic: pause, timeout: 0.5, priority: 255}
"""
VESC = """\
/**:
  ros__parameters:
    speed_to_erpm_gain: 4000.0
    speed_to_erpm_offset: 0.0
    steering_angle_to_servo_gain: -1.0
    steering_angle_to_servo_offset: 0.5
vesc_driver_node:
  ros__parameters: {port: /dev/ttyACM1, servo_min: 0.2, servo_max: 0.8}
"""


def test_a_mux_file_gives_priorities_and_timeouts(tmp_path):
    (tmp_path / "mux.yaml").write_text(MUX)
    rows, notes = read_mux(tmp_path / "mux.yaml")
    assert {(row.name, row.topic, row.priority, row.timeout_s) for row in rows} == {
        ("navigation", "drive", 10, 0.2),
        ("joystick", "teleop", 100, 0.2),
    }
    assert any("teleop falls silent" in note for note in notes)
    assert any("lock pause" in note for note in notes)


def test_a_row_of_a_mux_file_may_yield_when_it_falls_silent(tmp_path):
    file = tmp_path / "mux.yaml"
    file.write_text(MUX.replace("priority: 100", "priority: 100\n        silence_yields: true"))
    rows, notes = read_mux(file)
    assert {row.name: row.yields for row in rows} == {"navigation": False, "joystick": True}
    assert not any("falls silent" in note for note in notes)


def test_a_vesc_file_scales_motor_and_servo(tmp_path):
    (tmp_path / "vesc.yaml").write_text(VESC)
    scale, notes = read_vesc(tmp_path / "vesc.yaml")
    assert notes == ()
    assert scale.speed_mps(8000.0) == 2.0
    assert scale.steer_rad(0.4) == pytest.approx(0.1)
    assert scale.servo(9.0) == 0.2
    assert scale.steer_rad(-5.0) == pytest.approx(0.3)


def test_what_a_vesc_file_lacks_is_told_with_the_number_that_is_taken(tmp_path):
    path = tmp_path / "vesc.yaml"
    path.write_text(
        "/**:\n  ros__parameters:\n    speed_to_erpm_gain: 4000.0\n    servo_min: 0.2\n"
    )
    scale, (note,) = read_vesc(path)
    assert scale.speed_mps(8000.0) == 2.0
    assert "steering_angle_to_servo_gain = -1.2135" in note
    assert "speed_to_erpm_offset = 0" in note
    assert "servo_min" not in note


def test_the_default_scale_turns_back_into_itself():
    scale = VescScale()
    assert scale.steer_rad(scale.servo(0.1)) == pytest.approx(0.1)
    assert scale.speed_mps(scale.erpm(1.5)) == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (MUX.replace("timeout : 0.2", "timeout : never", 1), "topics.navigation.timeout"),
        (MUX.replace("priority: 10\n", "\n", 1), "topics.navigation.priority"),
        (
            MUX.replace("priority: 10\n", "priority: 10\n        silence_yields: 1\n", 1),
            "topics.navigation.silence_yields",
        ),
        ("[]", "names with values"),
        ("a: {ros__parameters: {}}", "topics"),
    ],
)
def test_a_mux_file_that_cannot_be_meant_so_is_refused(tmp_path, text, where):
    (tmp_path / "mux.yaml").write_text(text)
    with pytest.raises(DataFileFault, match=where):
        read_mux(tmp_path / "mux.yaml")


@pytest.mark.parametrize(
    ("text", "what"), [("a: [", "is not YAML"), ("\xff", "is not text in UTF-8")]
)
def test_what_is_no_yaml_is_refused(tmp_path, text, what):
    (tmp_path / "vesc.yaml").write_bytes(text.encode("latin-1"))
    with pytest.raises(DataFileFault, match=what):
        read_vesc(tmp_path / "vesc.yaml")


# The facts: f1tenth_system@ae64e05, f1tenth/vesc@153998d, f1tenth_gym_ros@883394d
ACKERMANN = "ackermann_msgs/msg/AckermannDriveStamped"
HEARD = {
    "drive": ACKERMANN,
    "teleop": ACKERMANN,
    **{
        f"commands/motor/{name}": "std_msgs/msg/Float64"
        for name in ("speed", "duty_cycle", "current", "brake", "position")
    },
    "commands/servo/position": "std_msgs/msg/Float64",
}
SAID = {
    "ackermann_cmd": (ACKERMANN, 50.0),
    "odom": ("nav_msgs/msg/Odometry", 50.0),
    "/tf": ("tf2_msgs/msg/TFMessage", 50.0),
    "scan": ("sensor_msgs/msg/LaserScan", 40.0),
    "sensors/core": ("vesc_msgs/msg/VescStateStamped", 50.0),
    "sensors/imu": ("vesc_msgs/msg/VescImuStamped", 50.0),
    "sensors/imu/raw": ("sensor_msgs/msg/Imu", 50.0),
    "sensors/servo_position_command": ("std_msgs/msg/Float64", 50.0),
}
LOCALISED = {"pf/pose/odom": ("nav_msgs/msg/Odometry", 50.0)}  # f1tenth's particle_filter


def test_the_topics_are_f1tenth_systems():
    assert {it.topic: it.type for it in F1TENTH.subscriptions} == HEARD
    assert {it.topic: (it.type, it.hz) for it in F1TENTH.publications} == SAID | LOCALISED
    assert (F1TENTH.odom_frame, F1TENTH.base_frame, F1TENTH.scan_frame) == (
        "odom",
        "base_link",
        "laser",
    )


def test_the_gyms_odometry_is_the_truth_in_a_map():
    (odometry,) = (it for it in GYM.publications if it.type == "nav_msgs/msg/Odometry")
    assert (odometry.topic, odometry.frame) == ("ego_racecar/odom", "map")
    assert GYM.base_frame == "ego_racecar/base_link"
    assert GYM.scan_frame == "ego_racecar/laser"


# --- commands in two halves

LIKE = replace(simulated_car("f1tenth"), top_mps=20.0, steer_max_rad=0.5)


def _heard(*halves):
    """What becomes of halves, each with when it came, in a source that waits for 0.2 s."""
    source = MuxSource(MuxRow("script", "throttle_command", 10, 0.2), 200_000)
    made = SplitCommand(VescScale(), LIKE)
    for part, value, at_us in halves:
        made.hear(source, part, value, at_us, at_us)
    return source


def test_a_throttle_is_a_share_of_the_simulators_top_speed():
    source = _heard((Content.STEERING, -0.5, 1000), (Content.THROTTLE, 0.1, 2000))
    assert source.latest == StampedCommand(pytest.approx(2.0), pytest.approx(-0.25), 2000)


def test_a_throttle_alone_drives_straight_on():
    assert _heard((Content.THROTTLE, -0.1, 2000)).latest == StampedCommand(
        pytest.approx(-2.0), 0.0, 2000
    )


def test_shares_end_at_one():
    source = _heard((Content.STEERING, 7.0, 1000), (Content.THROTTLE, -7.0, 2000))
    assert source.latest == StampedCommand(-20.0, 0.5, 2000)


def test_a_steering_that_fell_silent_ages_what_drives():
    source = _heard((Content.STEERING, 0.5, 0), (Content.THROTTLE, 0.1, 390_000))
    assert source.latest is not None
    assert source.latest.heard_us == 200_000
    source = _heard((Content.STEERING, 0.5, 0), (Content.THROTTLE, 0.1, 401_000))
    assert source.latest is None
    assert "old when it came" in source.why_refused


def test_a_pedal_brakes_until_it_is_let_go():
    held = (Content.BRAKE_SHARE, 0.4, 1000), (Content.HANDBRAKE, 7.0, 1500)
    assert _heard(*held, (Content.THROTTLE, 0.1, 2000)).latest == StampedCommand(
        0.0, 0.0, 2000, 1.0
    )
    let_go = (Content.BRAKE_SHARE, 0.0, 3000), (Content.HANDBRAKE, 0.0, 3000)
    source = _heard(*held, *let_go, (Content.THROTTLE, 0.1, 4000))
    assert source.latest == StampedCommand(pytest.approx(2.0), 0.0, 4000)


@pytest.mark.parametrize("part", [Content.STEERING, Content.THROTTLE, Content.BRAKE_SHARE])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_half_that_is_no_number_is_refused(part, value):
    source = _heard((part, value, 1000))
    assert (source.latest, source.refused) == (None, 1)


@pytest.mark.parametrize("option", ["mux", "vesc"])
def test_a_file_of_another_vocabulary_is_refused(option):
    with pytest.raises(UsageFault, match=f"--{option} says nothing of the topics of autodrive"):
        make("autodrive_nigel", {option: "its.yaml"}, lambda: 0)


# --- how far ROS 2 reaches


@pytest.mark.parametrize(
    ("given", "is_local"),
    [
        ({}, True),
        ({"ROS_DISTRO": "humble"}, True),
        ({"ROS_LOCALHOST_ONLY": "1"}, True),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, False),
        ({"ROS_LOCALHOST_ONLY": "0"}, False),
        ({"ROS_STATIC_PEERS": "10.0.0.2"}, False),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "CYCLONEDDS_URI": "x"}, False),
    ],
)
def test_topics_stay_here_unless_somebody_says_otherwise(given, is_local):
    environment = dict(given)
    assert stay_on_this_machine(environment) is is_local
    assert given.items() <= environment.items()  # nothing that was set is changed


def test_security_counts_only_where_it_is_enforced():
    assert not is_secured({"ROS_SECURITY_ENABLE": "true"})
    assert is_secured({"ROS_SECURITY_ENABLE": "true", "ROS_SECURITY_STRATEGY": "Enforce"})


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (("timeout: 0.2", "timeout: 200"), "seconds above 0, at most 60"),
        (("priority: 100", "priority: 99.5"), "a whole number from 0 to 255"),
        (("priority: 100", "priority: 1000"), "a whole number from 0 to 255"),
        (("timeout: 0.2", "timeout: .nan"), "a number"),
        (("timeout: 0.2", "timeout: 2_5"), "a number"),
    ],
)
def test_a_number_that_a_mux_cannot_have_is_refused(tmp_path, change, where):
    text = (
        "ackermann_mux:\n  ros__parameters:\n    topics:\n      joystick:\n"
        "        topic: teleop\n        timeout: 0.2\n        priority: 100\n"
    )
    path = tmp_path / "mux.yaml"
    path.write_text("\ufeff" + text)
    assert read_mux(path)[0][0].priority == 100
    path.write_text(text.replace(*change))
    with pytest.raises(DataFileFault) as caught:
        read_mux(path)
    assert caught.value.expected == where
