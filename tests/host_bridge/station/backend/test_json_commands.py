"""A command that the station runs for a page: its answer, its complaint, and how far it is."""

from __future__ import annotations

import asyncio
import sys

import pytest

from host_bridge.core.system.progress import LINES, progress_count
from host_bridge.station.backend import programs

WRITES = """
import json, sys
from host_bridge.core.system.progress import progress_count
for done in range(1, 4):
    progress_count("read back")(done, 3)
print("a word of warning", file=sys.stderr)
print(json.dumps({"changed": 2}))
sys.exit(%d)
"""


@pytest.fixture
def running(monkeypatch):
    """Run this program in place of a command."""

    def run(text):
        begun = asyncio.create_subprocess_exec

        async def exec_(*words, **options):
            assert words[-1] == "--json"
            return await begun(sys.executable, "-c", text, **options)

        monkeypatch.setattr(asyncio, "create_subprocess_exec", exec_)
        told = []
        answer = asyncio.run(programs.run_json_command("config", "write", tell=told.append))
        return answer, told

    return run


@pytest.mark.process
@pytest.mark.smoke
def test_its_progress_is_told_and_is_no_part_of_what_it_complains_of(running):
    (is_done, answer), told = running(WRITES % 0)
    assert (is_done, answer) == (True, {"changed": 2})
    assert told == ["read back: 1 of 3", "read back: 2 of 3", "read back: 3 of 3"]


@pytest.mark.process
def test_what_it_refuses_is_said_in_its_words(running):
    (is_done, answer), _ = running(WRITES % 3)
    assert (is_done, answer) == (False, "a word of warning")


def test_a_line_each_is_told_only_where_somebody_asked_for_it(monkeypatch, capsys):
    progress_count("read")(1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv(LINES, "1")
    progress_count("read")(1, 2)
    assert capsys.readouterr().err == "read: 1 of 2\n"
