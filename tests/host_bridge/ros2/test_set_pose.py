"""A virtual car that is put elsewhere, and what AutoDRIVE's and the gym's topics make of it."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace

import pytest

from host_bridge.config import load_vehicle
from host_bridge.core import State
from host_bridge.logs.sensor_lines import TruePose
from host_bridge.ros2.node.make_input import make
from host_bridge.ros2.node.mux import Mux
from host_bridge.ros2.node.set_pose import NOT_HERE, PoseRequest
from host_bridge.ros2.vocabularies.autodrive.adapter import AutodriveAdapter
from host_bridge.ros2.vocabularies.autodrive.vocabulary import AUTODRIVE_NIGEL, AUTODRIVE_ROBORACER
from host_bridge.ros2.vocabularies.f1tenth.gym import GYM, GymAdapter
from host_bridge.ros2.vocabularies.topics import Content

MS, REAR_M = 1000, 0.15


def truth(x_m=0.0, y_m=0.0, yaw_rad=0.0, vx_mps=0.0):
    return TruePose(x_m, y_m, yaw_rad, vx_mps, 0.0, 0.0)


def seen(state, speed_mps=0.0):
    return SimpleNamespace(is_online=True, status=SimpleNamespace(state=state, speed_mps=speed_mps))


class Put:
    """A car that is put elsewhere, and what was asked of it."""

    def __init__(self, path):
        os.mkfifo(path)
        self._read = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.sensors = SimpleNamespace(truth=truth())
        self.stops, self.replies = 0, []
        self.placing = PoseRequest(str(path), self.sensors, REAR_M, self._stop, self.replies.append)

    def _stop(self):
        self.stops += 1

    def written(self):
        try:
            return json.loads(os.read(self._read, 4096) or "null")
        except BlockingIOError:
            return None


@pytest.fixture
def put(tmp_path):
    return Put(tmp_path / "poses")


def test_it_is_stopped_set_down_when_it_stands_and_armed_again(put):
    put.placing.set_pose((2.0, 1.0, 0.0))
    for _ in range(3):
        put.placing.step(seen(State.ACTIVE, 1.0), 0)
    assert (put.stops, put.written()) == (1, None)
    put.sensors.truth = truth(vx_mps=0.5)
    put.placing.step(seen(State.STOPPED, 0.5), 10 * MS)
    assert put.written() is None
    put.sensors.truth = truth()
    put.placing.step(seen(State.STOPPED), 20 * MS)
    assert put.written() == {"x_m": 2.0 + REAR_M, "y_m": 1.0, "yaw_rad": 0.0}
    put.placing.step(seen(State.STOPPED), 30 * MS)
    assert put.replies == []
    put.sensors.truth = truth(2.0 + REAR_M, 1.0)
    put.placing.step(seen(State.STOPPED), 40 * MS)
    assert len(put.replies) == 1
    put.replies[0](True, "It is armed.")
    assert put.placing.words == ""


def test_where_there_is_no_room_it_stays_and_is_not_armed(put):
    for at_ms in (0, 1000, 2001):
        if at_ms < 2000:
            put.placing.set_pose((2.0, 1.0, 0.0))  # said again and again: it is tried once
        put.placing.step(seen(State.STOPPED), at_ms * MS)
    assert put.replies == []
    assert put.placing.words.startswith("It was not put elsewhere: a wall")


def test_a_car_that_is_not_known_is_waited_for(put):
    put.placing.set_pose((2.0, 1.0, 0.0))
    put.placing.step(SimpleNamespace(is_online=False, status=None), 0)
    assert put.written() is None


ROLLING = seen(State.STOPPED, 0.5)
GONE = SimpleNamespace(is_online=False, status=None)


@pytest.mark.parametrize(
    ("car", "why"),
    [
        (ROLLING, "it did not come to rest within 10 s."),
        (seen(State.ACTIVE), "it did not come to rest within 10 s."),
        (GONE, "nothing is heard of it, or of where it is."),
    ],
)
def test_one_that_never_stands_is_not_waited_for_for_ever(put, car, why):
    put.placing.set_pose((2.0, 1.0, 0.0))
    for at_ms in (0, 5000, 10_000):
        put.placing.step(car, at_ms * MS)
        assert put.placing.words == ""
    put.placing.step(car, 10_001 * MS)
    assert put.placing.words == f"It was not put elsewhere: {why}"
    put.placing.step(seen(State.STOPPED), 10_002 * MS)
    assert put.written() is None, "it does not jump when nobody expects it any more"
    put.placing.set_pose((2.0, 1.0, 0.0))
    put.placing.step(seen(State.STOPPED), 60_000 * MS)
    assert put.written() is not None, "it may be asked for anew"


def test_one_whose_place_nobody_tells_is_not_waited_for_for_ever(put):
    put.sensors.truth = None
    put.placing.set_pose((2.0, 1.0, 0.0))
    for at_ms in (0, 10_001):
        put.placing.step(seen(State.STOPPED), at_ms * MS)
    assert put.placing.words.startswith("It was not put elsewhere: nothing is heard")


def test_one_that_does_not_read_its_pipe_is_told_and_stops_no_input(put, tmp_path):
    placing = PoseRequest(
        str(tmp_path / "none"), put.sensors, REAR_M, lambda: None, put.replies.append
    )
    placing.set_pose((2.0, 1.0, 0.0))
    placing.step(seen(State.STOPPED), 0)
    assert placing.words == "It was not put elsewhere: it did not read its pipe of poses."


# --- who asks for it


class NodeStub:
    """The node, as far as a adapter knows it."""

    def __init__(self, why=""):
        self.why, self.places, self.now = why, [], truth()

    def set_pose(self, place):
        self.places.append(place)
        return self.why

    def truth(self):
        return self.now

    def hits(self):
        return 3


VEHICLE = SimpleNamespace(turns_behind_centre_m=0.0, wheelbase_m=0.33)


def made(adapter, vocabulary, why="", vehicle=VEHICLE):
    asked, it = NodeStub(why), adapter()
    it.begin(None, asked, vehicle)
    mux = Mux(vocabulary.mux, 0.12)
    mux.begin()
    by_part = {row.content: row for row in vocabulary.subscriptions}

    def say(part, message, at_us=0):
        row = by_part[part]
        return it.on_message(row, mux.sources[row.source], message, at_us, at_us)

    return it, asked, mux, say


def posed(x, y, z=0.0, w=1.0, frame="map", *, is_nested=True):
    pose = SimpleNamespace(
        position=SimpleNamespace(x=x, y=y, z=0.0),
        orientation=SimpleNamespace(x=0.0, y=0.0, z=z, w=w),
    )
    header = SimpleNamespace(frame_id=frame)
    return SimpleNamespace(header=header, pose=SimpleNamespace(pose=pose) if is_nested else pose)


@pytest.mark.parametrize("is_nested", [True, False])
def test_a_pose_in_the_map_puts_the_car_there(is_nested):
    _, asked, mux, say = made(GymAdapter, GYM)
    assert say(Content.POSE, posed(1.0, 2.0, 1.0, 0.0, is_nested=is_nested))
    assert asked.places == [(1.0, 2.0, pytest.approx(3.14159, abs=1e-4))]
    assert mux.sources["navigation"].refused == 0


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (posed(1.0, 2.0, frame="odom"), "a pose in odom is none in map"),
        (posed(float("nan"), 2.0), "it was not a number"),
    ],
)
def test_a_pose_of_another_kind_is_refused(message, why):
    _, asked, mux, say = made(GymAdapter, GYM)
    say(Content.POSE, message)
    assert asked.places == []
    assert mux.sources["navigation"].why_refused == why


def test_a_real_car_is_put_nowhere():
    node = make("f1tenth_gym", {}, lambda: 0)
    assert node.services.set_pose((0.0, 0.0, 0.0)) == NOT_HERE
    _, _, mux, say = made(GymAdapter, GYM, NOT_HERE)
    say(Content.POSE, posed(1.0, 2.0))
    assert mux.sources["navigation"].why_refused == NOT_HERE


@pytest.mark.parametrize(("turn", "steer_rad"), [(0.1, 0.3), (-2.0, -0.3), (0.0, 0.0)])
def test_a_twist_steers_as_their_keyboard_does(turn, steer_rad):
    _, _, mux, say = made(GymAdapter, GYM)
    twist = SimpleNamespace(linear=SimpleNamespace(x=0.7), angular=SimpleNamespace(z=turn))
    for at_us in (0, 50 * MS):
        say(Content.TWIST, twist, at_us)
    command = mux.decide(60 * MS)
    assert (command.speed_mps, command.steer_rad) == (0.7, steer_rad)


def data(value):
    return SimpleNamespace(data=value)


def test_a_reset_puts_it_back_once_for_each_time_that_it_is_said():
    it, asked, _, say = made(AutodriveAdapter, AUTODRIVE_ROBORACER)
    it.step(None, True, 0)
    asked.now = truth(4.0, 1.0)
    it.step(None, True, 10 * MS)
    for value in (True, True, False, True):
        say(Content.RESET, data(value))
    assert asked.places == [(0.0, 0.0, 0.0)] * 2


def test_laps_begin_anew_when_it_is_back_and_not_on_its_way():
    it, asked, _, say = made(AutodriveAdapter, AUTODRIVE_ROBORACER)
    fill = it.fillers()[Content.LAP_COUNT]
    message = SimpleNamespace(data=None)
    for at_ms, x_m, y_m in ((0, 0.0, 0.0), (10, 5.0, 0.0), (20, -4.0, 0.0)):
        asked.now = truth(x_m, y_m)
        it.step(None, True, at_ms * MS)
    say(Content.RESET, data(True))
    for at_ms, x_m in ((30, -3.0), (40, 0.0), (50, 0.1)):
        asked.now = truth(x_m)
        it.step(None, True, at_ms * MS)
    assert fill(None, message, None, None)
    assert message.data == 0


def test_a_lap_of_a_small_oval_counts_for_a_small_car():
    """The oval of a Nigel is 4 m long: 10 wheelbases away is away, and 3 m never are."""
    it, asked, _, _ = made(AutodriveAdapter, AUTODRIVE_NIGEL, vehicle=load_vehicle("nigel"))
    fill, message = it.fillers()[Content.LAP_COUNT], SimpleNamespace(data=None)
    for at_ms, x_m, y_m in ((0, 0.0, 0.0), (10, 1.5, 0.5), (20, -0.5, 0.5), (30, 0.1, 0.0)):
        asked.now = truth(x_m, y_m)
        it.step(None, True, at_ms * MS)
    assert fill(None, message, None, None)
    assert message.data == 1


def test_lights_are_the_lights_of_the_claims():
    it, _, mux, say = made(AutodriveAdapter, AUTODRIVE_NIGEL)
    say(Content.HEADLIGHTS, data(2))
    say(Content.INDICATORS, data(1))
    assert it.lights == 0b0110
    say(Content.INDICATORS, data(3))
    assert it.lights == 0b1110
    say(Content.INDICATORS, data(4))
    say(Content.HEADLIGHTS, data(-1))
    assert it.lights == 0b1110
    assert mux.sources["script"].refused == 2


def test_collisions_are_those_of_the_virtual_car():
    it, asked, _, _ = made(AutodriveAdapter, AUTODRIVE_ROBORACER)
    fill, message = it.fillers()[Content.COLLISIONS], SimpleNamespace(data=None)
    assert fill(None, message, None, None)
    assert message.data == 3
    asked.now = None
    assert fill(None, message, None, None) is False
