"""Real commands: bounded in time, and none outlives the program that began it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.nightly.parts import ROOT
from tests.nightly.running import run

pytestmark = pytest.mark.process
SOON_S = 20


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def awaited(condition) -> bool:
    ends_s = time.monotonic() + SOON_S
    while not (is_so := condition()) and time.monotonic() < ends_s:
        time.sleep(0.05)
    return is_so


def test_the_exit_code_and_all_that_was_said_come_back(tmp_path):
    ended = run(
        ["sh", "-c", "echo out; echo err >&2; exit 7"], tmp_path / "log", 60, lambda _: None, ROOT
    )
    assert (ended.code, ended.text) == (7, "out\nerr\n")


def test_what_takes_too_long_is_ended_with_its_children(tmp_path):
    ended = run(
        ["sh", "-c", "sleep 300 & echo $!; wait"], tmp_path / "log", 2, lambda _: None, ROOT
    )
    assert ended.code is None
    assert awaited(lambda: not is_alive(int(ended.text.split()[0])))


PROGRAM = """
import sys
from pathlib import Path
from tests.nightly.running import run
run(["sh", "-c", "sleep 300 & echo $!; wait"], Path(sys.argv[1]), 600, lambda _: None, Path("."))
"""


def test_where_the_night_is_killed_its_part_is_killed(tmp_path):
    log = tmp_path / "log"
    night = subprocess.Popen([sys.executable, "-c", PROGRAM, log], cwd=ROOT)
    try:
        assert awaited(lambda: log.exists() and log.read_text().endswith("\n"))
        pid = int(log.read_text())
        assert is_alive(pid)
        os.kill(night.pid, signal.SIGKILL)
        assert awaited(lambda: not is_alive(pid))
    finally:
        night.kill()
        night.wait()
