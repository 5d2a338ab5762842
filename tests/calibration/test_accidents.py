"""Stops that were planted, and what `tandem why` says of them."""

import json
from contextlib import closing
from dataclasses import replace

import pytest

from calibration.accidents.causes import _miss_text
from calibration.accidents.grip import compared
from calibration.accidents.rerun import _alike
from calibration.commands import why
from calibration.commands.why import explained
from host_bridge.cli import main as cli
from host_bridge.core.commands import Claim
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.core.system.clock import ManualClock
from host_bridge.link.protocol.transcript import LogDecoder
from host_bridge.logs import recorder
from host_bridge.logs.reading import cars_in, facts, read
from tests.studies.accident_study import CONTROL, HOST, drawn, drive

pytestmark = pytest.mark.fit
HOUR_US = 4 << 30  # times on the line are modulo 2**30 us


def driven(folder, kind, **changes):
    """A planted drive of an F1TENTH with a VESC: its log, and its true way."""
    accident = replace(drawn(kind, 3), vehicle="f1tenth_vesc", speed_mps=3.0, steer_rad=0.0)
    accident = replace(accident, **{"changes": {}, **changes})
    log = folder / f"{kind}.mcap"
    return accident, log, drive(accident, log)


def asked(log, seen_s):
    return explained(log, "", HOST.vehicles.load, seen_s, None)


def after_an_hour(log):
    """The same log by a clock that began an hour before it: the line's times have wrapped."""
    late = log.with_name("after_an_hour.mcap")
    ((car, known),) = cars_in(facts(log)).items()
    with closing(recorder.create(late, ManualClock(HOUR_US), 0, {}, LogDecoder)) as copy:
        copy.car(car, known)
        for it in read(log):
            if it.topic in (recorder.UP, recorder.DOWN):
                copy.frame(car, it.topic, it.value, it.time_us + HOUR_US)
    return late


@pytest.mark.smoke
def test_a_late_release_is_blamed_and_costs_what_it_truly_cost(tmp_path):
    accident, log, late = driven(tmp_path, "release", react_s=1.0)
    row = asked(after_an_hour(log), late.seen_s).row()
    in_time = drive(replace(accident, react_s=0.25), None)
    assert row["blamed"] == ["release"]
    assert row["causes"][0]["metres"] == pytest.approx(late.way_m - in_time.way_m, abs=0.08)
    assert row["way_m"] == pytest.approx(late.way_m, abs=0.05)
    assert row["miss_m"] < 0.05


@pytest.mark.parametrize("kind", ["grip", "delay", "loss", "lease"])
def test_the_planted_cause_is_blamed_first(tmp_path, kind):
    _, log, found = driven(tmp_path, kind)
    assert asked(log, found.seen_s).row()["blamed"][:1] == [kind]


def test_nothing_is_blamed_for_a_stop_as_it_should_be(tmp_path):
    _, log, found = driven(tmp_path, CONTROL)
    row = asked(log, found.seen_s).row()
    assert (row["answered"], row["blamed"]) == (True, [])


def test_a_car_whose_speed_loop_is_slow_is_answered_too(tmp_path):
    """Long after it came to its target it is 1 % faster: the twin begins as the log's car was."""
    accident = drawn(CONTROL, 5001)
    assert accident.vehicle == "autorally"
    log = tmp_path / "drive.mcap"
    found = drive(accident, log)
    row = asked(log, found.seen_s).row()
    assert (row["answered"], row["blamed"]) == (True, [])
    assert row["miss_m"] < 0.04


def test_a_car_that_is_not_its_vehicle_file_gets_no_answer(tmp_path):
    """Its log is of a car that weighs almost twice as much as the file says."""
    _, log, found = driven(tmp_path, CONTROL, changes={"plant.body.mass_kg": 6.0})
    row = asked(log, found.seen_s).row()
    assert (row["answered"], row["causes"]) == (False, [])
    assert "misses the log by" in row["reason"]


@pytest.mark.parametrize(
    ("miss_m", "gap_m", "said"),
    [
        (0.081, 0.086, "by magnets 9 cm apart, and no closer"),
        (0.12, 0.086, "either this is not the car's vehicle file, or something else moved it"),
        (0.081, 0.0, "either this is not the car's vehicle file, or something else moved it"),
    ],
)
def test_a_miss_no_wider_than_its_magnets_blames_neither_the_file_nor_the_car(miss_m, gap_m, said):
    assert _miss_text(miss_m, gap_m).endswith(said)


def test_the_command_says_it_for_programs_and_refuses_a_log_without_a_stop(tmp_path, capsys):
    _, log, found = driven(tmp_path, CONTROL)
    assert cli.main(["why", str(log), "--seen", f"{found.seen_s}", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["vehicle"], len(row["causes"])) == ("f1tenth_vesc", 6)
    with pytest.raises(DataFileFault, match="no stop in this log"):
        explained(log, "", HOST.vehicles.load, None, 1000.0)
    with pytest.raises(DataFileFault, match="no car left"):
        explained(log, "left", HOST.vehicles.load, None, None)


@pytest.mark.smoke
def test_a_twin_with_the_log_s_longer_lease_is_a_car_that_its_board_accepts():
    """Lease times cap is what a car drives blind, and a board refuses more than its file's."""
    vehicle = HOST.vehicles.load("autorally")
    script = vehicle.source("script")
    claim = Claim(script.id, 1, 15, 0.0, 4.8, 0.0, True, 0.156, 0)
    alike = _alike(vehicle, 10.0, [claim]).parameters
    cap_mm_s, lease_ms = alike["source_cap_mm_s"][script.id], alike["source_lease_ms"][script.id]
    assert lease_ms == 156
    assert 4800 <= cap_mm_s < script.speed_cap_mps * 1000
    assert cap_mm_s * lease_ms <= vehicle.parameters["blind_mm"][0] * 1000


@pytest.mark.smoke
def test_in_machine_code_it_says_how_to_ask_without(tmp_path, monkeypatch):
    monkeypatch.setattr(why, "is_in_use", lambda: True)
    with pytest.raises(UsageFault, match="TANDEM_FAST=0 tandem why"):
        asked(tmp_path / "drive.mcap", None)


def test_a_log_compared_with_itself_does_not_miss(tmp_path):
    _, log, found = driven(tmp_path, CONTROL)
    report = asked(log, found.seen_s)
    same = type("Same", (), {"motion": report.tail.motion})
    assert compared(report.tail, report.trigger, same) == (0.0, 0.0, 0.0)
