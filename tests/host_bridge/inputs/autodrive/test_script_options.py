"""How a Devkit script drives: its throttle as the simulator means it, its scans, its source."""

import json

import pytest
import tandem

from host_bridge.cli.arguments.virtual_pipes import add_virtual_pipes
from host_bridge.cli.main import main
from host_bridge.config import load_vehicle
from host_bridge.core import Observed, SeenCar
from host_bridge.core.errors import DataFileFault
from host_bridge.inputs.autodrive import make
from host_bridge.inputs.autodrive.exchange import ScriptExchange
from sim_mock.autodrive.values import packed, ranges_m
from sim_mock.autodrive.wire import write_bridge
from tests.host_bridge.inputs.made_inputs import context

NIGEL = SeenCar("car", True, load_vehicle("nigel"), None, None, None, None)


def script_of(name, **options):
    script = make("127.0.0.1:4567", options, lambda: 0)
    script.prepare(context([load_vehicle(name)]))
    script.exchange = ScriptExchange(0)
    return script


def commanded(script, throttle):
    """The speed that its answer asks for, in m/s."""
    keys = {"V1 Throttle": str(throttle), "V1 Steering": "0"}
    script.exchange.take(write_bridge(keys), 0)
    return script.step(0, Observed((NIGEL,), is_driving=True, is_permitted=True)).speed_mps


def test_a_quick_script_drives_as_any_program_and_others_by_their_longer_lease():
    assert script_of("nigel", quick="1").source == "script"
    assert script_of("nigel").source == "devkit"


def driven_mps(uri, script, throttle, begin_s=2.0, seconds=4.0):
    """How fast the car drives, by its own program, once it has settled."""
    with tandem.open(uri, lockstep=True) as car:
        car.arm()
        begun_m = None
        for t_s in car.ticks(seconds):
            car.drive(commanded(script, throttle), 0.0)
            if begun_m is None and t_s >= begin_s:
                begun_s, begun_m = t_s, car.pose[0]
        return (car.pose[0] - begun_m) / (t_s - begun_s)


# AutoDRIVE-Nigel-Dataset, throttle_velocity; 0.05 is on its straight beginning
MODELS = ("twin", "autodrive")
NIGEL_MPS = {0.05: 0.01434, 0.2: 0.05685, 0.5: 0.13871, 1.0: 0.26703}


@pytest.mark.exhaustive
@pytest.mark.parametrize("model", ["twin", "autodrive"])
@pytest.mark.parametrize(("throttle", "simulators_mps"), NIGEL_MPS.items())
def test_a_nigel_drives_each_throttle_at_the_simulators_speed(throttle, simulators_mps, model):
    script = script_of("nigel", quick="1")
    speed_mps = driven_mps(f"sim://nigel?model={model}", script, throttle)
    assert speed_mps == pytest.approx(simulators_mps, rel=0.1)


@pytest.mark.exhaustive(as_a_whole=True)  # as the Nigel's, of which one is in make test
@pytest.mark.parametrize(
    ("name", "throttle", "model"),
    [
        *(("f1tenth", throttle, model) for throttle in (0.05, 0.085) for model in MODELS),
        ("f1tenth_vesc", 0.17, "twin"),  # one with a plain ESC may 2 m/s
    ],
)
def test_an_f1tenth_drives_each_throttle_at_that_share_of_22_88_m_per_s(name, throttle, model):
    script = script_of(name, quick="1", like="f1tenth")
    speed_mps = driven_mps(f"sim://{name}?model={model}", script, throttle, 3.5, 5.0)
    assert speed_mps == pytest.approx(throttle * 22.88, rel=0.1)


def test_what_is_cut_is_said_and_fit_uses_all_of_the_throttle():
    cut = script_of("f1tenth")
    assert commanded(cut, 0.5) == commanded(cut, 0.05) == 0.3
    assert "A throttle above 0.013 is cut" in cut.status_text(0)
    fit = script_of("f1tenth", scale="fit")
    assert [commanded(fit, t) for t in (0.5, 1.0)] == pytest.approx([0.15, 0.3])
    assert "is cut" not in fit.status_text(0)
    scaled = script_of("f1tenth", scale="0.1", quick="1")
    assert commanded(scaled, 0.5) == pytest.approx(0.05 * 22.88)


def test_scans_are_packed_as_the_simulator_packs_them_and_the_pose_is_the_true_one(tmp_path):
    file = tmp_path / "run.jsonl"
    file.write_text("")
    script = script_of("f1tenth", sensors=str(file))
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


def test_pipes_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(DataFileFault, match="cannot be read"):
        script_of("f1tenth", sensors=str(tmp_path / "none.jsonl"))


def test_ranges_survive_their_packing():
    assert ranges_m(packed([0.06, None, 9.99])) == (0.06, float("inf"), 9.99)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        *(("--scale", (word,)) for word in ("0", "2", "much")),
        *(("--every", (word,)) for word in ("0", "11", "seldom")),
        ("--every", ("2", "--quick")),
    ],
)
def test_what_is_no_scale_or_no_pace_is_refused(option, words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["devkit", "--car", "sim://nigel", option, *words])
    assert ended.value.code == 2
    assert option in capsys.readouterr().err


def test_only_virtual_cars_of_the_command_get_pipes_of_its_own(tmp_path):
    car, options = add_virtual_pipes("sim://f1tenth?track=oval", {"scale": "1"}, tmp_path)
    assert (
        car == f"sim://f1tenth?track=oval&sensors={tmp_path}/car_sensors&poses={options['poses']}"
    )
    assert options == {
        "scale": "1",
        "sensors": f"{tmp_path}/car_sensors",
        "poses": f"{tmp_path}/car_poses",
    }
    for other in ("serial:///dev/ttyACM0", "car-1", None, "sim://nigel?sensors=mine.jsonl"):
        assert add_virtual_pipes(other, {}, tmp_path) == (other, {})
    assert add_virtual_pipes("sim://nigel", {"sensors": "mine"}, tmp_path) == (
        "sim://nigel",
        {"sensors": "mine"},
    )


@pytest.mark.parametrize(("name", "most_mps"), [("nigel", 0.04), ("f1tenth", 0.2)])
def test_one_that_answers_every_two_seconds_drives_no_farther_blind_than_any(name, most_mps):
    """Each answer counts for 2.5 s, in which it goes stop.blind_m at most."""
    script = script_of(name, every="2")
    assert script.source == "devkit"
    assert commanded(script, 1.0) == pytest.approx(most_mps)
    blind_m = load_vehicle(name).blind_m
    assert 2.5 * commanded(script, 1.0) == pytest.approx(blind_m)
    assert f"{blind_m:g} m at most" in script.status_text(0)


def test_the_boards_lease_ends_with_the_answer_that_counts_for_longer():
    """It is stamped as if it had been heard so late that its lease runs out just then."""
    script = script_of("nigel", every="2")
    lease_us = round(load_vehicle("nigel").source("devkit").lease_s * 1e6)
    script.exchange.take(write_bridge({"V1 Throttle": "1", "V1 Steering": "0"}), 0)
    car = SeenCar("car", True, load_vehicle("nigel"), None, None, None, None)
    ends = []
    for now_us in range(0, 2_600_000, 10_000):
        command = script.step(now_us, Observed((car,), is_driving=True, is_permitted=True))
        if command.heard_us is not None and now_us - command.heard_us < lease_us:
            assert command.heard_us <= now_us
            ends.append(command.heard_us + lease_us)
    assert len(ends) == 250
    assert max(ends) == 2_500_000
    assert script.fresh_answer(2_500_000) is None
