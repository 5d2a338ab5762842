"""``tandem replay``: what it prints, writes and draws, and what it refuses."""

import json

import numpy as np
import pytest

from calibration.files.calibration_file import read_calibration
from calibration.files.calibration_text import calibration_text
from host_bridge.cli import main as cli
from host_bridge.core.errors import DataFileFault, UsageFault, VehicleFileFault
from tests.calibration.drives import NIGEL, TRUTH, made_run, write_run
from tests.calibration.test_fit_file import ESTIMATES, calibration_of
from tests.host_bridge.logs.made_bags import (
    ACKERMANN,
    KINDS,
    ODOMETRY,
    START_NS,
    drive,
    odom,
    write,
)
from tests.support.evidence import every

EACH = ("x_m", "y_m", "yaw_rad", "speed_mps", "yaw_rate_radps")
COLUMNS = ("t_s", "is_steering", "value_norm")


@pytest.fixture
def files(tmp_path):
    """The options of one made run, as words."""
    paths = write_run(made_run(0.35, TRUTH, 5, 0.005), tmp_path, "made")
    return ["--commands", str(paths[0]), "--against", str(paths[1])]


@pytest.fixture
def truth_toml(tmp_path):
    """A calibration with the numbers that made the run."""
    estimates = tuple(
        type(one)(one.name, TRUTH[one.name], 0.0, 0.0, known=0.0) for one in ESTIMATES
    )
    path = tmp_path / "truth.toml"
    tight = 1e-6 * np.eye(len(estimates))
    path.write_text(calibration_text(calibration_of(estimates, covariance=tight)))
    return path


def test_the_right_numbers_follow_the_run_and_the_published_ones_do_not(
    files, truth_toml, tmp_path, capsys
):
    picture = tmp_path / "made.png"
    words = [*files, "--calibration", str(truth_toml), "--json", "--out", str(picture)]
    assert cli.main(["replay", *words]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["twin"]["position_rms_m"] < 0.01
    assert row["twin"]["yaw_rms_rad"] < 0.01
    assert row["untuned"]["position_rms_m"] > 0.3
    assert len(row["t_s"]) == len(row["twin"]["position_error_m"])
    assert not row["was_fitted_on"]
    assert every(row["band"]["is_inside"])
    assert row["band"]["is_extrapolated"][-1]  # 0.35, and fitted on up to 0.3
    assert row["band"]["position_m"][-1] < 0.2
    assert row["twin"]["hausdorff_m"] < 0.02 < row["untuned"]["hausdorff_m"]
    assert row["twin"]["error_percent_of_way"] < 1.5
    for model in ("car", "twin", "untuned"):
        assert {len(row[model][name]) for name in EACH} == {len(row["t_s"])}
    driven = [v for v in row["car"]["speed_mps"] if v > 0.3]
    assert np.mean(driven) == pytest.approx(TRUTH["full_effort_mps"], rel=0.05)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_people_get_the_numbers_and_the_errors_over_time(files, truth_toml, capsys):
    assert cli.main(["replay", *files, "--calibration", str(truth_toml)]) == 0
    shown = capsys.readouterr().out
    assert "steer_trim_norm" in shown
    assert "twin is off" in shown
    assert "(Hausdorff)" in shown
    assert "the car is inside all the way" in shown
    assert "EXTRAPOLATED from" in shown
    assert "fitted on one run: by how much the next one differs is assumed, not measured" in shown
    assert shown.count("\n") < 50


def test_without_a_calibration_the_vehicle_file_speaks(files, capsys):
    assert cli.main(["replay", *files, "--calibration", "none"]) == 0
    assert "numbers of the vehicle file" in capsys.readouterr().out


@pytest.mark.fit
def test_a_fit_is_written_with_its_birth_certificate_and_is_used(tmp_path, capsys):
    runs = [made_run(steer, TRUTH, seed, 0.005) for seed, steer in enumerate((0.15, 0.35))]
    pairs = [write_run(run, tmp_path, f"run_{i}") for i, run in enumerate(runs)]
    fitted = tmp_path / "fitted.toml"
    words = ["--commands", *(str(pair[0]) for pair in pairs)]
    words += ["--against", *(str(pair[1]) for pair in pairs)]
    words += ["--fit", str(fitted), "--date", "2026-05-01", "--json"]
    assert cli.main(["replay", *words]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert every(row["was_fitted_on"] and row["twin"]["position_rms_m"] < 0.01 for row in rows)
    kept = read_calibration(fitted)
    assert kept.date == "2026-05-01"
    assert str(tmp_path) not in fitted.read_text()
    assert "--against run_0_odometry.csv run_1_odometry.csv --fit fitted.toml" in kept.command
    assert kept.values["steer_trim_norm"] == pytest.approx(0.15, abs=0.005)


@pytest.mark.fit
def test_each_run_is_predicted_by_a_fit_on_the_others(tmp_path, capsys):
    steering = (0.15, 0.35, -0.05)
    runs = [made_run(steer, TRUTH, seed, 0.005) for seed, steer in enumerate(steering)]
    pairs = [write_run(run, tmp_path, f"run_{i}") for i, run in enumerate(runs)]
    words = ["replay", "--leave-one-out", "--commands", *(str(pair[0]) for pair in pairs)]
    assert cli.main([*words, "--against", *(str(pair[1]) for pair in pairs)]) == 0
    shown = capsys.readouterr().out
    assert "predicted by a fit on run_1_commands.csv, run_2_commands.csv" in shown
    assert shown.count("the car is inside all the way") == 3
    assert shown.count("lack of fit: none seen") == 3
    assert shown.count("EXTRAPOLATED") == 2  # the middle one lies between the others


@pytest.mark.fit
@pytest.mark.parametrize("kind", KINDS)
def test_a_bag_is_as_good_as_the_two_files(kind, files, truth_toml, tmp_path, capsys):
    run = made_run(0.35, TRUTH, 5, 0.005)
    bag = write(tmp_path, kind, as_rows(run))
    words = ["replay", "--calibration", str(truth_toml), "--json"]
    assert cli.main([*words, *files]) == 0
    (by_files,) = json.loads(capsys.readouterr().out)
    assert cli.main([*words, "--bag", str(bag)]) == 0
    (by_bag,) = json.loads(capsys.readouterr().out)
    assert by_bag["twin"]["position_rms_m"] < 0.01
    assert by_bag["twin"]["position_rms_m"] == pytest.approx(
        by_files["twin"]["position_rms_m"], abs=0.001
    )
    assert by_bag["odometry"] == bag.name


@pytest.mark.fit
def test_a_fit_on_a_bag_says_so_in_its_birth_certificate(tmp_path, capsys):
    bag = write(tmp_path, ".mcap", as_rows(made_run(0.35, TRUTH, 5, 0.005)))
    fitted = tmp_path / "fitted.toml"
    words = ["--bag", str(bag), "--odom-topic", "/odom", "--fit", str(fitted)]
    assert cli.main(["replay", *words, "--date", "2026-05-01", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["was_fitted_on"]
    assert f"--bag {bag.name} --odom-topic /odom --fit" in read_calibration(fitted).command


def test_a_bag_in_which_nobody_drives_is_refused(tmp_path, capsys):
    rows = [(START_NS, "/drive", ACKERMANN, drive(0.0, 0.1))]
    rows += [(START_NS, "/odom", ODOMETRY, odom(0.0, 0.0, 0.0, START_NS))]
    bag = write(tmp_path, ".mcap", rows)
    assert cli.main(["replay", "--bag", str(bag)]) == DataFileFault.exit_code
    assert "nobody drives" in capsys.readouterr().err


def as_rows(run):
    """The run as a bag has it: speed and angle together, poses with their stamps."""
    newest = {True: 0.0, False: 0.0}
    rows = []
    for t_s, is_steering, value in zip(*[getattr(run.commands, it) for it in COLUMNS], strict=True):
        newest[bool(is_steering)] = float(value)
        if is_steering:
            continue  # one message for each pair
        wanted = newest[False] * NIGEL.speed_max_mps, newest[True] * NIGEL.steer_max_rad
        rows.append((START_NS + round(t_s * 1e9), "/drive", ACKERMANN, drive(*wanted)))
    o = run.odometry
    for t_s, *pose in zip(o.t_s, o.x_m, o.y_m, o.yaw_rad, strict=True):
        time_ns = START_NS + round(t_s * 1e9)
        rows.append((time_ns, "/odom", ODOMETRY, odom(*pose, time_ns)))
    return sorted(rows, key=lambda row: row[0])


MISUSES = {
    "a file without its partner": ["--commands", "a.csv", "b.csv", "--against", "c.csv"],
    "a fit without a date": ["--commands", "a.csv", "--against", "b.csv", "--fit", "f.toml"],
    "a date without a fit": ["--commands", "a", "--against", "b", "--date", "2026-05-01"],
    "a fit of a calibration": [
        *("--commands", "a", "--against", "b", "--calibration", "c"),
        *("--fit", "f.toml", "--date", "2026-05-01"),
    ],
    "no drive at all": [],
    "one run left out of one": ["--commands", "a", "--against", "b", "--leave-one-out"],
    "a calibration that leaves one out": [
        *("--commands", "a", "b", "--against", "c", "d"),
        *("--leave-one-out", "--calibration", "e"),
    ],
    "a picture of two bags": ["--bag", "a.bag", "b.bag", "--out", "e.png"],
    "a picture of two": ["--commands", "a", "b", "--against", "c", "d", "--out", "e.png"],
}


@pytest.mark.parametrize("words", MISUSES.values(), ids=MISUSES)
def test_what_cannot_be_meant_is_refused_before_any_file_is_read(words, capsys):
    assert cli.main(["replay", *words]) == UsageFault.exit_code
    assert "expected" in capsys.readouterr().err


def test_the_calibration_of_another_car_is_refused(files, tmp_path, capsys):
    path = tmp_path / "other.toml"
    path.write_text(calibration_text(calibration_of(ESTIMATES, "f1tenth")))
    words = [*files, "--calibration", str(path)]
    assert cli.main(["replay", *words]) == VehicleFileFault.exit_code
    assert "another vehicle's calibration" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["run.bag", "run.db3", "run"])
def test_a_bag_in_place_of_a_log_is_told_where_it_goes(name, tmp_path, capsys):
    bag = tmp_path / name
    bag.mkdir() if name == "run" else bag.touch()
    assert cli.main(["replay", str(bag)]) == 2
    assert f"remedy: tandem replay --bag {bag}" in capsys.readouterr().err
