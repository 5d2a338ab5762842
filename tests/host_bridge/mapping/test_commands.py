"""A lap of a track by commands alone: driven, mapped, localised, and driven again in its map."""

import json
import os
import signal

import numpy as np
import pytest

from host_bridge.cli.main import main
from host_bridge.mapping.occupancy import FREE, OCCUPIED, UNKNOWN, OccupancyMap, write_map
from sim_mock.tracks.loading import load_track
from sim_mock.tracks.ros_map import load_grid
from tests.host_bridge.cli.programs import program, serving, tandem
from tests.host_bridge.mapping.test_mapping import distances_m
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support import patience
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


@pytest.mark.process(drives=True)
@pytest.mark.exhaustive  # half a lap in wall time
def test_a_car_behind_its_line_follows_a_path_by_a_localiser_beside_it(tmp_path):
    """Odometry, IMU and LIDAR are all that it has; the localiser is a program of its own."""
    path, lidar, poses = tmp_path / "line.csv", tmp_path / "scans", tmp_path / "poses"
    write_map(tmp_path / "lab.yaml", corridor_as_cells())
    ran("path", "centre", "corridor", "-o", path)
    os.mkfifo(lidar)
    os.mkfifo(poses)
    with serving(f"sim://f1tenth_vesc?track=corridor&sensors={lidar}", "car"):
        words = ("localise", str(tmp_path / "lab.yaml"), "--car", "car", "--lidar", str(lidar))
        drive = ("drive", "--car", "car", "--input", f"path:{path}?pose={poses}", "--json")
        with (
            program(*words, "-o", str(poses)) as localiser,
            program(*drive, "--speed", "1.5", "--seconds", "60") as driven,
        ):
            rows = map(json.loads, driven.stdout)
            fast = (row for row in rows if row.get("speed_mps", 0.0) > 1.2)
            for _ in range(40):  # a row comes ten times a second: six metres
                assert next(fast, None), "it is stopped before"
            os.kill(localiser.pid, signal.SIGKILL)
            said, _ = patience.communicate(driven, 30.0)
        summary = json.loads(said.splitlines()[-1])["summary"]
        assert driven.returncode == 1, summary
        assert "The localiser's pose is 0.5" in said
        assert summary["path"]["driven_m"] > 5.0
        assert summary["path"]["cross_track_worst_m"] < 0.15


def corridor_as_cells():
    columns, rows = np.meshgrid(np.arange(420), np.arange(360))
    corner = np.array((-11.0, -3.0))
    centres = corner + 0.05 * (np.stack((columns, rows), axis=-1).reshape(-1, 2) + 0.5)
    track = load_track("corridor")
    cells = np.where([track.is_free(*it) for it in centres], FREE, UNKNOWN)
    cells[distances_m(centres, track.walls) < 0.03] = OCCUPIED
    return OccupancyMap(cells.reshape(360, 420).astype(np.uint8), 0.05, corner)


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
