"""A car whose steps take longer than its beat: told, refused in a sentence, and given a longer one.

The car is virtual, its steps are made to take their time; the commands are the real ones.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from host_bridge.cars.car_text import step_time_text
from host_bridge.cars.refusals import (
    can_have_longer_period,
    refusal_text,
)
from host_bridge.cli.arguments.parameter_changes import is_change, parse_changes
from host_bridge.cli.car_actions.period_prompt import prompt_longer_period
from host_bridge.cli.commands import config as config_command
from host_bridge.config import load_vehicle
from host_bridge.config.store import Pairing, Pairings
from host_bridge.config.vehicle.trim import parse_trim, trimmed_parameters
from host_bridge.core import Inputs, Refusal
from host_bridge.core.errors import OverrunFault, UsageFault
from host_bridge.sharing.services.configurations import changed_from_file
from tests.host_bridge.cli.programs import PATIENCE_S, TANDEM, serving, tandem, until
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support import patience

SLOW = "sim://f1tenth?fault=slow_step:ms=11.4"
COMMAND = "tandem config write red step_s=0.02"
NOTHING = Inputs(True, True, False, (), (), (), (), (), (), None, True, 0, 0.0, 0.0)
F1TENTH = load_vehicle("f1tenth")


def inputs_of(beat_us=10_000, takes_us=11_400, missed=500, missed_lately=88) -> Inputs:
    return replace(NOTHING, beat_us=beat_us, takes_us=takes_us, missed=missed,
                   missed_lately=missed_lately)  # fmt: skip


def said_of(called="red", inputs=None) -> str:
    car = SimpleNamespace(cli_name=called, inputs=inputs, identity=None)
    return refusal_text(Refusal.OFF_BEAT, SimpleNamespace(), car)


# --- words


def test_the_refusal_says_what_a_step_takes_and_the_command_that_helps():
    said = said_of(inputs=inputs_of())
    assert (
        "a step takes 11.4 ms of 10, 88 of the last 100 control periods missed, 20 may be" in said
    )
    assert f"`{COMMAND}`, or take a Pico 2" in said
    assert "\n" not in said


def test_a_uri_can_be_pasted_into_a_shell():
    said = said_of("serial:///dev/ttyACM0?baud=9600&x=1", inputs_of())
    assert "tandem config write 'serial:///dev/ttyACM0?baud=9600&x=1' step_s=0.02" in said


def test_a_car_with_the_longest_beat_is_not_told_to_take_it():
    said = said_of(inputs=inputs_of(20_000, 22_000))
    assert "22.0 ms of 20" in said
    assert said.endswith("take a Pico 2)")
    assert "config write" not in said


def test_a_car_whose_steps_fit_was_busy_for_once_and_is_told_to_wait():
    """Seen on an emulated RP2040: armed within two seconds of a trim, 8.9 ms of 20."""
    car = SimpleNamespace(cli_name="red", inputs=inputs_of(20_000, 8_900, missed_lately=23))
    car.identity = None
    said = refusal_text(Refusal.OFF_BEAT, SimpleNamespace(), car)
    assert "8.9 ms of 20, 23 of the last 100" in said
    assert said.endswith("wait two seconds)")
    assert not can_have_longer_period(car)
    car.inputs = inputs_of(10_000, 7_400)
    assert not can_have_longer_period(car)
    car.inputs = inputs_of(10_000, 7_600)
    assert can_have_longer_period(car)


def test_hardware_in_the_loop_is_told_where_its_numbers_come_from():
    who = SimpleNamespace(is_hitl=True)
    car = SimpleNamespace(cli_name="red", inputs=inputs_of(), identity=who)
    said = refusal_text(Refusal.OFF_BEAT, SimpleNamespace(), car)
    assert "open it with step_s=0.02 in its URI, or take a Pico 2" in said
    assert not can_have_longer_period(car)


def test_without_its_report_the_refusal_is_its_phrase():
    assert said_of() == Refusal.OFF_BEAT.phrase


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (None, ""),
        (inputs_of(takes_us=0, missed=0, missed_lately=0), ""),
        (inputs_of(takes_us=8_640, missed=0, missed_lately=0), "step 8.6 of 10 ms"),
        (
            inputs_of(takes_us=8_600, missed=7, missed_lately=0),
            "step 8.6 of 10 ms, 7 control periods missed",
        ),
        (inputs_of(), "step 11.4 of 10 ms, 500 control periods missed, 88 OF THE LAST 100"),
    ],
)
def test_the_monitor_says_what_a_step_takes_and_what_was_missed(inputs, said):
    assert step_time_text(SimpleNamespace(inputs=inputs)) == said


# --- what one car has other than its file


@pytest.mark.parametrize(
    ("word", "is_one"),
    [("step_s=0.02", True), ("x=", True), ("red", False), ("sim://nigel?seed=1", False),
     ("serial:///dev/ttyACM0?baud=9600", False), ("/dev/tty=1", False)],
)  # fmt: skip
def test_a_change_is_told_from_a_car(word, is_one):
    assert is_change(word) is is_one


@pytest.mark.parametrize("word", ["step_s=", "step_s=fast", "speed_max_mps=9", "step_us=20000"])
def test_what_may_not_be_changed_so_is_refused(word):
    with pytest.raises(UsageFault, match="not a value in which one car may differ"):
        parse_changes([word])
    assert parse_changes(["step_s=0.02"]) == {"step_s": 0.02}


def test_what_follows_from_a_change_is_compiled_as_from_the_file():
    slow_line = load_vehicle("f1tenth", {"timing.baud": 115_200})
    longer = load_vehicle("f1tenth", {"timing.baud": 115_200, "timing.step_s": 0.02})
    assert (slow_line.parameters["motion_every"], slow_line.parameters["step_us"]) == (
        [5],
        [10_000],
    )
    trim = {"channel_neutral": [7]}
    found = changed_from_file(trim, slow_line, longer, ["step_s"])
    assert found == {"channel_neutral": [7], "step_us": [20_000], "motion_every": [1]}
    assert changed_from_file(found, slow_line, slow_line, ["step_s"]) == trim


def test_a_trim_leaves_the_beat_and_the_beat_the_trim():
    trim = trimmed_parameters(F1TENTH, {"step_us": [20_000]}, [parse_trim("throttle=-5", F1TENTH)])
    assert sorted(trim) == ["channel_neutral", "step_us"]
    known = Pairing("00", "red", "f1tenth", "11", trim)
    assert (known.of(F1TENTH).step_s, F1TENTH.step_s) == (0.02, 0.01)


@pytest.mark.parametrize(
    "words",
    [("read", "red", "step_s=0.02"), ("write", "red", "blue"), ("write", "a", "--car", "b")],
)
def test_more_than_one_car_and_changes_that_nobody_writes_are_refused(words):
    parser = argparse.ArgumentParser()
    config_command.add_arguments(parser)
    with pytest.raises(UsageFault, match="takes one car"):
        config_command._car_and_changes(parser.parse_args(words))


# --- the commands


@pytest.fixture
def red(monkeypatch, tmp_path):
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))
    with runtime_folder(monkeypatch), serving(SLOW, "red"):
        until(lambda: identified()["beats_missed_of_100"] == 100, "a window of missed beats")
        yield


def identified() -> dict[str, object]:
    (row,) = json.loads(tandem("identify", "red", "--json").stdout)
    return row


def asked(answer: bytes, *words: str) -> tuple[int, str]:
    """A command with a person at its terminal; what was shown there."""
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    seen = bytearray()

    def read() -> None:
        try:
            while data := os.read(ours, 4096):
                seen.extend(data)
        except OSError:  # its other end is closed
            return

    reader = threading.Thread(target=read)
    reader.start()
    done = patience.run(
        [*TANDEM, *words], stdin=theirs, stdout=theirs, stderr=theirs, within_s=PATIENCE_S
    )
    os.close(theirs)
    reader.join(PATIENCE_S)
    os.close(ours)
    return done.returncode, seen.decode()


@pytest.mark.process(drives=True)
def test_it_is_identified_refused_given_a_longer_beat_and_armed(red):
    row = identified()
    assert (row["device"], row["is_virtual"], row["beat_ms"]) == ("car", True, 10.0)
    assert row["step_takes_ms"] > 10.5  # this machine's clock takes part
    assert row["beats_missed"] > 100
    refused = tandem("arm", "red")
    assert refused.returncode == OverrunFault.exit_code == 6
    assert f"`{COMMAND}`, or take a Pico 2" in refused.stderr
    assert " ms of 10, 100 of the last 100 control periods missed, 20 may be" in refused.stderr
    assert json.loads(tandem("arm", "red", "--json").stdout)["refusals"] == ["OFF_BEAT"]
    assert "OF THE LAST 100" in tandem("monitor", "red", "--seconds", "1").stdout
    assert tandem(*COMMAND.split()[1:]).returncode == 0
    until(lambda: identified()["beats_missed_of_100"] <= 10, "a beat that is kept")
    row = identified()
    assert (row["beat_ms"], row["vehicle"], row["is_trimmed"]) == (20.0, "f1tenth", True)
    assert tandem("arm", "red").returncode == 0


@pytest.mark.process(drives=True)
def test_a_car_with_a_slow_boards_beat_is_recognised_by_a_host_that_never_met_it():
    done = tandem("identify", "sim://f1tenth?step_s=0.02", "--json")
    row = json.loads(done.stdout)
    row = row[0] if isinstance(row, list) else row
    assert (row["vehicle"], row["beat_ms"], row["is_trimmed"]) == ("f1tenth", 20.0, False)


@pytest.fixture
def slow_board(monkeypatch, tmp_path):
    """A car on a board that gives it the longer beat, which this host has never met."""
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))
    with runtime_folder(monkeypatch), serving("sim://f1tenth?step_s=0.02", "red"):
        yield


DIFF = ("config", "diff", "red", "--vehicle", "f1tenth", "--json")


@pytest.mark.process(drives=True)
def test_a_slow_board_s_car_is_held_against_its_vehicle_file_at_that_board_s_beat(slow_board):
    for words in (DIFF, ("config", "diff", "red", "--json")):
        assert json.loads(tandem(*words).stdout) == []
    row = identified()
    for board, differ in (("pico", []), ("pico2", ["step_us"])):
        known = Pairing(row["board_id"], "red", "f1tenth", "01" * 32, flashed={"board": board})
        Pairings().keep(known)
        found = [it["parameter"] for it in json.loads(tandem(*DIFF).stdout)]
        assert sorted(found) == differ


@pytest.mark.process(drives=True)
@pytest.mark.parametrize(
    "words",
    [
        ("trim", "--car", "red", "throttle=-5"),
        ("config", "write", "red", "--vehicle", "f1tenth"),
    ],
)
def test_what_is_written_by_a_host_that_never_met_it_leaves_the_beat_of_its_board(
    slow_board, words
):
    assert identified()["beat_ms"] == 20.0
    assert tandem(*words).returncode == 0
    row = identified()
    assert (row["beat_ms"], row["vehicle"]) == (20.0, "f1tenth")
    assert row["is_trimmed"] is (words[0] == "trim")


@pytest.mark.process(drives=True)
def test_a_person_is_asked_and_only_a_yes_writes_it(red):
    for step_s, why in (("0.021", "0.02"), ("0.0125", "whole milliseconds")):
        done = tandem("config", "write", "red", f"step_s={step_s}")
        assert done.returncode == UsageFault.exit_code
        assert why in done.stderr
    code, shown = asked(b"n\n", "arm", "red")
    assert code == 6
    assert "Write step_s=0.02 to red now? [y/N]" in shown
    assert COMMAND in shown
    assert tandem("config", "diff", "red").returncode == 0  # nothing was written
    code, shown = asked(b"y\n", "arm", "red")
    assert code == 6  # it is not armed by that
    assert "Written, all of it read back" in shown
    until(lambda: identified()["beats_missed_of_100"] <= 10, "a beat that is kept")
    assert identified()["beat_ms"] == 20.0
    assert tandem("arm", "red").returncode == 0


def test_where_nobody_can_be_asked_the_refusal_is_raised(monkeypatch):
    fault = OverrunFault("red did not arm")
    fault.cars = ("red",)
    for is_terminal, is_json, cars in ((False, False, ("red",)), (True, True, ("red",)),
                                       (True, False, ())):  # fmt: skip
        monkeypatch.setattr("sys.stdin.isatty", lambda at=is_terminal: at, raising=False)
        monkeypatch.setattr("sys.stdout.isatty", lambda at=is_terminal: at, raising=False)
        fault.cars = cars
        with pytest.raises(OverrunFault):
            prompt_longer_period(fault, None, is_json=is_json)


@pytest.mark.process(drives=True)
def test_a_drive_is_refused_with_the_command_for_its_uri():
    done = tandem("drive", "--car", SLOW, "--input", "script:straight", "--seconds", "2")
    assert done.returncode == 6
    assert f"tandem config write '{SLOW}' step_s=0.02" in done.stderr
