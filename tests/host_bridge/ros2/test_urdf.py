"""The URDF of every vehicle is one tree, and its joints say what the wheels do."""

from __future__ import annotations

from math import atan, pi, remainder, tan, tau
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from host_bridge import config
from host_bridge.logs.sensor_lines import LidarScan
from host_bridge.ros2.messages import conversions
from host_bridge.ros2.messages.frames import with_namespace
from host_bridge.ros2.messages.urdf import CarDimensions, joint_positions, urdf
from host_bridge.ros2.vocabularies.f1tenth.gym import GYM
from host_bridge.ros2.vocabularies.f1tenth.vocabulary import F1TENTH

VEHICLES = config.vehicle_names()


def tree(name, base="base_link", scan="laser"):
    return ElementTree.fromstring(urdf(config.load_vehicle(name), base, scan))


def numbers(element, name):
    return [float(part) for part in element.find("origin").get(name).split()]


def state(steer_rad=0.0, left=0, right=0):
    return (
        SimpleNamespace(steer_rad=steer_rad),
        SimpleNamespace(count_left=left, count_right=right),
    )


@pytest.mark.parametrize("name", VEHICLES)
@pytest.mark.parametrize("base", ["base_link", "car1/base_link"])
def test_every_vehicle_is_one_tree_from_its_base(name, base):
    robot = tree(name, base, base.replace("base_link", "laser"))
    links = [it.get("name") for it in robot.findall("link")]
    assert len(links) == len(set(links)) >= 5
    parents = {
        it.find("child").get("link"): it.find("parent").get("link") for it in robot.findall("joint")
    }
    assert set(links) - set(parents) == {base}
    for link in parents:
        while link in parents:
            link = parents[link]
        assert link == base


@pytest.mark.parametrize("name", VEHICLES)
def test_the_joints_that_are_told_are_those_that_move(name):
    vehicle = config.load_vehicle(name)
    moving = {it.get("name") for it in tree(name).findall("joint") if it.get("type") != "fixed"}
    assert set(joint_positions(CarDimensions.of(vehicle), *state(), 1e-3)) == moving


def test_left_is_left_and_front_is_front():
    robot = tree("f1tenth")
    at = {it.get("name"): numbers(it, "xyz") for it in robot.findall("joint")}
    assert at["front_left_steering"] == pytest.approx([0.3302, 0.118, 0.0], abs=1e-3)
    assert at["rear_right_wheel"] == pytest.approx([0.0, -0.118, 0.0])


def test_a_car_that_steers_both_axles_has_its_base_in_the_middle():
    robot = tree("nigel")
    at = {it.get("name"): numbers(it, "xyz") for it in robot.findall("joint")}
    assert at["front_left_steering"][0] == pytest.approx(-at["rear_left_steering"][0])
    assert at["front_left_steering"][0] > 0.0


def test_its_laser_is_where_the_static_transform_has_it():
    vehicle = config.load_vehicle("nigel")
    made = SimpleNamespace(
        header=SimpleNamespace(),
        transform=SimpleNamespace(translation=SimpleNamespace(), rotation=SimpleNamespace()),
    )
    assert conversions.fill_mount(made, None, ("base_link", "laser"), vehicle)
    mount = next(it for it in tree("nigel").findall("joint") if it.get("type") == "fixed")
    x_m, y_m, z_m = numbers(mount, "xyz")
    assert (x_m, z_m) == pytest.approx(
        (made.transform.translation.x, made.transform.translation.z), abs=1e-4
    )
    assert y_m == 0.0
    assert numbers(mount, "rpy")[2] == pytest.approx(pi, abs=1e-5)  # Nigel's looks backward


@pytest.mark.parametrize("name", ["nigel", "f1tenth"])
def test_a_ray_looks_from_the_lasers_frame_where_it_looked_in_the_car(name):
    vehicle = config.load_vehicle(name)
    scan = LidarScan(0.0, -1.2, 0.01, [1.0, 2.0])
    made = SimpleNamespace(header=SimpleNamespace())
    conversions.fill_scan(made, None, "laser", scan, vehicle)
    mount = next(it for it in tree(name).findall("joint") if it.get("type") == "fixed")
    for bearing_rad, ray in ((made.angle_min, 0), (made.angle_max, 1)):
        seen_rad = numbers(mount, "rpy")[2] + bearing_rad
        assert remainder(seen_rad - (-1.2 + 0.01 * ray), tau) == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("steer_rad", [0.3, -0.2])
def test_both_steered_wheels_roll_around_one_point(steer_rad):
    dimensions = CarDimensions.of(config.load_vehicle("f1tenth"))
    found = joint_positions(dimensions, *state(steer_rad), 1e-3)
    centres_m = [
        sign * dimensions.track_m / 2
        + dimensions.wheelbase_m / tan(found[f"front_{side}_steering"])
        for side, sign in (("left", 1.0), ("right", -1.0))
    ]
    assert centres_m == pytest.approx([dimensions.wheelbase_m / tan(steer_rad)] * 2)
    inner, outer = ("left", "right") if steer_rad > 0 else ("right", "left")
    turned = {side: abs(found[f"front_{side}_steering"]) for side in ("left", "right")}
    assert turned[inner] > atan(tan(abs(steer_rad))) > turned[outer]


def test_a_wheel_turns_forward_by_the_way_over_its_radius():
    dimensions = CarDimensions.of(config.load_vehicle("f1tenth"))
    found = joint_positions(dimensions, *state(left=100, right=-50), 2e-3)
    assert found["rear_left_wheel"] == pytest.approx(0.2 / dimensions.wheel_radius_m)
    assert found["front_right_wheel"] == pytest.approx(-0.1 / dimensions.wheel_radius_m)


def test_a_namespace_is_in_front_of_a_car_s_frames_and_not_of_the_world_s():
    red = with_namespace(F1TENTH, "/red")
    assert (red.odom_frame, red.base_frame, red.scan_frame) == (
        "red/odom",
        "red/base_link",
        "red/laser",
    )
    assert with_namespace(GYM, "/red").odom_frame == "map"
    assert {it.frame for it in red.publications} == {"red/odom", "red/laser", "map", ""}
    assert with_namespace(F1TENTH, "") == F1TENTH
