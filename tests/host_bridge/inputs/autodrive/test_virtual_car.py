"""What a virtual car has besides: laps, hits, a start that it is put back to when it stands."""

import json
import os
from math import cos, pi, sin, tau
from types import SimpleNamespace

import pytest

from host_bridge.config import load_vehicle
from host_bridge.core import SeenCar
from host_bridge.inputs.autodrive.virtual_car import (
    NO_ROOM,
    NOT_AT_REST,
    NOT_HERE,
    VirtualCarPipes,
)
from sim_mock.autodrive.command import ScriptCommand

TICK_US = 10_000
NIGEL = load_vehicle("nigel")
RESET, DRIVES = ScriptCommand(is_reset=True), ScriptCommand(0.5)


class World:
    """A virtual car's end of both pipes: what it writes, what it is told."""

    def __init__(self, folder):
        self.sensors = folder / "sensors.jsonl"
        self.sensors.write_text("")
        poses = folder / "poses"
        os.mkfifo(poses)
        self._told = os.open(poses, os.O_RDONLY | os.O_NONBLOCK)
        self.car = VirtualCarPipes(str(self.sensors), str(poses))
        self.now_us, self.counts, self.hits = 0, (0, 0), 0
        self.place, self.speed_mps = (0.0, 0.0, 0.0), 0.0
        self.step()

    def step(self, times=1, command=None):
        """Whether it had to stand, at last."""
        must_stand = False
        for _ in range(times):
            self.now_us += TICK_US
            keys = ("x_m", "y_m", "yaw_rad")
            truth = {**dict(zip(keys, self.place, strict=True)), "vx_mps": self.speed_mps,
                     "vy_mps": 0.0, "yaw_rate_radps": 0.0, "hits": self.hits}  # fmt: skip
            row = {"sensor": "truth", "time_s": self.now_us * 1e-6, "truth": truth}
            with self.sensors.open("a") as file:
                file.write(json.dumps(row) + "\n")
            status = SimpleNamespace(speed_mps=self.speed_mps)
            motion = SimpleNamespace(count_left=self.counts[0], count_right=self.counts[1])
            self.car.step(SeenCar("car", True, NIGEL, status, motion, None, None), self.now_us)
            if command:
                must_stand = self.car.must_stand(command)
        return must_stand

    def told(self):
        try:
            return [json.loads(line) for line in os.read(self._told, 1 << 16).splitlines()]
        except BlockingIOError:
            return []


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def round_the_oval(world, turns):
    """Of a Nigel's size: 0.9 m about (0, 0.9), 10 s a turn."""
    for tick in range(round(turns * 1000) + 1):
        at = tau * tick / 1000
        world.place = 0.9 * sin(at), 0.9 - 0.9 * cos(at), at
        world.step()


def test_laps_and_hits_are_counted_from_where_it_really_is(world):
    round_the_oval(world, 2.5)
    world.hits = 3
    world.step()
    extra = world.car.extra_telemetry(DRIVES)
    assert (extra.laps.count, extra.hits) == (2, 3)
    assert extra.laps.best_s == pytest.approx(10.0, abs=0.1)
    assert extra.laps.time_s == pytest.approx(5.0, abs=0.1)
    assert extra.truth.yaw_rad == pytest.approx(5 * pi)


def test_a_reset_makes_it_stand_and_puts_it_back_and_all_begins_anew(world):
    round_the_oval(world, 1.5)
    world.hits, world.counts, world.speed_mps = 2, (700, 900), 0.2
    assert world.step(20, RESET) is True
    assert world.told() == [], "it still moves"
    world.speed_mps = 0.0
    assert world.step(2, RESET) is True
    assert world.told() == [{"x_m": 0.0, "y_m": 0.0, "yaw_rad": 0.0}]
    world.place = (0.0, 0.0, 0.0)
    assert world.step(30, RESET) is True, "it is held for as long as it is asked for"
    assert world.told() == [], "and put there once"
    assert world.step(1, DRIVES) is False
    extra = world.car.extra_telemetry(DRIVES)
    assert (extra.hits, extra.laps.count, extra.laps.time_s) == (0, 0, 0.0)
    assert extra.zero == (700, 900)


def test_a_reset_that_was_a_pulse_is_done_to_its_end_and_again_with_the_next(world):
    for _ in range(2):
        world.place = (1.0, 0.5, 0.3)
        world.step(5, DRIVES)
        world.step(1, RESET)
        assert world.step(1, DRIVES) is True, "it is not there yet"
        assert len(world.told()) == 1
        world.place = (0.0, 0.0, 0.0)
        assert world.step(2, DRIVES) is False


def test_where_there_is_no_room_it_stays_and_drives_on_and_that_is_said(world):
    world.place = (1.0, 0.5, 0.3)
    world.step(1, RESET)
    assert world.step(150, DRIVES) is True
    assert world.step(70, DRIVES) is False
    assert world.car.words == NO_ROOM
    assert len(world.told()) > 5, "it was asked for again and again"


def test_one_that_never_stands_is_not_held_for_ever_and_that_is_said(world):
    world.place, world.speed_mps = (1.0, 0.5, 0.3), 0.2
    world.step(1, RESET)
    assert world.step(1000, DRIVES) is True
    assert world.car.words == ""
    assert world.step(5, DRIVES) is False
    assert world.car.words == NOT_AT_REST
    world.speed_mps = 0.0
    world.step(5, DRIVES)
    assert world.told() == [], "it does not jump when nobody expects it any more"


def test_one_whose_place_nobody_tells_is_not_held_for_ever(tmp_path):
    sensors = tmp_path / "silent.jsonl"
    sensors.write_text("")
    placed = VirtualCarPipes(str(sensors), str(tmp_path / "poses"))
    car = SeenCar("car", True, NIGEL, SimpleNamespace(speed_mps=0.0), None, None, None)
    moved = ScriptCommand(0.5, pose=(1.0, 1.0, 0.0))
    assert placed.must_stand(moved) is True
    assert placed.must_stand(DRIVES) is True, "it is not there yet"
    for at_us in (0, 10_000_001):
        placed.step(car, at_us)
    assert placed.must_stand(DRIVES) is False
    assert placed.words == NOT_AT_REST


def test_a_script_that_moves_the_car_itself_puts_it_wherever_it_says(world):
    places = [(0.1 * i, 0.0, 0.01 * i) for i in range(1, 6)]
    for place in places:
        assert world.step(3, ScriptCommand(1.0, pose=place)) is True, (
            "its throttle counts for nothing"
        )
        told = world.told()
        assert tuple(told[-1].values()) == pytest.approx(place)
        world.place = place
    assert world.step(2, ScriptCommand(1.0, pose=places[-1])) is True
    assert world.step(1, DRIVES) is False


def test_a_car_without_that_pipe_is_not_put_elsewhere_and_stands(tmp_path):
    sensors = tmp_path / "sensors.jsonl"
    sensors.write_text("")
    car = VirtualCarPipes(str(sensors))
    assert car.must_stand(RESET) is True
    assert car.words == NOT_HERE
    assert car.must_stand(DRIVES) is False
    assert car.words == ""
