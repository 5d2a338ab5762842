"""The sensors that a program in the car's own process looks at: the same as those in a file."""

from __future__ import annotations

import json
from math import nan

import numpy as np
import pytest

from host_bridge.config import load_vehicle
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.virtual_car.config import VirtualCar, virtual_car_config
from sim_mock.virtual_car.on_board_sensors import OnBoardSensors
from sim_mock.virtual_car.surroundings import Surroundings

CORRIDOR = {"track": "corridor"}


def car_of(vehicle: str = "f1tenth", **query: str) -> VirtualCar:
    return virtual_car_config(load_vehicle(vehicle), query).make_car(InProcessRunner)


def sensors_of(car: VirtualCar) -> OnBoardSensors:
    return OnBoardSensors(car.world, car.surroundings or Surroundings())


def test_a_scan_is_that_of_its_sensors_file(tmp_path):
    path = tmp_path / "run.jsonl"
    car = car_of(**CORRIDOR, sensors=str(path))
    sensors = sensors_of(car)
    assert sensors.scan() is None
    for _ in range(4):  # 40 Hz
        car.world.advance(car.world.now_us + 25_000)
        scan = sensors.scan()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    row = [row for row in rows if row["sensor"] == "lidar"][-1]
    assert scan is not None
    assert scan.taken_us == round(row["taken_s"] * 1e6) == 100_000
    assert (scan.first_rad, scan.step_rad) == (row["first_rad"], row["step_rad"])
    theirs = np.array([nan if it is None else it for it in row["ranges_m"]])
    ours = np.where(np.isfinite(scan.ranges_m), scan.ranges_m.round(4), nan)
    np.testing.assert_array_equal(ours, theirs)
    assert sensors.scan() is scan  # until there is a newer one


def test_to_look_changes_no_byte_of_the_car():
    seen, alone = car_of(**CORRIDOR), car_of(**CORRIDOR)
    sensors = sensors_of(seen)
    bytes_seen = bytearray()
    for step in range(1, 21):
        bytes_seen += seen.world.advance(step * 25_000)
        sensors.scan()
    assert bytes_seen == alone.world.advance(500_000)
    assert bytes_seen


def test_truth_and_hits_are_those_of_the_plant():
    car = car_of(**CORRIDOR, start="1.5,0,0")
    sensors = sensors_of(car)
    assert sensors.truth() == (1.5, 0.0, 0.0, 0.0, 0.0, 0.0)
    car.world.plant.truth.assign((1.5, 0.0, 1.5707963, 2.0, 0.0, 0.0))  # towards the wall
    car.world.advance(1_000_000)
    assert sensors.hits == 1
    assert not sensors.is_off_track


def test_it_is_put_back_where_there_is_room():
    car = car_of(**CORRIDOR)
    sensors = sensors_of(car)
    car.world.plant.truth.assign((2.0, 0.3, 0.2, 0.0, 0.0, 0.0))
    assert sensors.stands()
    assert sensors.put_back()
    assert sensors.truth() == (0.0,) * 6


def test_it_is_not_put_where_another_car_is():
    first = car_of(**CORRIDOR, scene="reset")
    first.world.plant.truth.assign((2.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    second = car_of(**CORRIDOR, scene="reset", name="second")
    assert not sensors_of(first).put_back()
    assert sensors_of(first).truth()[0] == 2.0
    assert sensors_of(second).put_back()


@pytest.mark.parametrize(
    ("vehicle", "query", "why"),
    [("f1tenth", {}, "no walls"), ("autorally", {"track": "autorally"}, "no LIDAR")],
)
def test_a_car_without_a_lidar_says_why(vehicle, query, why):
    sensors = sensors_of(car_of(vehicle, **query))
    assert sensors.scan() is None
    assert why in sensors.why_no_scan
