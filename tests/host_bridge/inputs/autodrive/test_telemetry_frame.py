"""A frame has every key of every build, and what the car knows of them is right."""

import base64
import gzip
import io
import json
from math import pi, tau
from types import SimpleNamespace

import pytest
from PIL import Image

from host_bridge.core import CarMotion
from host_bridge.core.laps import Laps
from host_bridge.inputs.autodrive import make_frame
from host_bridge.inputs.autodrive.telemetry_frame import ExtraTelemetry
from host_bridge.logs.sensor_lines import TruePose
from sim_mock.autodrive.cars import simulated_car
from sim_mock.autodrive.command import ScriptCommand
from sim_mock.autodrive.telemetry import read_telemetry
from tests.host_bridge.drive.drives import Drive, Rig, vehicle
from tests.sim_mock.autodrive.unity import READS, Unity
from tests.support.evidence import every

NIGEL = simulated_car("nigel")
MOTION = CarMotion(0, 1920, -960, 0.0, 1.5, -2.0, -pi / 2, 0.25, 0.5, -0.125)


def car(**known):
    return SimpleNamespace(**{"status": None, "motion": None, "vehicle": vehicle("nigel"), **known})


def keys_of_the_simulator(name):
    unity = Unity(name)
    for _ in range(5):
        unity.emit()
    return set(json.loads(unity.emit()[2:])[1])


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("known", [{}, {"motion": MOTION}])
def test_no_key_of_any_scene_is_missing_and_all_are_strings(name, known):
    frame = make_frame(car(**known), NIGEL)
    assert keys_of_the_simulator(name) <= set(frame)
    assert every(isinstance(text, str) for text in frame.values())


def test_what_is_not_there_is_empty_and_can_be_unpacked():
    frame = make_frame(car(), NIGEL)
    assert gzip.decompress(base64.b64decode(frame["V1 LIDAR Range Array"])) == b""
    for side in ("Front", "Rear", "Left", "Right"):
        picture = Image.open(io.BytesIO(base64.b64decode(frame[f"V1 {side} Camera Image"])))
        assert picture.size == (192, 108)
        assert picture.convert("L").getextrema() == (0, 0)


def test_counts_become_the_wheels_turns_and_the_simulators_ticks():
    told = read_telemetry(make_frame(car(motion=MOTION), NIGEL))
    assert told.wheels_rad == pytest.approx((tau, -pi), abs=1e-3)
    assert told.ticks == pytest.approx((1920, -960), abs=1)


def test_the_pose_is_that_of_dead_reckoning_and_euler_angles_are_positive():
    told = read_telemetry(make_frame(car(motion=MOTION), NIGEL))
    assert told.position_m == (1.5, -2.0, 0.0)
    assert told.euler_rad == pytest.approx((0.0, 0.0, 1.5 * pi), abs=1e-4)
    assert told.yaw_rad() == pytest.approx(-pi / 2, abs=1e-3)
    assert (told.turning_radps, told.accel_mps2) == ((0.0, 0.0, 0.25), (0.5, -0.125, 0.0))


def test_what_a_virtual_car_has_besides_is_in_its_keys():
    laps = Laps(0.0, 0.0, 0.0)
    first = read_telemetry(make_frame(car(motion=MOTION), NIGEL, ExtraTelemetry(laps=laps)))
    assert (first.lap_count, first.last_lap_time_s) == ((0.0,), (1e6,)), "none yet, as there"
    assert first.best_lap_time_s == (1e6,)
    laps.count, laps.time_s, laps.last_s, laps.best_s = 3, 1.5, 12.5, 11.25
    extra = ExtraTelemetry("", TruePose(1.0, 2.0, 0.5, 0.0, 0.0, 0.0), laps, hits=2, zero=(1920, 0))
    told = read_telemetry(make_frame(car(motion=MOTION), NIGEL, extra))
    assert told.position_m == (1.0, 2.0, 0.0)
    assert told.yaw_rad() == pytest.approx(0.5, abs=1e-3)
    assert (told.lap_count, told.lap_time_s) == ((3.0,), (1.5,))
    assert (told.last_lap_time_s, told.best_lap_time_s) == ((12.5,), (11.25,))
    assert told.collisions == (2.0,)
    assert told.wheels_rad == pytest.approx((0.0, -pi), abs=1e-3)


def test_what_a_script_asked_for_is_echoed_as_the_simulator_does():
    command = ScriptCommand(0.7, 0.1, 0.25, 0.5, signals={"TL2 State": "3"})
    frame = make_frame(car(), NIGEL, ExtraTelemetry(command=command))
    told = read_telemetry(frame)
    assert (told.throttle, told.brake, told.handbrake) == ((0.7,), (0.25,), (0.5,))
    assert [frame[f"TL{i} State"] for i in range(1, 5)] == ["0", "3", "0", "0"]


def test_a_car_that_drives_says_how_fast_and_where_it_steers():
    drive = Drive(Rig("nigel", of=vehicle("nigel")))
    drive.arm()
    drive.go(0.3, 0.2)
    drive.advance(2.0)
    told = read_telemetry(make_frame(drive.rigs[0].car, NIGEL))
    assert told.speed_mps == pytest.approx((0.3,), abs=0.02)
    assert told.velocity_mps[0] == pytest.approx(0.3, abs=0.02)
    assert told.steer_rad == pytest.approx((0.2,), abs=0.01)
    assert told.ticks[1] > told.ticks[0] > 1000
