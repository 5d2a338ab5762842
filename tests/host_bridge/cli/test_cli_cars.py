"""``tandem cars`` and ``tandem log`` say what there is, to people and to programs."""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import replace
from types import SimpleNamespace

import pytest

from host_bridge.cli.commands import cars, log
from host_bridge.core.codes import Cause, Fault, Profile, State
from host_bridge.core.errors import DataFileFault
from host_bridge.core.reports import CarStatus
from host_bridge.core.system.clock import ManualClock
from host_bridge.logs.recorder import DOWN, create
from host_bridge.sharing.endpoints.served import ServedCar, announce, served

NIGEL = ServedCar("nigel-1", "serial:///dev/ttyACM0", os.getpid(), "nigel", "2026-01-01T00:00:00Z")
SILENT = ServedCar("f1", "sim://f1tenth", os.getpid(), "f1tenth", "2026-01-01T00:00:01Z")
STOPPED = CarStatus(
    time_us=0,
    state=State.STOPPED,
    causes=(Cause.SILENCE,),
    first_cause=Cause.SILENCE,
    faults=(),
    profile=Profile.TRACK,
    steering_source=None,
    drive_source=None,
    brake_source=None,
    steer_rad=0.0,
    target_mps=0.0,
    brake=0.0,
    speed_mps=0.0,
    claim_slot=0,
    claim_sequence=0,
    claim_count=0,
    claim_crc=0,
    applied_us=None,
)


class Cars:
    """The owners' real descriptions; the status that each car would answer with."""

    def served(self):
        return served()

    def read_status_once(self, name):
        return (STOPPED, 192.4) if name == NIGEL.name else None


@pytest.fixture(autouse=True)
def runtime_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_RUNTIME_DIR", str(tmp_path / "run"))


def output(module, capsys, *arguments: str) -> str:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    assert module.run(parser.parse_args(arguments), SimpleNamespace(cars=Cars())) == 0
    return capsys.readouterr().out


def test_where_no_car_is_served_it_says_how_to_serve_one(capsys):
    assert "tandem serve" in output(cars, capsys)
    assert json.loads(output(cars, capsys, "--json")) == []


def test_served_cars_are_listed_with_their_state(capsys):
    announce(NIGEL)
    announce(SILENT)
    head, silent, nigel = output(cars, capsys).splitlines()
    assert head.split() == ["name", "vehicle", "state", "pid", "uri", "started"]
    assert "STOPPED (a source fell silent, 3 min 12 s ago)" in nigel
    assert "no answer" in silent


def test_a_car_on_its_stand_is_listed_as_that(capsys, monkeypatch):
    announce(NIGEL)
    standing = replace(
        STOPPED, state=State.HOLD, profile=Profile.STAND, causes=(), first_cause=None
    )
    monkeypatch.setattr(Cars, "read_status_once", lambda self, name: (standing, None))
    assert "ARMED Stand" in output(cars, capsys)
    (row,) = json.loads(output(cars, capsys, "--json"))
    assert row["profile"] == "STAND"


def test_a_fault_without_a_stop_cause_is_named_too(capsys, monkeypatch):
    announce(NIGEL)
    hot = replace(STOPPED, state=State.FAULT, causes=(), first_cause=None, faults=(Fault.RELAY,))
    monkeypatch.setattr(Cars, "read_status_once", lambda self, name: (hot, None))
    assert f"FAULT ({Fault.RELAY.phrase})" in output(cars, capsys)


def test_json_holds_what_the_table_holds(capsys):
    announce(NIGEL)
    (row,) = json.loads(output(cars, capsys, "--json"))
    assert (row["state"], row["age_s"]) == ("STOPPED", 192.4)
    assert (row["name"], row["pid"], row["uri"]) == (NIGEL.name, NIGEL.pid, NIGEL.uri)


@pytest.fixture
def drive(tmp_path):
    path = tmp_path / "drive.mcap"
    clock = ManualClock()
    recorder = create(path, clock, 0, {"version": "0.1.0"})
    recorder.car("nigel-1", {"vehicle": "nigel"})
    recorder.frame("nigel-1", DOWN, b"\0x\0", clock.now_us())
    clock.advance(2_500_000)
    recorder.note("done")
    recorder.close()
    return path


def test_a_log_is_told_in_short(capsys, drive):
    lines = output(log, capsys, str(drive)).splitlines()
    assert lines[0] == "2.5 s"
    assert "car/nigel-1: vehicle nigel" in lines
    assert "        1 nigel-1/down" in lines
    assert lines[-1] == "note: done"


def test_a_log_cut_short_says_so(capsys, drive):
    drive.write_bytes(drive.read_bytes()[:-40])
    assert output(log, capsys, str(drive)).startswith("2.5 s, cut short")


def test_a_log_in_json_can_be_read_by_a_program(capsys, drive):
    row = json.loads(output(log, capsys, str(drive), "--json"))
    assert row["duration_s"] == 2.5
    assert {"car": "nigel-1", "topic": "down", "records": 1} in row["counts"]
    assert row["is_complete"] is True


def test_what_is_no_log_is_refused(capsys, tmp_path):
    (tmp_path / "other.mcap").write_text("something else altogether")
    with pytest.raises(DataFileFault, match="no log of Tandem"):
        output(log, capsys, str(tmp_path / "other.mcap"))
    with pytest.raises(DataFileFault, match="cannot be read\n  got: No such file"):
        output(log, capsys, str(tmp_path / "none.mcap"))
