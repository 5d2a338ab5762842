"""A drive in lockstep takes no time of the world, is the same each time, and can be stopped."""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import time

import pytest

from host_bridge import drive as driving
from host_bridge.cli.commands import drive
from host_bridge.cli.main import main
from host_bridge.core import DriveCommand, Input
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.running import run_in_virtual_time
from host_bridge.core.system.virtual_time import VirtualTimeLoop
from host_bridge.drive import DriveOptions
from host_bridge.drive.display.lines import PlainView
from host_bridge.drive.lockstep import command
from host_bridge.drive.lockstep.campaign.case import run_case
from host_bridge.drive.lockstep.campaign.spec import KEYS, files_of
from host_bridge.drive.lockstep.car import open_in_lockstep
from host_bridge.sharing.services import make_host
from tests.host_bridge.cli.programs import program, tandem
from tests.support import patience

WORDS = ("--input", "script:slalom", "--lockstep", "--json")


def driven(capsys, *words):
    code = main(["drive", *words, *WORDS])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return code, lines


def test_ten_seconds_of_two_cars_are_driven_to_the_end_in_less(capsys):
    begun_s = time.process_time()
    code, lines = driven(
        capsys, "sim://f1tenth", "--twin", "sim://f1tenth?name=twin", "--seconds", "10"
    )
    assert code == 0
    summary = lines[-1]["summary"]
    assert summary["is_completed"]
    assert summary["seconds"] == pytest.approx(10.5, abs=0.5)  # it comes to rest after them
    assert summary["agreement"]["agreed"] > 900
    assert summary["agreement"]["is_equal"]
    assert time.process_time() - begun_s < 10.0


def test_the_same_words_drive_the_same_drive(capsys):
    words = ("sim://nigel?seed=3", "--seconds", "3")
    first, second = driven(capsys, *words), driven(capsys, *words)
    assert first == second


def test_a_log_of_it_is_in_the_time_of_the_cars(tmp_path, capsys):
    path = tmp_path / "drive.mcap"
    assert main(["drive", "sim://nigel", "--seconds", "3", "--record", str(path), *WORDS]) == 0
    capsys.readouterr()
    assert main(["log", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["duration_s"] > 3.0


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (
            ("serial:///dev/ttyACM0", "--input", "script:slalom"),
            "only a virtual car in this process",
        ),
        (("sim+process://nigel", "--input", "script:slalom"), "only a virtual car in this process"),
        (("sim://nigel", "--twin", "tandem:///red", "--input", "script:slalom"), "only a virtual"),
    ],
)
def test_what_has_a_time_of_its_own_is_refused(words, what):
    parser = argparse.ArgumentParser()
    drive.add_arguments(parser)
    args = parser.parse_args([*words, "--lockstep"])
    with pytest.raises(UsageFault, match=what):
        drive.run(args, make_host())


class Device(Input):
    def step(self, now_us, observed):
        return DriveCommand()


def test_an_input_that_does_not_say_that_it_is_computed_is_refused():
    options = DriveOptions(cars=("sim://nigel",), input=Device(), is_lockstep=True)
    loop = VirtualTimeLoop()
    with pytest.raises(UsageFault, match="keeps the time of the world"):
        run_in_virtual_time(driving.drive(options, PlainView(), make_host(loop)), loop)


@pytest.mark.process
@pytest.mark.xdist_group("wall clock")
def test_another_terminal_stops_it():
    with program("drive", "sim://nigel?name=hurried", *WORDS, "--seconds", "3000") as process:
        for line in process.stdout:
            if json.loads(line)["state"] == "ACTIVE":
                break
        assert tandem("stop", "hurried").returncode == 0
        lines = process.stdout.read().splitlines()
        assert patience.wait(process, 20) == 1
    assert json.loads(lines[-1])["summary"]["cars"][0]["stops"] != []


def test_time_passes_only_where_nobody_has_anything_to_do():
    loop = VirtualTimeLoop()
    try:
        before_s = loop.time()
        loop.run_until_complete(asyncio.sleep(3600))
        assert loop.time() - before_s == pytest.approx(3600)
    finally:
        loop.close()


def test_the_command_and_a_campaigns_case_are_one_drive(tmp_path, capsys, monkeypatch):
    """The same bytes both ways, and one figure."""
    heard = []

    def spied(files, text):
        car = open_in_lockstep(files, text)
        heard.append(_Seen(car))
        return car

    monkeypatch.setattr(command, "open_in_lockstep", spied)
    path = tmp_path / "path.csv"
    assert main(["path", "centre", "corridor", "-o", str(path)]) == 0
    capsys.readouterr()
    controller = f"path:{path}?law=stanley&laps=0&loop=1"
    words = ("--input", controller, "--speed", "2", "--seconds", "3", "--lockstep", "--json")
    assert main(["drive", "sim://f1tenth?track=corridor&seed=1", *words]) == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])["summary"]
    values = {key.name: key.default for key in KEYS if key.default is not None}
    values |= {"vehicle": "f1tenth", "track": "corridor", "seed": 1, "speed_mps": 2.0}
    values |= {"duration_s": 3.0, "controller": controller, "vehicle_changes": {}}
    spec = {**values, "oracles": ["completed"]}
    row = run_case({**spec, "files": files_of(spec)}, make_host().vehicles)
    assert row["outcome"] == "passed"
    assert round(row["distance_m"], 4) == summary["cars"][0]["distance_m"] > 3.0
    assert heard[0].hash.hexdigest() == row["bytes"]


class _Seen:
    """The hash of all bytes to and from a car."""

    def __init__(self, car):
        self.hash = hashlib.sha256()
        car.observe_bytes = self.hash.update


def test_a_bad_line_is_bad_in_lockstep_too(capsys):
    words = ("lossy+sim://nigel?loss=0.2&seed=1", "--seconds", "2")
    first, second = driven(capsys, *words), driven(capsys, *words)
    assert first == second
    _, lines = driven(capsys, "sim://nigel", "--seconds", "2")
    assert first[1][-1]["summary"]["cars"] != lines[-1]["summary"]["cars"]
