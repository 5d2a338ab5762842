"""Each vehicle that a board is wired for is known to all commands by one word."""

import json
from pathlib import Path

import pytest

from host_bridge.config import load_vehicle, vehicle_names
from host_bridge.config.boards import board_names, load_board
from tests.host_bridge.cli.programs import tandem

pytestmark = pytest.mark.process

WIRED = [name for name in vehicle_names() if not load_vehicle(name).unwired]


def board_of(wiring: str) -> str:
    return next(name for name in reversed(board_names()) if wiring in load_board(name).wirings)


def dry_run(vehicle: str, board: str) -> dict:
    words = ("flash", "--vehicle", vehicle, "--board", board, "--port", "/dev/null", "--dry-run")
    done = tandem(*words, "--json", within_s=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_vesc_makes_a_vehicle_of_its_own():
    assert "f1tenth_vesc" in WIRED


@pytest.mark.parametrize("name", WIRED)
def test_a_vehicle_is_shown_checked_and_made_into_a_program(name):
    board = board_of(name)
    shown = tandem("vehicles", name)
    assert shown.stdout.startswith(f"{name}: ")
    checked = tandem("vehicles", name, "--check", "--board", board)
    assert f"{name} on {board}" in checked.stdout
    assert dry_run(name, board)["is_dry_run"]


@pytest.mark.parametrize("name", WIRED)
def test_a_virtual_one_holds_its_configuration(name):
    """Read from the car and compared with the file, name by name."""
    done = tandem("config", "diff", f"sim://{name}", within_s=60)
    assert done.returncode == 0, done.stderr
    written = tandem("config", "write", f"sim://{name}?blank=1", "--vehicle", name, within_s=60)
    assert written.returncode == 0, written.stderr


@pytest.mark.parametrize(
    "text",
    [
        'base = "{}"\ntitle = "My car"\n\n[limits]\naccel_mps2 = 0.9\n',
        "COPY",
    ],
    ids=["based on it", "copied"],
)
@pytest.mark.parametrize("name", ["f1tenth", "f1tenth_vesc"])
def test_a_file_of_your_own_keeps_the_wiring_and_is_flashed(tmp_path, monkeypatch, name, text):
    monkeypatch.chdir(tmp_path)
    whole = Path(load_vehicle(name).path).read_text()
    Path("my_car.toml").write_text(whole if text == "COPY" else text.format(name))
    mine, its = dry_run("./my_car.toml", "pico2"), dry_run(name, "pico2")
    assert mine["files"] == its["files"]
    assert mine["program"] != its["program"]  # it says whose it is
