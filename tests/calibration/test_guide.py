"""``tandem calibrate --guide``: a person with a tape, and a car whose numbers are hidden."""

import asyncio
import builtins
import json
import shlex
from dataclasses import replace
from math import hypot
from types import SimpleNamespace

import pytest

from calibration.files.calibration_file import read_calibration
from calibration.guide.guide import GuidedCalibration
from host_bridge.cli import main as cli
from host_bridge.cli.commands.calibrate import as_in_its_file
from host_bridge.config import load_vehicle
from host_bridge.core.errors import DataFileFault, UsageFault
from tests.calibration.hidden import HiddenCar
from tests.studies.logs.guide_study import VEHICLES, StudiedParameter, hidden, lines

HIDDEN = HiddenCar("f1tenth_vesc", 1.05, -0.1, 0.93, 1.04, 0.05, 0.06, 0.9, 1.2)


class Person:
    """Answers what is asked; reads the tape between where a virtual car stood and stands, to a
    centimetre."""

    def __init__(self, sensors):
        self.asked = []
        self.taped = ""
        self._sensors = sensors

    def __call__(self, question=""):
        self.asked.append(question)
        if "metres" in question:
            lines = self._sensors.read_text().splitlines()
            truths = [json.loads(line)["truth"] for line in lines if '"sensor": "truth"' in line]
            first, last = truths[0], truths[-1]
            self.taped = f"{hypot(last['x_m'] - first['x_m'], last['y_m'] - first['y_m']):.2f}"
            return self.taped
        return "y"


@pytest.mark.fit
@pytest.mark.timeout(600)
def test_a_hidden_car_is_found_by_the_guide_from_begin_to_end(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "guide"
    file = HIDDEN.write(tmp_path / "hidden.toml")
    uri = f"sim://{HIDDEN.vehicle}?seed=7&calibration={file}"
    person = Person(folder / "straight.jsonl")
    monkeypatch.setattr(builtins, "input", person)
    words = ["calibrate", "--guide", str(folder), "--car", uri, "--date", "2026-05-01"]
    assert cli.main(words) == 0
    found = {one.name: one for one in read_calibration(folder / "calibration.toml").estimates}
    missed = [
        f"{name}: {value:.5g} is not in {found[name]}"
        for name, value in HIDDEN.truth().items()
        if not (found[name].is_estimated and found[name].low <= value <= found[name].high)
    ]
    assert not missed
    assert load_vehicle(str(folder / f"{HIDDEN.vehicle}_calibrated.toml")).parameters
    assert "speed_to_erpm_gain" in (folder / "vesc.yaml").read_text()
    assert sum("metres" in question for question in person.asked) == 1
    said = capsys.readouterr().out
    assert f"a tape would say {person.taped}." in said  # for nobody can lay one there
    assert "time_us" not in said  # lines for people
    assert f"tandem config write {shlex.quote(uri)} --calibration" in said
    # again: what is done stays done, and nothing is asked or driven
    asked = len(person.asked)
    capsys.readouterr()
    assert cli.main(words) == 0
    assert len(person.asked) == asked
    assert capsys.readouterr().out.count("driven: ") >= 5


def test_the_study_of_the_guide_counts_what_is_told_and_what_is_held():
    assert hidden(3) == hidden(3) != hidden(6)
    assert {hidden(seed).vehicle for seed in range(3)} == set(VEHICLES)
    rows = [
        StudiedParameter(1.0, 1.1, 0.9, 1.2),
        StudiedParameter(1.0, 1.3, 1.2, 1.4),
        StudiedParameter(1.0, float("nan"), -1, 2),
    ]
    one, every = lines({"counts_per_m": rows})
    assert one.split()[:8] == ["counts_per_m", "told", "2", "of", "3,", "held", "1:", "0.500"]
    assert every.startswith("all ")


def host_with(**parameters):
    """A host whose only car holds these parameters instead of its vehicle file's."""
    file = load_vehicle("nigel")
    car = replace(file, parameters={**file.parameters, **parameters})
    opened = SimpleNamespace(vehicle=car, close=lambda: asyncio.sleep(0))
    cars = SimpleNamespace(open=lambda *_, **__: asyncio.sleep(0, opened))
    return SimpleNamespace(cars=cars, vehicles=SimpleNamespace(load=load_vehicle))


def test_a_car_that_was_trimmed_is_not_calibrated_on_top_of_it():
    trimmed = [1_480_000, *load_vehicle("nigel").parameters["channel_neutral"][1:]]
    with pytest.raises(UsageFault, match="trimmed or calibrated before") as caught:
        as_in_its_file("my car", "", host_with(channel_neutral=trimmed))
    assert caught.value.remedy.startswith("tandem config write 'my car' --calibration none")
    assert as_in_its_file("red", "", host_with(step_us=[20_000])) == load_vehicle("nigel")


def test_a_question_that_was_misread_is_asked_again(tmp_path, monkeypatch):
    answers = iter(["left", "Yes", "", "no", "1", "2", "3"])
    monkeypatch.setattr(builtins, "input", lambda question="": next(answers))
    guide = GuidedCalibration(
        tmp_path, "red", load_vehicle("nigel"), load_vehicle, lambda *_: (0, None)
    )
    assert guide.says_yes("is it") is True
    assert guide.says_yes("is it") is False
    with pytest.raises(UsageFault, match="not answered"):
        guide.says_yes("is it")


def test_nobody_at_the_terminal_is_said_and_a_guide_takes_no_logs(tmp_path, monkeypatch, capsys):
    def gone(question=""):
        raise EOFError

    monkeypatch.setattr(builtins, "input", gone)
    guide = ["calibrate", "--guide", str(tmp_path / "guide"), "--car", "sim://nigel"]
    assert cli.main(guide) == 2
    assert "nobody answers" in capsys.readouterr().err
    assert cli.main([*guide, "drive.mcap"]) == 2
    assert cli.main(["calibrate"]) == 2


@pytest.mark.parametrize("option", ["--out", "--vehicle-file", "--vesc-yaml"])
def test_a_file_that_is_there_is_not_replaced_by_a_guide(option, tmp_path, capsys):
    kept = tmp_path / "kept"
    kept.write_text("of last year")
    words = ["calibrate", "--guide", str(tmp_path / "guide"), "--car", "sim://nigel"]
    assert cli.main([*words, option, str(kept)]) == DataFileFault.exit_code
    assert str(kept) in capsys.readouterr().err
    assert kept.read_text() == "of last year"
    assert not (tmp_path / "guide").exists()  # nothing was driven, either
