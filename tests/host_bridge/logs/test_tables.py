"""A drive's own log is driven again: recorded, written as CSV, replayed, played."""

from __future__ import annotations

import csv
import json
import shlex

import pytest

from host_bridge import config
from host_bridge.cli import main as cli
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.inputs.manoeuvres import CsvManoeuvre
from host_bridge.logs import recorder, tables
from tests.host_bridge.cli.programs import tandem
from tests.host_bridge.sharing.desk import runtime_folder

NIGEL = config.load_vehicle("nigel")


class Clock:
    now = 1_000_000

    def now_us(self):
        return self.now


def nothing():
    return lambda data: []


def log_of(path, rows, car="red"):
    """A log with these rows: seconds, topic, row."""
    clock = Clock()
    log = recorder.create(path, clock, 0, {"version": "1", "protocol_hash": "0"}, nothing)
    log.car(car, {"vehicle": "nigel"})
    for second, topic, row in rows:
        log.message(car, topic, row, 1_000_000 + round(second * 1e6))
    log.close()
    return path


def read_csv(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def status(state, speed_mps=0.0, steer_rad=0.0):
    return {"state": state, "target_mps": speed_mps, "steer_rad": steer_rad}


POSE = {"x_m": 0.5, "y_m": -0.25, "yaw_rad": 0.1, "yaw_rate_radps": 0.0}
DRIVE = [
    (0.00, "status", status("STANDBY")),
    (0.01, "motion", POSE),
    (0.02, "status", status("ACTIVE", NIGEL.speed_max_mps / 2, -NIGEL.steer_max_rad)),
    (0.03, "motion", POSE),
    (0.04, "status", status("ACTIVE", NIGEL.speed_max_mps * 2)),
    (0.05, "status", status("STANDBY", 9.0)),
]


def test_commands_are_what_an_armed_car_was_told_as_parts_of_its_limits(tmp_path):
    run = tables.write_run(log_of(tmp_path / "a.mcap", DRIVE), tmp_path / "out", "red", NIGEL)
    assert run
    assert [tuple(row.values()) for row in read_csv(run.commands)] == [
        ("0.020000", "steering", "-1.000000"),
        ("0.020000", "throttle", "0.500000"),
        ("0.040000", "steering", "0.000000"),
        ("0.040000", "throttle", "1.000000"),
    ]
    assert run.clipped == {"throttle": (1, 2.0)}  # it is told, and not only done
    poses = read_csv(run.odometry)
    assert [row["header_t_s"] for row in poses] == ["0.010000", "0.030000"]
    assert {row["x_m"] for row in poses} == {"0.5"}
    assert not run.is_virtual


def test_times_that_run_back_and_pauses_are_told_with_their_place_and_the_rest_is_used(tmp_path):
    back = [(*DRIVE[4][:2], DRIVE[4][2]), (0.01, "motion", POSE), (3.0, "motion", POSE)]
    rows = [*DRIVE[:4], *back, (3.01, "motion", POSE)]
    run = tables.write_run(log_of(tmp_path / "a.mcap", rows), tmp_path / "out", "red", NIGEL)
    assert run
    times = [row["header_t_s"] for row in read_csv(run.odometry)]
    assert times == ["0.010000", "0.030000", "3.000000", "3.010000"]
    assert "motion: the time of 1 records runs back" in run.notes[0]
    assert run.notes[1] == "motion: nothing came for 3.0 s from 0.020 s on"


@pytest.mark.parametrize("rows", [DRIVE[:2], [DRIVE[0], DRIVE[2]]])
def test_a_car_that_was_not_driven_or_not_seen_has_no_run(tmp_path, rows):
    log = log_of(tmp_path / "a.mcap", rows)
    assert tables.write_run(log, tmp_path / "out", "red", NIGEL) is None


def test_each_kind_of_row_has_its_file_with_all_columns_that_ever_came(tmp_path):
    rows = [(0.0, "power", {"battery_v": 12.0}), (0.5, "power", {"stage": "LOW", "cells": [1, 2]})]
    (path,) = tables.write_tables(log_of(tmp_path / "a.mcap", rows), tmp_path / "out")
    assert path.name == "red_power.csv"
    first, second = read_csv(path)
    assert first == {"log_t_s": "0.000000", "battery_v": "12.0", "stage": "", "cells": ""}
    assert second == {"log_t_s": "0.500000", "battery_v": "", "stage": "LOW", "cells": "1 2"}


def test_a_cars_name_leads_out_of_no_folder_and_no_file_is_overwritten(tmp_path):
    log = log_of(tmp_path / "a.mcap", DRIVE[:1], car="../../red")
    (path,) = tables.write_tables(log, tmp_path / "out")
    assert path.parent == tmp_path / "out"
    with pytest.raises(DataFileFault, match="already"):
        tables.write_tables(log, tmp_path / "out")


@pytest.mark.process
@pytest.mark.xdist_group("wall clock")
def test_a_virtual_cars_own_log_replays_within_centimetres_by_the_command_that_is_printed(
    tmp_path, monkeypatch
):
    with runtime_folder(monkeypatch):
        log, out = tmp_path / "d.mcap", tmp_path / "out"
        words = ["--input", "script:slalom", "--seconds", "3", "--record", str(log), "--json"]
        driven = tandem("drive", "--car", "sim://nigel", *words)
        assert driven.returncode == 0, driven.stderr
        done = tandem("log", str(log), "--csv", str(out))
        assert done.returncode == 0, done.stderr
        drive_again, replay_again = commands_in(done.stdout)
        assert "--calibration none" in " ".join(replay_again)
        replayed = tandem(*replay_again, "--json")
        assert replayed.returncode == 0, replayed.stderr
        (shown,) = json.loads(replayed.stdout)
        assert shown["twin"]["position_rms_m"] < 0.05
        assert max(shown["t_s"]) > 3.0
        whole = tandem("replay", str(log), "--json")  # the log itself: no files, no options
        assert whole.returncode == 0, whole.stderr
        (of_log,) = json.loads(whole.stdout)
        assert of_log["commands"] == "d.mcap:nigel"
        assert of_log["twin"] == shown["twin"]
        again = tandem(*drive_again, "--json")
        assert again.returncode == 0, again.stderr
        (car,) = json.loads(again.stdout.splitlines()[-1])["summary"]["cars"]
        assert car["distance_m"] > 0.3


def commands_in(text: str) -> list[list[str]]:
    joined = text.replace("\\\n", " ")
    lines = [line.strip() for line in joined.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("tandem ")]


@pytest.mark.process
def test_who_gives_a_log_as_a_table_is_told_that_it_is_read_as_it_is(tmp_path):
    log = log_of(tmp_path / "a.mcap", DRIVE)
    done = tandem("replay", "--commands", str(log), "--against", str(log))
    assert done.returncode == DataFileFault.exit_code
    assert "tandem replay LOG" in done.stderr


def test_a_log_without_the_car_that_is_wanted_or_without_a_drive_says_so(tmp_path, capsys):
    log = log_of(tmp_path / "a.mcap", DRIVE[:1])
    assert cli.main(["replay", str(log), "--car", "blue"]) == DataFileFault.exit_code
    assert "expected: red" in capsys.readouterr().err
    assert cli.main(["replay", str(log)]) == DataFileFault.exit_code
    assert "nobody drives in this log" in capsys.readouterr().err
    driven = log_of(tmp_path / "b.mcap", DRIVE)
    assert cli.main(["replay", str(driven), "--vehicle", "f1tenth"]) == UsageFault.exit_code
    assert "one type of car" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_said_to_be_no_place_to_write(tmp_path, capsys):
    log = log_of(tmp_path / "a.mcap", DRIVE)
    (tmp_path / "file").touch()
    assert cli.main(["log", str(log), "--csv", str(tmp_path / "file" / "out")]) == 7
    said = capsys.readouterr().err
    assert "the folder cannot be written" in said
    assert "choose another file, in a folder that exists" in said


@pytest.mark.process
def test_the_samples_are_a_drive_that_can_be_played_and_replayed(tmp_path):
    assert tandem("log", "--samples", str(tmp_path / "out")).returncode == 0
    commands, odometry = (
        tmp_path / "out" / f"nigel_slalom_{name}.csv" for name in ("commands", "odometry")
    )
    assert CsvManoeuvre(commands, NIGEL).duration_s > 7.0
    words = ("--calibration", "none", "--commands", str(commands), "--against", str(odometry))
    replayed = tandem("replay", *words, "--json")
    assert replayed.returncode == 0, replayed.stderr
    (shown,) = json.loads(replayed.stdout)
    assert shown["twin"]["position_rms_m"] < 0.05


@pytest.mark.process
def test_the_help_of_drive_says_what_a_file_of_commands_is():
    done = tandem("drive", "--help").stdout
    assert ",".join(tables.COMMANDS) in done
    assert "tandem log --samples" in done
