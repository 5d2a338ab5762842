"""A lap of a track by commands alone: driven, mapped, localised, and driven again in its map."""

import json

import numpy as np
import pytest

from host_bridge.cli.main import main
from sim_mock.tracks.loading import load_track
from sim_mock.tracks.ros_map import load_grid
from tests.host_bridge.cli.programs import tandem
from tests.host_bridge.mapping.test_mapping import distances_m
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support.evidence import every


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))
    with runtime_folder(monkeypatch) as path:
        yield path


def ran(*words, within_s=300.0, code=0):
    done = tandem(*map(str, words), within_s=within_s)
    assert done.returncode == code, done.stdout[-800:] + done.stderr[-800:]
    return done.stdout


@pytest.mark.process
@pytest.mark.exhaustive  # the LIDAR's rays of a whole lap: half a minute
def test_a_lap_its_map_and_a_lap_in_the_map(tmp_path):
    path, log, lidar = (tmp_path / it for it in ("line.csv", "drive.mcap", "run.jsonl"))
    lab, line = tmp_path / "lab.yaml", tmp_path / "lab.csv"
    ran("path", "centre", "corridor", "-o", path)
    ran("drive", f"sim://f1tenth_vesc?track=corridor&sensors={lidar}&seed=3", "--lockstep",
        "--input", f"path:{path}", "--speed", 2, "--record", log)  # fmt: skip
    figures = json.loads(ran("map", log, "--lidar", lidar, "-o", lab, "--json"))
    assert figures["distance_m"] > 45
    assert_walls_are_true(lab)
    found = json.loads(ran("localise", lab, log, "--lidar", lidar, "--json"))
    assert found["rms_m"] < 0.05
    assert found["rms_deg"] < 2.0
    assert (found["lost"], found["is_found"]) == (0, True)
    ran("path", "centre", lab, "-o", line)
    said = ran("drive", f"sim://f1tenth_vesc?map={lab}&start={json_start(line)}", "--lockstep",
               "--input", f"path:{line}", "--speed", 2)  # fmt: skip
    assert "lap 1" in said


def json_start(line):
    figures = json.loads(ran("path", "show", line, "--json"))
    return ",".join(map(str, figures["start"]))


def assert_walls_are_true(lab):
    grid = load_grid(lab)
    rows, columns = np.nonzero(grid.is_wall)
    corner = np.array((grid.origin.x_m, grid.origin.y_m))
    centres = corner + grid.resolution_m * np.stack((columns + 0.5, rows + 0.5), axis=1)
    assert every(distances_m(centres, load_track("corridor").walls) < 0.1)


def test_a_log_without_scans_says_what_records_them(tmp_path, capsys):
    drive = "drive --car sim://nigel --input script:straight --seconds 2 --lockstep --record"
    assert main([*drive.split(), str(tmp_path / "drive.mcap")]) == 0
    capsys.readouterr()
    assert main(["map", str(tmp_path / "drive.mcap"), "-o", str(tmp_path / "lab.yaml")]) != 0
    assert "--lidar" in capsys.readouterr().err
    assert not (tmp_path / "lab.yaml").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--start", "1,2"], "--start is no pose"),
        (["--start", "here"], "--start is no pose"),
    ],
)
def test_a_start_that_is_none_is_refused(words, said, tmp_path, capsys):
    assert main(["localise", str(tmp_path / "no.yaml"), *words]) == 2
    assert said in capsys.readouterr().err
