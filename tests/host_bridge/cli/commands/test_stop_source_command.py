"""``tandem stop-source``: a program of somebody else's stops a car, and so does its end."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.host_bridge.cli.programs import program, serving, tandem, until
from tests.host_bridge.page_example import install_example
from tests.host_bridge.sharing.desk import runtime_folder

PAGE = Path(__file__).resolve().parents[4] / "host_bridge" / "cars" / "README.md"
WATCHED = """
base = "nigel"
title = "watched"

[stop.sources.external]
track = "required"
silence_s = 0.3
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    return install_example(PAGE, "my_stop_source", tmp_path_factory.mktemp("example"))


@pytest.fixture(autouse=True)
def folder(monkeypatch, installed):
    path = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)
    with runtime_folder(monkeypatch) as path:
        yield path


def row_of(name: str) -> dict:
    rows = json.loads(tandem("cars", "--json").stdout)
    return next(row for row in rows if row["name"] == name)


@pytest.mark.process
def test_a_car_is_stopped_by_what_the_program_sees_and_by_its_end(tmp_path):
    vehicle, contact = tmp_path / "watched.toml", tmp_path / "door"
    vehicle.write_text(WATCHED)
    contact.touch()
    with serving(f"sim://{vehicle}", "red"):
        assert "stop program" in tandem("arm", "red").stderr
        with program("stop-source", f"door:{contact}", "--car", "red") as watching:
            assert watching.stdout is not None
            assert "as long as this program lets it" in watching.stdout.readline()
            until(lambda: tandem("arm", "red").returncode == 0, "it to be armed")
            contact.unlink()
            assert "the door is open" in watching.stdout.readline()
            until(lambda: row_of("red")["state"] == "STOPPED", "the open door to stop it")
            contact.touch()
            assert "it may run again" in watching.stdout.readline()
            until(lambda: tandem("clear", "red").returncode == 0, "it to be cleared")
            watching.send_signal(signal.SIGKILL)
        until(lambda: tandem("arm", "red").returncode == 6, "its silence to be missed")


@pytest.mark.process
def test_a_car_whose_file_lets_no_program_stop_it_is_refused():
    done = tandem("stop-source", "door:/x", "--car", "sim://nigel")
    assert done.returncode == 5
    assert "lets no program stop it" in done.stderr
    assert "[stop.sources.external]" in done.stderr
