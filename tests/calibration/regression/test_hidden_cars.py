"""``tandem calibrate``: cars whose numbers are hidden, driven and found by the real commands."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from calibration.files.calibration_file import read_calibration
from calibration.logs import ros_bag
from calibration.logs.trace import Series
from calibration.logs.trace_reader import LogChoices, read_trace
from calibration.regression.imu_mounting import estimate_imu_yaw
from calibration.regression.steering import estimate_steering
from calibration.vehicles.virtual_car import calibrated
from host_bridge.cli import main as cli
from host_bridge.config import load_vehicle
from tests.calibration.hidden import HiddenCar
from tests.support.evidence import some

VESC = HiddenCar("f1tenth_vesc", 0.95, 0.08, 0.9, 0.95, 0.03, 0.08, 0.85, 1.3)
CARS = [
    HiddenCar("f1tenth", 1.06, -0.05, 1.05, 0.92, 0.06, 0.04, 1.1, 1.2),
    VESC,
    HiddenCar("nigel", 1.03, 0.2, 0.8, 0.7, 0.09, 0.05, 0.8, 2.0),
]
# Half of an interval that is of use: of the value, or in its own unit
USEFUL_SHARE = {"counts_per_m": 0.02, "steer_gain_left": 0.03, "steer_gain_right": 0.03}
USEFUL = {"steer_trim_rad": 0.004, "steer_delay_s": 0.02, "steer_lag_s": 0.03}


def found_rows(capsys, *words) -> dict:
    capsys.readouterr()
    assert cli.main(["calibrate", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)["parameters"]


@pytest.mark.fit
@pytest.mark.parametrize("hidden", some(CARS), ids=lambda car: car.vehicle)
def test_what_is_hidden_is_found_within_its_intervals(hidden, driven, tmp_path, capsys):
    log, seen = driven(hidden)
    out = tmp_path / "found.toml"
    rows = found_rows(capsys, log, "--places", seen, "--out", out, "--date", "2026-05-01")
    missed = [
        f"{name}: {value:.5g} is not in {rows[name]}"
        for name, value in hidden.truth().items()
        if not (rows[name]["is_told"] and rows[name]["low"] <= value <= rows[name]["high"])
    ]
    assert not missed
    most = {name: share * abs(rows[name]["value"]) for name, share in USEFUL_SHARE.items()}
    wide = [
        name
        for name, half in {**most, **USEFUL}.items()
        if rows[name]["high"] - rows[name]["low"] > 2 * half
    ]
    assert not wide
    found = read_calibration(out)
    assert (found.vehicle, found.date) == (hidden.vehicle, "2026-05-01")
    assert found.data[0].file == log.name


@pytest.mark.fit
def test_a_sensor_that_is_turned_is_found_turned(driven):
    """Its accelerations are turned in the log, by 0.12 rad to the left."""
    trace = traced(driven(VESC)[0])
    yaw, ax, ay = trace.inertial.values
    c, s = np.cos(0.12), np.sin(0.12)
    turned = Series(trace.inertial.t_s, np.array([yaw, c * ax + s * ay, c * ay - s * ax]))
    for inertial, true in ((trace.inertial, 0.0), (turned, -0.12)):
        found = estimate_imu_yaw([replace(trace, inertial=inertial)])
        assert found.low <= true <= found.high
        assert found.high - found.low < 0.03


@pytest.mark.fit
@pytest.mark.parametrize("hidden", some(CARS), ids=lambda car: car.vehicle)
def test_free_play_is_found_and_called_a_lack_of_fit(hidden, driven):
    """The commands of the log are moved from where they come: as if the wheels stayed short."""
    trace = traced(driven(hidden)[0])
    command = trace.steering.values[0]
    side = np.sign(np.diff(command, prepend=0.0))
    held = np.flatnonzero(side)
    came = side[held[np.maximum(np.searchsorted(held, np.arange(len(side)), "right") - 1, 0)]]
    for play_rad in (0.0, 0.02):
        moved = Series(trace.steering.t_s, np.array([command + play_rad * came]))
        found, _ = estimate_steering([replace(trace, steering=moved)], load_vehicle(hidden.vehicle))
        (play,) = [one for one in found if one.name == "steer_play_rad"]
        # at the wheels, which turn by less than is commanded
        assert play.value == pytest.approx(0.85 * play_rad, abs=0.005)
        assert ("LACK OF FIT" in play.why) == (play_rad > 0.0)


def traced(log):
    return read_trace(log, LogChoices(), load_vehicle)


@pytest.mark.fit
def test_a_log_without_a_metre_says_so_and_names_the_manoeuvre(driven, capsys):
    log, _ = driven(VESC)
    row = found_rows(capsys, log)["counts_per_m"]
    assert not row["is_told"]
    assert "value" not in row
    assert "knows a metre of floor" in row["why"]
    assert "tape" in row["manoeuvre"]
    assert cli.main(["calibrate", str(log)]) == 0
    shown = capsys.readouterr().out
    assert "not told: stays as the vehicle file has it" in shown
    assert "to tell: roll 5 m or more straight ahead" in shown


@pytest.mark.fit
def test_the_rows_as_csv_and_the_bag_of_a_log_tell_the_same_steering(driven, tmp_path, capsys):
    log, _ = driven(VESC)
    own = found_rows(capsys, log)
    assert cli.main(["log", str(log), "--csv", str(tmp_path / "csv")]) == 0
    assert cli.main(["log", str(log), "--ros", str(tmp_path / "bag.mcap")]) == 0
    table = found_rows(capsys, tmp_path / "csv", "--vehicle", VESC.vehicle)
    bag = found_rows(capsys, tmp_path / "bag.mcap", "--vehicle", VESC.vehicle)
    for name in ("steer_trim_rad", "steer_gain_left", "steer_delay_s", "full_effort_mps"):
        assert table[name]["value"] == pytest.approx(own[name]["value"], rel=0.02)
    # its commands are those of the host, before the board's own limits
    assert bag["steer_trim_rad"]["value"] == pytest.approx(own["steer_trim_rad"]["value"], abs=3e-3)
    assert bag["steer_gain_left"]["value"] == pytest.approx(
        own["steer_gain_left"]["value"], rel=0.06
    )


@pytest.mark.fit
def test_a_vehicle_file_vesc_yaml_and_twin_come_of_it(driven, tmp_path, capsys):
    log, seen = driven(VESC)
    truth = VESC.truth()
    files = {name: tmp_path / name for name in ("my_car.toml", "vesc.yaml", "found.toml")}
    found_rows(
        capsys, log, "--places", seen,
        "--vehicle-file", files["my_car.toml"], "--vesc-yaml", files["vesc.yaml"],
        "--out", files["found.toml"],
    )  # fmt: skip
    car = load_vehicle(str(files["my_car.toml"]))
    file = load_vehicle(VESC.vehicle)
    assert 1e9 / car.parameters["nm_per_count"][0] == pytest.approx(
        truth["counts_per_m"], rel=0.005
    )
    # what the board puts out to drive straight is what the hidden car needs for it
    straight_ns = np.interp(truth["steer_trim_rad"], *np.array(file.channels[0]["curve"]).T)
    assert car.parameters["channel_neutral"][0] == pytest.approx(straight_ns, abs=2_000)
    lines = [line.strip() for line in files["vesc.yaml"].read_text().splitlines()]
    pairs = [line.split(": ") for line in lines if ": " in line and not line.startswith("#")]
    yaml = {name: float(value.split("#")[0]) for name, value in pairs}
    assert yaml["speed_to_erpm_gain"] == pytest.approx(10 * truth["counts_per_m"], rel=0.005)
    servo = yaml["steering_angle_to_servo_offset"]
    assert 1_000_000 * (1.0 + servo) == pytest.approx(straight_ns, abs=4_000)
    assert yaml["steering_angle_to_servo_gain"] == pytest.approx(-0.6 / 0.925, rel=0.04)
    twin = calibrated(file, str(files["found.toml"]))
    assert twin.plant["servo"]["dead_time_s"] == pytest.approx(VESC.delay_s, abs=0.01)
    assert twin.channels[0]["curve"] != file.channels[0]["curve"]


@pytest.mark.fit
def test_what_a_calibration_has_for_the_board_is_written_kept_and_taken_back(
    driven, tmp_path, capsys
):
    log, seen = driven(VESC)
    out = tmp_path / "found.toml"
    found_rows(capsys, log, "--places", seen, "--out", out)
    write = ["config", "write", f"sim://{VESC.vehicle}", "--calibration"]
    assert cli.main([*write, str(out), "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    names = {value["parameter"] for value in row["values"]}
    assert {"nm_per_count", "full_effort_mm_s", "channel_neutral 0", "channel_curve 0"} <= names
    assert row["changed"] >= 10
    assert cli.main([*write, "none"]) == 0
    assert "it is as its vehicle file has it" in capsys.readouterr().out
    assert cli.main([*write, "/nowhere/found.toml"]) == 5
    assert cli.main([*write, str(out), "--name", "red"]) == 2


def table_in(folder, column="", cell=""):
    """Ten seconds at 1 m/s as a table, with a column more if one is named."""
    table = folder / "drive.csv"
    rows = (f"{i / 50},{i / 50}{cell}" for i in range(500))
    table.write_text(f"t_s,travel_m{column}\n" + "\n".join(rows) + "\n")
    return table


REFUSED = [
    ([], "does not say what car it is of", 2),
    (["--vehicle", "f1tenth", "--tape", "far"], "expected a number", 2),
    (["--vehicle", "f1tenth", "--vesc-yaml", "v.yaml"], "has no VESC", 2),
]


@pytest.mark.parametrize(("words", "said", "code"), some(REFUSED))
def test_what_cannot_be_meant_is_refused(words, said, code, tmp_path, capsys):
    table = table_in(tmp_path)
    assert cli.main(["calibrate", str(table), *words]) == code
    assert said in capsys.readouterr().err


def test_a_table_that_tells_nothing_says_so_and_what_is_no_table_is_refused(tmp_path, capsys):
    table = table_in(tmp_path)
    assert cli.main(["calibrate", str(table), "--vehicle", "f1tenth"]) == 1
    assert "no gyro" in capsys.readouterr().out
    table.write_text("time,speed\n0,1\n1,1\n")
    assert cli.main(["calibrate", str(table), "--vehicle", "f1tenth"]) == 7
    assert "--columns t_s=NAME says which one" in capsys.readouterr().err


def test_columns_that_mean_nothing_are_told(tmp_path, capsys):
    table = table_in(tmp_path, ",ticks", ",7")
    assert cli.main(["calibrate", str(table), "--vehicle", "f1tenth"]) == 1
    assert "of no meaning here: ticks" in capsys.readouterr().out


def test_a_bag_whose_duty_is_left_out_has_no_effort(monkeypatch, tmp_path):
    """Of an ESC's car, whose state has the wheels' turns only."""
    motor = [(i / 50, 4610.0, 0.0, 0.0) for i in range(100)]
    bag = SimpleNamespace(
        commands=[],
        shares=[],
        odometry=[],
        motor=motor,
        speeds=[],
        wheels=[],
        inertial=[],
        places=[],
        notes=[],
        topics={},
        sha256="",
    )
    monkeypatch.setattr(ros_bag, "read_bag", lambda *_: bag)
    vehicle = load_vehicle("f1tenth")
    assert not ros_bag.read_trace_bag(tmp_path / "run.bag", vehicle, {}).effort.is_present
    bag.motor = [(*row[:2], 0.1, 0.0) for row in motor]
    assert ros_bag.read_trace_bag(tmp_path / "run.bag", vehicle, {}).effort.is_present


@pytest.mark.fit
def test_replay_says_that_the_car_of_a_log_was_another_and_takes_no_calibration_of_logs(
    driven, tmp_path, capsys
):
    nigel = CARS[-1]
    log, _ = driven(nigel)
    assert cli.main(["replay", str(log)]) == 0
    assert "a twin is off by what that changed" in capsys.readouterr().err
    found = nigel.write(tmp_path / "found.toml")
    assert cli.main(["replay", str(log), "--calibration", str(found)]) == 2
    assert "one that tandem replay --fit wrote" in capsys.readouterr().err
