"""Walls stop a car; where it left the track is known."""

from math import cos, hypot, pi, sin

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from host_bridge.config import load_vehicle
from host_bridge.deploy.hil.host.small_host import SmallHost
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.sensors.instruments import GroundTruth
from sim_mock.tracks.contact import Contact, Outline, clearance_m, touches
from sim_mock.tracks.driving_area import Pose
from sim_mock.tracks.loading import load_track
from sim_mock.virtual_car.config import virtual_car_config

CAR = Outline(front_m=0.3, rear_m=0.2, half_width_m=0.15)
coordinates = st.floats(-1.0, 1.0)


@given(coordinates, coordinates, coordinates, coordinates, coordinates, coordinates, coordinates)
def test_a_wall_touches_a_car_where_one_of_its_points_is_inside(x, y, yaw, x1, y1, x2, y2):
    share = np.linspace(0.0, 1.0, 2001)
    px, py = x1 + share * (x2 - x1) - x, y1 + share * (y2 - y1) - y
    along, across = cos(yaw) * px + sin(yaw) * py, cos(yaw) * py - sin(yaw) * px
    out_m = np.maximum(
        np.maximum(along - CAR.front_m, -CAR.rear_m - along), abs(across) - CAR.half_width_m
    ).min()
    if abs(out_m) > 2e-3:  # nearer than the points are apart, they do not tell
        walls = np.array([[x1, y1, x2, y2]])
        assert touches(CAR, Pose(x, y, yaw), walls) == (out_m < 0.0)


def test_a_wall_that_is_a_point_has_a_distance():
    assert clearance_m(0.0, 0.0, np.array([[3.0, 4.0, 3.0, 4.0]])) == 5.0
    assert clearance_m(1.0, 2.0, np.array([[0.0, 0.0, 5.0, 0.0]])) == 2.0


class Drive:
    """A car on the corridor's first straight, the wall of its bend 7.5 m ahead."""

    def __init__(self, vehicle=None, **query):
        vehicle = vehicle or load_vehicle("f1tenth")
        config = virtual_car_config(vehicle, {"track": "corridor", **query})
        self.world = config.make_world(InProcessRunner)
        self.contact = self.world.observers[0].__self__
        self.host = SmallHost(self.world)
        self.host.take_the_wheel()

    def seen(self):
        return GroundTruth(self.contact).take(self.world)[1]


def test_a_wall_stops_a_car_at_its_bumper_and_it_can_back_away():
    drive = Drive()
    truth = drive.world.plant.truth
    drive.host.drive(6000, 2000)
    outline = Outline.of(drive.world.plant.parameters)
    walls = load_track("corridor").walls
    assert drive.seen()["hits"] == 1
    assert drive.seen()["hit_mps"] == pytest.approx(2.0, rel=0.1)
    assert hypot(truth.vx_mps, truth.vy_mps) < 0.05
    for further_m, does_touch in ((0.0, False), (0.003, True)):
        there = Pose(truth.x_m + further_m, truth.y_m, truth.yaw_rad)
        assert touches(outline, there, walls) == does_touch
    at_wall_m = truth.x_m
    drive.world.plant.pushed_n = -60.0  # somebody pulls it back
    drive.host.drive(500, 0)
    assert truth.x_m < at_wall_m - 0.2


def test_a_car_that_keeps_clear_is_moved_by_nothing():
    """The same drive with and without walls, to the last bit."""
    walled, free = (
        Drive(),
        virtual_car_config(load_vehicle("f1tenth"), {}).make_world(InProcessRunner),
    )
    host = SmallHost(free)
    host.take_the_wheel()
    for one in (walled.host, host):
        one.drive(1500, 2000, 50_000)
    assert walled.world.plant.truth.values() == free.plant.truth.values()
    assert walled.seen()["hits"] == 0
    assert not walled.seen()["is_off"]


def test_no_speed_carries_a_car_through_a_wall():
    area = load_track("corridor")
    world = virtual_car_config(load_vehicle("f1tenth"), {}).make_world(InProcessRunner)
    contact = Contact(area, Outline.of(world.plant.parameters), Pose(0.0, 0.0, 0.0))
    world.observers.append(contact.step)
    world.plant.truth.assign((0.0, 0.0, 0.6, 20.0, 0.0, 0.0))
    world.advance(2_000_000)
    truth = world.plant.truth
    assert contact.hits >= 1
    assert area.is_free(truth.x_m, truth.y_m)
    assert not contact.is_off


def test_who_leaves_the_free_floor_is_said_to_be_off_it():
    area = load_track("oval")
    world = virtual_car_config(load_vehicle("nigel"), {}).make_world(InProcessRunner)
    nothing = Outline(0.0, 0.0, 0.0)  # only its centre, to have it go where no car fits
    contact = Contact(area, nothing, Pose(0.0, 0.0, 0.0))
    for y_m, is_off, count in ((0.29, False, 0), (0.31, True, 1), (0.5, True, 1), (0.2, False, 1)):
        world.plant.truth.assign((0.0, y_m, pi, 0.0, 0.0, 0.0))
        contact.step(world)
        assert (contact.is_off, contact.left_count) == (is_off, count)
