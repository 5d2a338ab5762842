"""Frames of every vehicle and both generations, whole, in part and damaged."""

import json
import math
import random

import pytest

from host_bridge.config import load_vehicle
from sim_mock.autodrive import wire
from sim_mock.autodrive.plant import ExchangedPlant
from sim_mock.autodrive.telemetry import (
    TelemetryValues,
    marked_texts,
    read_telemetry,
    write_telemetry,
)
from sim_mock.autodrive.transport import plant_in_simulator
from sim_mock.autodrive.values import decimal_mark
from sim_mock.virtual_car.config import virtual_car_config
from tests.sim_mock.autodrive.unity import READS, Unity
from tests.support.evidence import every

ALWAYS = ("throttle", "steer_rad", "ticks", "wheels_rad", "position_m", "quaternion",
          "euler_rad", "turning_radps", "accel_mps2")  # fmt: skip


def plant_of(vehicle="nigel", car=None) -> ExchangedPlant:
    return plant_in_simulator(virtual_car_config(load_vehicle(vehicle), {}), car or vehicle)


def keys_of(unity):
    for _ in range(5):  # until its sensors have ticked
        text = unity.emit()
    return wire.read_bridge(text)


@pytest.mark.parametrize("mark", [".", ","])
@pytest.mark.parametrize("vehicle", READS)
def test_every_vehicle_is_read(vehicle, mark):
    unity = Unity(vehicle, mark)
    unity.throttle, unity.steer, unity.speed = 0.5, 0.2, 1.0
    unity.run(0.01)
    keys = keys_of(unity)
    said = read_telemetry(keys)
    assert every(getattr(said, field) is not None for field in ALWAYS)
    assert said.steer_rad == (0.2,)
    assert (said.velocity_mps is not None) == (vehicle == "roboracer")
    assert (said.speed_mps is not None) == (vehicle != "roboracer")
    assert (said.brake is not None) == (vehicle in ("opencav", "rzr"))
    assert decimal_mark(marked_texts(keys)) == mark


@pytest.mark.parametrize("field", ["Encoder Angles", "Position", "Speed", "LIDAR Range Array"])
def test_a_key_that_is_missing_leaves_the_others(field):
    keys = dict(keys_of(Unity("nigel")))
    whole = read_telemetry(keys)
    del keys[f"V1 {field}"]
    said = read_telemetry(keys)
    same = [name for name in whole.__slots__ if getattr(said, name) == getattr(whole, name)]
    assert len(same) == len(whole.__slots__) - 1


def test_an_empty_frame_says_nothing_and_hurts_nobody():
    said = read_telemetry({})
    assert said.ranges_m() == ()
    assert said.yaw_rad() is None
    plant = plant_of()
    plant.hear(said, 0)
    assert plant.is_lost


def test_yaw_is_the_quaternions_or_else_the_euler_angles():
    half = 0.5 * -2.5
    keys = {"V1 Orientation Quaternion": f"0 0 {math.sin(half):.6f} {math.cos(half):.6f}"}
    assert read_telemetry(keys).yaw_rad() == pytest.approx(-2.5, abs=1e-5)
    assert read_telemetry({"V1 Orientation Euler Angles": "0 0 3.5"}).yaw_rad() == 3.5


def test_speed_without_a_sign_gets_that_of_the_wheels():
    plant = plant_of()
    for at_us, angle in ((10_000, 5.0), (20_000, 4.9)):
        keys = {"V1 Encoder Angles": f"{angle} {angle}", "V1 Speed": "0.3"}
        plant.hear(read_telemetry(keys), at_us)
    assert plant.truth.vx_mps == -0.3


def test_another_vehicle_of_the_scene_is_not_ours():
    assert read_telemetry({"V2 Speed": "3.0"}).speed_mps is None
    assert read_telemetry({"V2 Speed": "3.0"}, "V2").speed_mps == (3.0,)


def test_whatever_the_values_are_nothing_raises():
    rng, plant = random.Random(3), plant_of()
    keys = list(keys_of(Unity("nigel")))
    values = [
        "",
        "inf",
        "nan",
        "-1e308",
        "1 2",
        None,
        5,
        True,
        [],
        {},
        "x" * 50,
        "1,5 2,5 3,5",
        "٣",
    ]
    for i in range(2000):
        text = json.dumps(["Bridge", {key: rng.choice(values) for key in keys}])
        plant.hear(read_telemetry(wire.read_bridge("42" + text)), i * 8000)
        plant.step(0.001, (0,) * 8, True)
        assert every(0 <= count < 1 << 30 for count in plant.counts())


def heard(plant, *angles):
    """A frame each 10 ms."""
    for angle in angles:
        plant.hear(read_telemetry({"V1 Encoder Angles": f"{angle} {angle}"}), plant.now_us)
        shown = [stepped(plant) for _ in range(10)]
    return shown


def stepped(plant):
    plant.step(0.001, (0,) * 8, True)
    return plant.counts()[0]


def test_the_counts_are_played_out_and_stop_at_what_was_heard():
    plant = plant_of()
    heard(plant, 1.0)
    shown = heard(plant, 1.1)  # rad: 0.1 of 1920 / 2 pi counts a radian is 30 counts
    assert shown[0] in (3, 4)
    assert 13 <= shown[4] <= 17
    assert [stepped(plant) for _ in range(40)][-30:] == [30] * 30


def test_a_wheel_that_is_put_elsewhere_has_not_rolled():
    plant = plant_of()
    heard(plant, 1.0, 400.0, 400.1, 0.0)
    assert [stepped(plant) for _ in range(100)][-1] == 30


def test_what_is_written_is_read_again():
    told = TelemetryValues(
        ticks=(1920.0, -7.0), speed_mps=(0.125,), position_m=(1.0, -2.5, 0.0), scan=""
    )
    keys = write_telemetry(told)
    assert keys["V1 Encoder Ticks"] == "1920 -7"
    assert keys["V1 Speed"] == "0.1250"
    assert set(keys) == {f"V1 {key}" for key in ("Encoder Ticks", "Speed", "Position")} | {
        "V1 LIDAR Range Array"
    }
    assert read_telemetry(keys) == told
