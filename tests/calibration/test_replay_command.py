"""``tandem replay``: what it prints, writes and draws, and what it refuses."""

import json

import pytest

from calibration.results import Calibration, read, written
from host_bridge import cli
from host_bridge.errors import UsageFault, VehicleFileFault
from tests.calibration.drives import TRUTH, made_run, write_run
from tests.calibration.test_results import ESTIMATES, SOURCE


@pytest.fixture
def files(tmp_path):
    """The options of one made run, as words."""
    paths = write_run(made_run(0.35, TRUTH, 5, 0.005), tmp_path, "made")
    return ["--commands", str(paths[0]), "--against", str(paths[1])]


@pytest.fixture
def truth_toml(tmp_path):
    """A calibration with the numbers that made the run."""
    estimates = tuple(
        type(one)(one.name, TRUTH[one.name], 0.0, 0.0, 0.0, is_fitted=True) for one in ESTIMATES
    )
    path = tmp_path / "truth.toml"
    path.write_text(written(Calibration("nigel", "2026-05-01", "", (SOURCE,), estimates)))
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
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_people_get_the_numbers_and_the_errors_over_time(files, truth_toml, capsys):
    assert cli.main(["replay", *files, "--calibration", str(truth_toml)]) == 0
    shown = capsys.readouterr().out
    assert "steer_trim_norm" in shown
    assert "twin is off" in shown
    assert shown.count("\n") < 45


def test_without_a_calibration_the_vehicle_file_speaks(files, capsys):
    assert cli.main(["replay", *files, "--calibration", "none"]) == 0
    assert "numbers of the vehicle file" in capsys.readouterr().out


def test_a_fit_is_written_with_its_birth_certificate_and_is_used(tmp_path, capsys):
    runs = [made_run(steer, TRUTH, seed, 0.005) for seed, steer in enumerate((0.15, 0.35))]
    pairs = [write_run(run, tmp_path, f"run_{i}") for i, run in enumerate(runs)]
    fitted = tmp_path / "fitted.toml"
    words = ["--commands", *(str(pair[0]) for pair in pairs)]
    words += ["--against", *(str(pair[1]) for pair in pairs)]
    words += ["--fit", str(fitted), "--date", "2026-05-01", "--json"]
    assert cli.main(["replay", *words]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert all(row["was_fitted_on"] and row["twin"]["position_rms_m"] < 0.01 for row in rows)
    kept = read(fitted)
    assert kept.date == "2026-05-01"
    assert str(tmp_path) not in fitted.read_text()
    assert "--against run_0_odometry.csv run_1_odometry.csv --fit fitted.toml" in kept.command
    assert kept.values["steer_trim_norm"] == pytest.approx(0.15, abs=0.005)


MISUSES = {
    "a file without its partner": ["--commands", "a.csv", "b.csv", "--against", "c.csv"],
    "a fit without a date": ["--commands", "a.csv", "--against", "b.csv", "--fit", "f.toml"],
    "a date without a fit": ["--commands", "a", "--against", "b", "--date", "2026-05-01"],
    "a fit of a calibration": [
        *("--commands", "a", "--against", "b", "--calibration", "c"),
        *("--fit", "f.toml", "--date", "2026-05-01"),
    ],
    "a picture of two": ["--commands", "a", "b", "--against", "c", "d", "--out", "e.png"],
}


@pytest.mark.parametrize("words", MISUSES.values(), ids=MISUSES)
def test_what_cannot_be_meant_is_refused_before_any_file_is_read(words, capsys):
    assert cli.main(["replay", *words]) == UsageFault.exit_code
    assert "expected" in capsys.readouterr().err


def test_the_calibration_of_another_car_is_refused(files, tmp_path, capsys):
    path = tmp_path / "other.toml"
    path.write_text(written(Calibration("f1tenth", "2026-05-01", "", (SOURCE,), ESTIMATES)))
    words = [*files, "--calibration", str(path)]
    assert cli.main(["replay", *words]) == VehicleFileFault.exit_code
    assert "another type of car" in capsys.readouterr().err
