"""How a Devkit script drives: its throttle as the simulator means it, its scans, its source."""

import json

import pytest
import tandem

from host_bridge.cli import main
from host_bridge.config import load_vehicle
from host_bridge.domain import Observed, SeenCar
from host_bridge.errors import DataFileFault
from host_bridge.interfaces.autodrive import make
from host_bridge.interfaces.autodrive.exchange import Exchange
from sim_mock.autodrive.values import packed, ranges_m
from sim_mock.autodrive.wire import write_bridge
from sim_mock.models.autodrive.cars import NIGEL
from tests.host_bridge.inputs import seating

THROTTLES = (0.05, 0.3, 1.0)


def script_of(name, **options):
    script = make("127.0.0.1:4567", options, lambda: 0)
    script.prepare(seating([load_vehicle(name)]))
    script.exchange = Exchange(0)
    return script


def wished(script, throttle):
    """The speed that its answer asks for, in m/s."""
    keys = {"V1 Throttle": str(throttle), "V1 Steering": "0"}
    script.exchange.take(write_bridge(keys), 0)
    car = SeenCar("car", True, load_vehicle("nigel"), None, None, None, None)
    return script.step(0, Observed((car,), is_driving=True, is_permitted=True)).speed_mps


def test_a_quick_script_drives_as_any_program_and_others_by_their_longer_lease():
    assert script_of("nigel", quick="1").source == "script"
    assert script_of("nigel").source == "devkit"


def test_a_nigel_drives_each_throttle_at_the_simulators_speed():
    """Within 10 %, from 0.05 to 1, by the car's own program; there throttle is a part of the top
    speed (sim_mock/models/autodrive, tests/sim_mock/autodrive/unity.py)."""
    script = script_of("nigel", quick="1")
    for throttle in THROTTLES:
        with tandem.open("sim://nigel", lockstep=True) as car:
            car.arm()
            begun_m = None
            for t_s in car.ticks(5.0):
                car.drive(wished(script, throttle), 0.0)
                if begun_m is None and t_s >= 2.0:
                    begun_s, begun_m = t_s, car.pose[0]
            speed_mps = (car.pose[0] - begun_m) / (t_s - begun_s)
        assert speed_mps == pytest.approx(throttle * NIGEL.speed_max_mps, rel=0.1), throttle


def test_what_is_cut_is_said_and_fit_uses_all_of_the_throttle():
    cut = script_of("f1tenth")
    assert wished(cut, 0.5) == wished(cut, 0.05) == 0.3
    assert "A throttle above 0.013 is cut" in cut.words(0)
    fit = script_of("f1tenth", scale="fit")
    assert [wished(fit, t) for t in (0.5, 1.0)] == pytest.approx([0.15, 0.3])
    assert "is cut" not in fit.words(0)
    scaled = script_of("f1tenth", scale="0.1", quick="1")
    assert wished(scaled, 0.5) == pytest.approx(0.05 * 22.88)


def test_scans_are_packed_as_the_simulator_packs_them_and_the_pose_is_the_true_one(tmp_path):
    file = tmp_path / "run.jsonl"
    file.write_text("")
    script = script_of("f1tenth", lidar=str(file))
    truth = {"x_m": 1.5, "y_m": -2.0, "yaw_rad": 0.5, "vx_mps": 0.0, "vy_mps": 0.0}
    scan = {"first_rad": -2.0, "step_rad": 0.5, "ranges_m": [1.0, None, 2.5]}
    rows = [
        {"sensor": "truth", "time_s": 1.0, "truth": {**truth, "yaw_rate_radps": 0.0}},
        {"sensor": "lidar", "time_s": 1.0, "taken_s": 1.0, **scan},
    ]
    with file.open("a") as lines:
        lines.write("".join(json.dumps(row) + "\n" for row in rows))
    car = SeenCar("car", True, load_vehicle("f1tenth"), None, None, None, None)
    script.step(1_000_000, Observed((car,), is_driving=False, is_permitted=True))
    frame = script._frame()
    assert ranges_m(frame["V1 LIDAR Range Array"]) == (1.0, float("inf"), 2.5)
    assert frame["V1 Position"] == "1.5000 -2.0000 0.0000"
    assert frame["V1 LIDAR Scan Rate"] == "40.0000"
    assert script._frame()["V1 LIDAR Range Array"] == frame["V1 LIDAR Range Array"], (
        "until the next"
    )


def test_scans_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(DataFileFault, match="cannot be read"):
        script_of("f1tenth", lidar=str(tmp_path / "none.jsonl"))


def test_ranges_survive_their_packing():
    assert ranges_m(packed([0.06, None, 9.99])) == (0.06, float("inf"), 9.99)


@pytest.mark.parametrize("scale", ["0", "2", "much"])
def test_a_scale_that_is_none_is_refused(scale, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["devkit", "--car", "sim://nigel", "--scale", scale])
    assert ended.value.code == 2
    assert "--scale" in capsys.readouterr().err
