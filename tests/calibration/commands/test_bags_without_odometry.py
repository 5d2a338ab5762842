"""Bags that hold no odometry: what there is is used, or the sentence says what is missing."""

from __future__ import annotations

import json
from math import cos, sin, tan

import numpy as np
import pytest

from host_bridge.cli import main as cli
from host_bridge.config import load_vehicle
from host_bridge.logs.bags.reading import read_bag
from host_bridge.logs.bags.ros_types import empty
from tests.calibration.logs.test_run_bag import ROS1, ROS2, SHARE, chassis, share
from tests.host_bridge.logs.made_bags import ACKERMANN, ODOMETRY, START_NS, drive, odom, write
from tests.host_bridge.logs.test_bag_messages import NEW, control

IMU, WHEEL, POINT = "sensor_msgs/msg/Imu", "sensor_msgs/msg/JointState", "geometry_msgs/msg/Point"
VESC = "vesc_msgs/msg/VescStateStamped"
VELOCITY = "autoware_vehicle_msgs/msg/VelocityReport"
OLD_VELOCITY = "autoware_auto_vehicle_msgs/msg/VelocityReport"
ITS = "/autodrive/nigel_1/"
STEP_S, LASTS_S = 0.02, 24.0
BIAS_RADPS = 0.03  # of the gyro
VEHICLES = {"autodrive": "nigel", "f1tenth": "f1tenth_vesc", "autorally": "autorally"}


def stamped(kind, at_ns, **values):
    message = empty(kind)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(at_ns, 10**9)
    for name, value in values.items():
        setattr(message, name, value)
    return message


class Made:
    """A made drive: speed, yaw rate and place at each step, by a wheelbase."""

    def __init__(self, vehicle, lasts_s=LASTS_S):
        self.vehicle, self.lasts_s = vehicle, lasts_s
        is_slow = vehicle.speed_max_mps < 1.0
        self.speeds_mps = (0.2, 0.3, 0.15) if is_slow else (0.5, 0.8, 0.3)
        self.x_m = self.y_m = self.yaw_rad = self.rolled_m = self.speed_mps = 0.0

    def steps(self):
        for k in range(round(self.lasts_s / STEP_S)):
            t_s = k * STEP_S
            wanted = self.speeds_mps[int(t_s / 4) % 3] if 2.0 < t_s < self.lasts_s - 2.0 else 0.0
            steer = 0.25 * (1, -1)[int(t_s / 2) % 2] * (0.5, 1.0)[int(t_s / 6) % 2]
            self.speed_mps += 0.1 * (wanted - self.speed_mps)
            rate = self.speed_mps * tan(steer) / self.vehicle.wheelbase_m
            self.yaw_rad += rate * STEP_S
            self.x_m += self.speed_mps * cos(self.yaw_rad) * STEP_S
            self.y_m += self.speed_mps * sin(self.yaw_rad) * STEP_S
            self.rolled_m += self.speed_mps * STEP_S
            yield START_NS + round(t_s * 1e9), wanted, steer, rate

    def imu(self, at_ns, rate, bias_radps=0.0):
        message = stamped(IMU, at_ns)
        message.angular_velocity.z = rate + bias_radps
        message.linear_acceleration.z = 9.81
        return message

    def autodrive(self):
        top_mps, lock_rad = self.vehicle.speed_max_mps, self.vehicle.steer_max_rad
        radius_m = self.vehicle.plant["drive"]["wheel_radius_m"]
        for at_ns, wanted, steer, rate in self.steps():
            yield at_ns, f"{ITS}steering_command", SHARE, share(steer / lock_rad)
            yield at_ns, f"{ITS}throttle_command", SHARE, share(wanted / top_mps)
            for side in ("left", "right"):
                angle = np.array([self.rolled_m / radius_m])
                wheel = stamped(WHEEL, at_ns, name=[side], position=angle)
                yield at_ns, f"{ITS}{side}_encoder", WHEEL, wheel
            yield at_ns, f"{ITS}imu", IMU, self.imu(at_ns, rate, BIAS_RADPS)
            place = empty(POINT)
            place.x, place.y = self.x_m, self.y_m
            yield at_ns, f"{ITS}ips", POINT, place

    def f1tenth(self):
        erpm = 10.0 * 1e9 / self.vehicle.parameters["nm_per_count"][0]
        for at_ns, wanted, steer, rate in self.steps():
            yield at_ns, "/drive", ACKERMANN, drive(wanted, steer)
            state = stamped(VESC, at_ns)
            state.state.speed = -erpm * self.speed_mps  # as F1TENTH's driver reports it
            yield at_ns, "/sensors/core", VESC, state
            yield at_ns, "/sensors/imu/raw", IMU, self.imu(at_ns, rate)

    def autoware(self, kind=VELOCITY):
        for at_ns, wanted, steer, rate in self.steps():
            yield at_ns, "/control/command/control_cmd", NEW, control(NEW, wanted, steer)
            report = stamped(kind, at_ns, longitudinal_velocity=self.speed_mps, heading_rate=rate)
            yield at_ns, "/vehicle/status/velocity_status", kind, report

    def autorally(self, names=ROS2):
        kind = names.removesuffix("hassis").removesuffix("C").removesuffix("c")
        wheel_kind = kind + ("WheelSpeeds" if names == ROS2 else "wheelSpeeds")
        backs = ("lb_speed", "rb_speed") if names == ROS2 else ("lbSpeed", "rbSpeed")
        state, lock_rad = names + "State", self.vehicle.steer_max_rad
        for at_ns, wanted, steer, rate in self.steps():
            asked = wanted / self.vehicle.speed_max_mps, -steer / lock_rad
            yield at_ns, "/chassisState", state, chassis(state, *asked, 0.0)
            speeds = stamped(wheel_kind, at_ns, **dict.fromkeys(backs, self.speed_mps))
            yield at_ns, "/wheelSpeeds", wheel_kind, speeds
            yield at_ns, "/imu/imu", IMU, self.imu(at_ns, rate)


def made_bag(folder, vocabulary, *without, ends=".mcap", lasts_s=LASTS_S, **types):
    made = Made(load_vehicle(VEHICLES.get(vocabulary, "f1tenth")), lasts_s)
    rows = [row for row in getattr(made, vocabulary)(**types) if row[1] not in without]
    return write(folder, ends, rows), made


def said(words, capsys):
    """The exit code of a command, and what it says on both streams."""
    capsys.readouterr()
    code = cli.main([*map(str, words)])
    out, err = capsys.readouterr()
    return code, out, err


CASES = {
    "autodrive": ("autodrive", {}, ".mcap"),
    "f1tenth": ("f1tenth", {}, ".mcap"),
    "autoware": ("autoware", {}, ".mcap"),
    "autoware before 2024": ("autoware", {"kind": OLD_VELOCITY}, ".db3"),
    "autorally": ("autorally", {}, ".db3"),
    "autorally of ROS 1": ("autorally", {"names": ROS1}, ".bag"),
}


@pytest.mark.fit
@pytest.mark.parametrize("case", CASES)
def test_a_replay_reckons_the_poses_of_wheels_and_gyro_and_says_so(case, tmp_path, capsys):
    vocabulary, types, ends = CASES[case]
    bag, made = made_bag(tmp_path, vocabulary, ends=ends, **types)
    words = ["replay", "--bag", bag, "--vehicle", made.vehicle.name, "--calibration", "none"]
    code, out, err = said([*words, "--json"], capsys)
    assert code == 0, err
    (row,) = json.loads(out)
    ends = row["car"]["x_m"][-1], row["car"]["y_m"][-1], row["car"]["yaw_rad"][-1]
    assert ends == pytest.approx((made.x_m, made.y_m, made.yaw_rad), abs=0.1)
    assert "it has no poses: they are reckoned" in err


def test_a_calibration_of_autodrives_sensors_alone_tells_its_steering_and_speed(tmp_path, capsys):
    bag, made = made_bag(tmp_path, "autodrive", lasts_s=36.0)
    words = ["calibrate", bag, "--vehicle", "nigel"]
    code, out, _ = said([*words, "--json"], capsys)
    assert code == 0
    found = json.loads(out)["parameters"]
    speed = found["full_effort_mps"]
    assert speed["is_told"]
    assert speed["value"] == pytest.approx(made.vehicle.speed_max_mps, rel=0.05)
    assert found["steer_gain_left"]["is_told"]
    _, out, _ = said(words, capsys)
    assert f"{ITS}ips was not used: --pose-topic {ITS}ips takes it" in out
    code, out, _ = said([*words, "--pose-topic", f"{ITS}ips", "--json"], capsys)
    assert code == 0
    counts = json.loads(out)["parameters"]["counts_per_m"]
    true_per_m = 1e9 / made.vehicle.parameters["nm_per_count"][0]
    assert counts["value"] == pytest.approx(true_per_m, rel=0.02), counts["why"]


def test_places_of_a_drive_that_is_too_short_are_said_to_be(tmp_path, capsys):
    bag, _ = made_bag(tmp_path, "autodrive", lasts_s=12.0)
    words = ["calibrate", bag, "--vehicle", "nigel", "--pose-topic", f"{ITS}ips"]
    _, out, _ = said(words, capsys)
    assert "counts_per_m: where it was seen spans too little of its drive" in out


LACKING = {
    ("f1tenth", "/sensors/imu/raw"): "how far it rolled: /sensors/core; how it turned: nothing",
    ("f1tenth", "/sensors/core"): "how far it rolled: nothing; how it turned: /sensors/imu/raw",
    ("autorally", "/imu/imu"): "how far it rolled: /wheelSpeeds; how it turned: nothing",
    ("autodrive", f"{ITS}imu"): f"rolled: {ITS}left_encoder, {ITS}right_encoder; how it turned: no",
}


@pytest.mark.parametrize(("vocabulary", "lacking"), LACKING)
def test_a_replay_names_what_a_bag_lacks(vocabulary, lacking, tmp_path, capsys):
    bag, made = made_bag(tmp_path, vocabulary, lacking)
    code, _, err = said(["replay", "--bag", bag, "--vehicle", made.vehicle.name], capsys)
    assert code == 7
    assert "nothing in this bag tells where the car was" in err
    assert LACKING[vocabulary, lacking] in err


def test_what_a_car_reports_of_itself_is_no_command(tmp_path, capsys):
    bag, _ = made_bag(tmp_path, "autoware", "/control/command/control_cmd")
    code, _, err = said(["replay", "--bag", bag, "--vehicle", "f1tenth"], capsys)
    assert code == 7
    assert "nothing in this bag commands a car" in err
    assert "/vehicle/status/velocity_status" in err
    code, out, _ = said(["calibrate", bag, "--vehicle", "f1tenth", "--json"], capsys)
    assert code == 1  # nothing is told
    assert "steer" in out


def test_a_calibration_says_what_it_did_not_use_and_which_option_would(tmp_path, capsys):
    made = Made(load_vehicle("f1tenth_vesc"), 8.0)
    rows = [
        (START_NS, "/pf/pose/odom", ODOMETRY, odom(0.0, 0.0, 0.0, START_NS)),
        (START_NS, "/slam/odom", ODOMETRY, odom(0.0, 0.0, 0.0, START_NS)),
        (START_NS, "/imu/a", IMU, made.imu(START_NS, 0.0)),
        (START_NS, "/text", "std_msgs/msg/String", empty("std_msgs/msg/String")),
    ]
    bag = write(tmp_path, ".mcap", sorted([*rows, *made.f1tenth()], key=lambda row: row[0]))
    _, out, _ = said(["calibrate", bag, "--vehicle", "f1tenth_vesc"], capsys)
    assert "/imu/a was not used: --imu-topic /imu/a takes it for its inertial sensor" in out
    assert "/pf/pose/odom was not used: --pose-topic /pf/pose/odom takes it for where" in out
    assert "not used, and used by no option: /text" in out


def autodrives(*cars):
    """The same drive of each of these cars."""
    for car in cars:
        for at_ns, topic, kind, message in Made(load_vehicle("nigel"), 12.0).autodrive():
            yield at_ns, topic.replace("nigel_1", car), kind, message


def test_of_two_cars_the_sensors_are_those_of_the_car_that_is_named(tmp_path, capsys):
    rows = sorted(autodrives("nigel_1", "nigel_2"), key=lambda row: row[0])
    bag = write(tmp_path, ".mcap", rows)
    found = read_bag(bag, {"commands": "/autodrive/nigel_2/throttle_command"}, for_replay=True)
    assert found.topics["inertial"] == "/autodrive/nigel_2/imu"
    ends = ("left_encoder", "right_encoder")
    assert found.topics["wheels"] == ", ".join(f"/autodrive/nigel_2/{it}" for it in ends)
