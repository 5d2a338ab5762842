"""An input of somebody else: the page's own example, as a package that pip installs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from host_bridge.core import DriveCommand, Input, OperatorRequest, State
from tests.host_bridge.drive.test_drive import Day
from tests.host_bridge.inputs.made_inputs import Person
from tests.host_bridge.page_example import install_example
from tests.support import patience

PAGE = Path(__file__).resolve().parents[3] / "host_bridge" / "inputs" / "README.md"


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The example and the entry point of the page, installed into a folder of their own."""
    return install_example(PAGE, "my_inputs", tmp_path_factory.mktemp("example"))


def drive(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return patience.run(
        [
            sys.executable,
            "-m",
            "host_bridge.cli.main",
            "drive",
            "--car",
            "sim://f1tenth",
            "--json",
            *words,
        ],
        text=True,
        stdin=subprocess.DEVNULL,
        within_s=120,
        env={**os.environ, "PYTHONPATH": path},
    )


@pytest.mark.process(drives=True)
@pytest.mark.xdist_group("wall clock")
def test_the_example_of_the_page_drives_a_car_in_circles(installed):
    done = drive(installed, "--input", "circles:2", "--seconds", "60")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])["summary"]
    assert summary["is_completed"]
    assert summary["source"] == "script"
    assert 2.0 < summary["cars"][0]["distance_m"] < 4.0


@pytest.mark.process(drives=True)
def test_without_its_package_it_is_unknown(tmp_path):
    done = drive(tmp_path, "--input", "circles")
    assert done.returncode == 2
    assert "unknown input 'circles'" in done.stderr


# --- what an input says of itself


class Pad(Person):
    """A device that can be lost."""

    lost = ""

    def step(self, now_us, observed):
        return DriveCommand(speed_mps=1.0, is_held=True, lost=self.lost)


def driven_by(day: Day, chosen: Input, person: Input) -> None:
    day.drive.controls = replace(day.drive.controls, input=chosen, person=person)


def test_an_input_that_is_lost_stops_all_cars_and_says_why():
    day = Day()
    pad = Pad(seat=day.seat)
    driven_by(day, pad, pad)
    day.until(lambda: day.is_in(State.ACTIVE))
    pad.lost = "the gamepad was unplugged"
    day.until(lambda: day.is_in(State.STOPPED))
    assert day.drive.notice.startswith("the gamepad was unplugged. Stopped all cars")
    day.advance(0.2)
    for rig in day.rigs:  # no sentence that is cut in the 16 bytes of a sender
        assert "(input lost) asked for a stop" in rig.car.why_stopped()


@pytest.mark.parametrize("is_held", [np.bool_(1), 1])
def test_an_input_may_speak_in_numpys_numbers_and_truths(is_held):
    class Array(Pad):
        def step(self, now_us, observed):
            return DriveCommand(0, np.float32(1.0), is_held=is_held, input_count=np.int64(now_us))

    day = Day()
    pad = Array(seat=day.seat)
    driven_by(day, pad, pad)
    day.until(lambda: day.is_in(State.ACTIVE))
    made = day.drive.command
    assert made.is_held is True
    assert [type(it) for it in (made.steer_rad, made.speed_mps, made.input_count)] == [
        float, float, int,
    ]  # fmt: skip


def test_an_input_that_fails_stops_all_cars_and_says_why():
    class Broken(Pad):
        def step(self, now_us, observed):
            if self.lost:
                raise KeyError(self.lost)
            return super().step(now_us, observed)

    day = Day()
    pad = Broken(seat=day.seat)
    driven_by(day, pad, pad)
    day.until(lambda: day.is_in(State.ACTIVE))
    pad.lost = "axis 3"
    day.until(lambda: day.is_in(State.STOPPED))
    assert "The input failed (KeyError: 'axis 3'). Stopped all cars" in day.drive.notice


@pytest.mark.parametrize("key", ["speed_mps", "steer_rad", "brake"])
@pytest.mark.parametrize("value", [float("nan"), np.float32("inf")])
def test_an_input_that_asks_for_what_is_no_number_stops_all_cars_and_says_why(key, value):
    class Wrong(Pad):
        def step(self, now_us, observed):
            asked = super().step(now_us, observed)
            return replace(asked, lost="", **({key: value} if self.lost else {}))

    day = Day()
    pad = Wrong(seat=day.seat)
    driven_by(day, pad, pad)
    day.until(lambda: day.is_in(State.ACTIVE))
    pad.lost = "from now on"
    day.until(lambda: day.is_in(State.STOPPED))
    assert f"The input failed (ValueError: {key} is {float(value)}, " in day.drive.notice


def test_orders_of_whatever_drives_and_of_whoever_sits_there_are_both_obeyed():
    day = Day()
    person, pad = Person(seat=day.seat), Pad(seat=day.seat)
    driven_by(day, pad, person)
    person.given, pad.given = [OperatorRequest.STOP], [OperatorRequest.QUIT]
    assert day.drive.controls.requests() == [OperatorRequest.STOP, OperatorRequest.QUIT]
    assert day.drive.controls.requests() == []
