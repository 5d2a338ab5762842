"""A virtual car behind a serial line, its LIDAR a pipe, its localiser a program of its own."""

import json
import os
import signal

import pytest

from host_bridge.mapping.occupancy import write_map
from tests.host_bridge.cli.programs import program, serving, virtual_car
from tests.host_bridge.mapping.test_commands import corridor_as_cells
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support import patience


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))
    with runtime_folder(monkeypatch) as path:
        yield path


@pytest.mark.process(drives=True)
@pytest.mark.smoke
def test_a_car_that_reports_odometry_and_imu_is_driven_by_a_localiser_beside_it(tmp_path):
    """Its line has no more than that. The localiser is killed, and the car stops by the rule."""
    scans, poses = tmp_path / "scans", tmp_path / "poses"
    map_file, line, port = tmp_path / "lab.yaml", tmp_path / "line.csv", tmp_path / "port"
    write_map(map_file, corridor_as_cells())
    line.write_text("x_m,y_m\n0,0\n7,0\n")
    os.mkfifo(scans)
    os.mkfifo(poses)
    words = ("--track", "corridor", "--sensors", str(scans))
    with virtual_car("f1tenth_vesc", port, *words), serving(f"serial://{port}", "car"):
        localise = ("localise", str(map_file), "--car", "car", "--lidar", str(scans))
        drive = ("drive", "--car", "car", "--input", f"path:{line}?pose={poses}", "--json")
        with (
            program(*localise, "-o", str(poses)) as localiser,
            program(*drive, "--speed", "0.6", "--seconds", "40") as driven,
        ):
            rows = map(json.loads, driven.stdout)
            assert any(row.get("speed_mps", 0.0) > 0.5 for row in rows), "it never drives"
            os.kill(localiser.pid, signal.SIGKILL)
            said, _ = patience.communicate(driven, 30.0)
    summary = json.loads(said.splitlines()[-1])["summary"]
    assert driven.returncode == 1, summary
    assert "The localiser's pose is 0.5" in said
    figures = summary["path"]["pose"]
    assert figures["source"] == "localiser"
    assert figures["frame"] == "map"
    assert 0.0 < figures["std_m"] < 0.25
    assert summary["path"]["cross_track_worst_m"] < 0.15
