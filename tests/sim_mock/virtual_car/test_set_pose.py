"""A virtual car that is put elsewhere by a named pipe."""

from __future__ import annotations

import json
import os

import pytest

from host_bridge.config import load_vehicle
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.virtual_car.config import virtual_car_config

SECOND_US = 1_000_000


class Put:
    """A car in its world, and the end of its pipe that is written to."""

    def __init__(self, path, query):
        os.mkfifo(path)
        self.world = virtual_car_config(
            load_vehicle("f1tenth"), {**query, "poses": str(path)}
        ).make_world(InProcessRunner)
        self._pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)

    def say(self, *lines):
        os.write(self._pipe, "".join(f"{line}\n" for line in lines).encode())

    def pose(self):
        truth = self.world.plant.truth
        return truth.x_m, truth.y_m, truth.yaw_rad


@pytest.fixture
def put(tmp_path):
    return lambda **query: Put(tmp_path / "poses", query)


def pose(x_m, y_m, yaw_rad):
    return json.dumps({"x_m": x_m, "y_m": y_m, "yaw_rad": yaw_rad})


@pytest.mark.parametrize("query", [{}, {"track": "corridor"}])
def test_it_is_put_where_there_is_room_and_its_program_knows_nothing_of_it(put, query):
    car = put(**query)
    car.world.advance(SECOND_US)
    counts = car.world.plant.counts()
    car.say(pose(2.0, 0.1, 0.2))
    car.world.advance(SECOND_US + 30_000)
    assert car.pose() == pytest.approx((2.0, 0.1, 0.2))
    assert car.world.plant.counts() == counts


@pytest.mark.parametrize(
    "line",
    [
        pose(2.0, 50.0, 0.0),  # where nobody may be
        pose(2.0, 0.95, 0.0),  # half in the wall
        pose(float("nan"), 0.0, 0.0),
        '{"x_m": 1.0}',
        "[1, 2, 3]",
        "here",
        "",
    ],
)
def test_what_is_no_place_for_it_is_left_undone(put, line):
    car = put(track="corridor")
    before = car.pose()
    car.say(line)
    car.world.advance(SECOND_US)
    assert car.pose() == before


def test_the_last_line_counts(put):
    car = put()
    car.say(pose(1.0, 0.0, 0.0), pose(3.0, 0.0, 0.0), "nonsense")
    car.world.advance(SECOND_US)
    assert car.pose() == pytest.approx((3.0, 0.0, 0.0))


def test_a_car_that_moves_is_put_elsewhere_when_it_stands(put):
    car = put()
    car.world.plant.truth.vx_mps = 1.0
    car.say(pose(50.0, 0.0, 0.0))
    car.world.advance(20_000)
    assert car.world.plant.truth.vx_mps > 0.5
    assert car.pose()[0] < 1.0
    for i in range(1, 41):
        car.world.advance(i * SECOND_US)
        if car.world.plant.truth.vx_mps == 0.0:
            break
    car.world.advance(42 * SECOND_US)
    assert car.pose()[0] == pytest.approx(50.0)


def test_another_car_of_its_scene_is_in_the_way(put, tmp_path):
    car = put(track="corridor", scene="placing")
    other = virtual_car_config(
        load_vehicle("f1tenth"),
        {"track": "corridor", "scene": "placing", "start": "2,0,0", "name": "other"},
    ).make_world(InProcessRunner)
    car.say(pose(2.0, 0.0, 0.0))
    car.world.advance(SECOND_US)
    assert car.pose()[0] == 0.0
    car.say(pose(4.0, 0.0, 0.0))
    car.world.advance(2 * SECOND_US)
    assert car.pose()[0] == pytest.approx(4.0)
    assert other.plant.truth.x_m == 2.0


def test_what_is_no_named_pipe_is_refused(tmp_path):
    with pytest.raises(ValueError, match="mkfifo makes one"):
        virtual_car_config(load_vehicle("f1tenth"), {"poses": str(tmp_path / "none")})
