"""A car that needs its seat and its owner, and what happens to those programs. Real processes."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.host_bridge.cars.stop_sources import requiring
from tests.host_bridge.cli.programs import program, serving, tandem, virtual_car

pytestmark = pytest.mark.process(drives=True)


@pytest.fixture(autouse=True)
def _runtime_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_RUNTIME_DIR", str(tmp_path / "run"))


@pytest.fixture
def vehicle(tmp_path) -> Path:
    return requiring(tmp_path, "seat", "owner")


@pytest.fixture
def owner(vehicle, tmp_path) -> Iterator[subprocess.Popen[str]]:
    """The car runs on its own: what happens to its owner does not happen to it."""
    link = tmp_path / "port"
    with (
        virtual_car(str(vehicle), link),
        serving(f"serial://{link}", "car", "--vehicle", str(vehicle)) as process,
    ):
        yield process


def rows(monitor: subprocess.Popen[str], topic: str) -> Iterator[dict[str, Any]]:
    assert monitor.stdout is not None
    for line in monitor.stdout:
        row = json.loads(line)
        if row["topic"] == topic:
            yield row


def wait_for(
    monitor: subprocess.Popen[str], topic: str, holds: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    for count, row in enumerate(rows(monitor, topic)):
        if holds(row):
            return row
        assert count < 300, f"thirty seconds of {topic}, and never so: {row}"
    raise AssertionError("the monitor ended")


def is_active(row: dict[str, Any]) -> bool:
    return row["state"] == "ACTIVE"


DRIVE = ("drive", "--car", "car", "--input", "script:straight", "--seconds", "60", "--speed", "0.3")


def test_arming_names_the_seat_that_is_missing_and_not_the_owner_that_is_there(owner):
    refused = tandem("arm", "car")
    assert refused.returncode == 6
    assert "seat: tandem drive is the seat" in refused.stderr
    assert "owner" not in refused.stderr.replace("--attest", "")
    row = json.loads(tandem("arm", "car", "--json").stdout)
    assert "STOP_SOURCE" in row["refusals"]
    assert row["stop_sources_missing"] == ["seat"]


def test_the_car_stops_when_the_seat_is_killed(owner):
    with program("monitor", "car", "--json") as monitor, program(*DRIVE) as seat:
        wait_for(monitor, "status", is_active)
        seat.kill()
        wait_for(monitor, "status", lambda row: row["state"] == "STOPPED")
        wait_for(monitor, "why_stopped", lambda row: "seat, which it needs, was" in row["text"])


def _is_what_hangs(row):
    """What the seat says comes through the owner: whose silence is noticed first is chance."""
    return any(f"{name}, which it needs, was" in row["text"] for name in ("program", "seat"))


def test_the_car_stops_when_its_owner_hangs(owner):
    with program("monitor", "car", "--json") as monitor, program(*DRIVE):
        wait_for(monitor, "status", is_active)
        owner.send_signal(signal.SIGSTOP)
        time.sleep(0.5)  # twice the silence that the car allows
        owner.send_signal(signal.SIGCONT)
        wait_for(monitor, "why_stopped", _is_what_hangs)


def test_one_program_that_is_seat_and_owner_drives_such_a_car(vehicle):
    driven = tandem(
        "drive",
        "--car",
        f"sim://{vehicle}",
        "--input",
        "script:straight",
        "--seconds",
        "2",
        "--json",
    )
    assert driven.returncode == 0, driven.stderr
    summary = json.loads(driven.stdout.splitlines()[-1])["summary"]
    assert summary["is_completed"]
    assert summary["cars"][0]["distance_m"] > 0.2
    assert summary["cars"][0]["stops"] == []
