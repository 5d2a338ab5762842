"""A test that passes only when alone is told, and kept."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime, timezone

from tests.tools import second_chance

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)

TWICE = """\
from pathlib import Path

def test_that_passes_the_second_time(request):
    mark = Path(__file__).with_name("ran")
    was_there = mark.exists()
    mark.touch()
    assert was_there

def test_that_always_passes():
    pass
"""


def run(folder, *words):
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *words], cwd=folder, check=False, capture_output=True
    ).returncode


def test_what_passed_the_second_time_is_known_by_pytests_own_record(tmp_path):
    (tmp_path / "test_twice.py").write_text(TWICE)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    assert second_chance.failed(tmp_path) == set()
    assert run(tmp_path) == 1
    name = "test_twice.py::test_that_passes_the_second_time"
    assert second_chance.failed(tmp_path) == {name}
    assert run(tmp_path, "--last-failed") == 0
    assert second_chance.failed(tmp_path) == set()


def test_the_ledger_grows_and_tells_how_often(tmp_path):
    path = tmp_path / "state" / "ledger.csv"
    assert second_chance.rows(path) == []
    second_chance.keep(path, "aaa", {"one", "two"}, NOW)
    second_chance.keep(path, "bbb", {"one"}, NOW)
    found = second_chance.rows(path)
    assert [row["test"] for row in found] == ["one", "two", "one"]
    assert found[0]["when"] == "2026-01-02T03:04:05+00:00"
    assert second_chance.told(found, "bbb") == [
        "passed only when run again, alone (2 times so far): one"
    ]
    assert second_chance.told(found, "ccc") == []


def test_the_place_of_the_ledger_can_be_said(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_CI_LEDGER", str(tmp_path / "own.csv"))
    assert second_chance.ledger_path() == tmp_path / "own.csv"
    monkeypatch.delenv("TANDEM_CI_LEDGER")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert second_chance.ledger_path() == tmp_path / "tandem" / "second_chances.csv"


def test_pytests_record_is_where_it_is_looked_for(tmp_path):
    (tmp_path / "test_wrong.py").write_text("def test_wrong():\n    assert False\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    run(tmp_path)
    assert json.loads((tmp_path / second_chance.FAILED).read_text()) == {
        "test_wrong.py::test_wrong": True
    }
