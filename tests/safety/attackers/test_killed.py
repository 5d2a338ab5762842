"""A test that is killed leaves nothing behind: no car, no station, no browser, and no attacker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.host_bridge.cli.programs import program, serving
from tests.host_bridge.station.chromium import Chromium, found
from tests.safety.attackers import logins, tries
from tests.safety.attackers.attack import Notes, attacking
from tests.support import patience
from tests.support.evidence import some

LEFT = "TANDEM_TEST_LEFT_BEHIND"  # the file into which a victim writes what runs below it
WITHIN_S = 60.0


def below(pid: int) -> list[list[int]]:
    """Each process that this one started, and that those did: its id, and when it was started."""
    children: dict[int, list[tuple[int, int]]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        fields = fields_of(path)
        if fields:
            children.setdefault(int(fields[1]), []).append((int(path.parent.name), int(fields[19])))
    rows: list[list[int]] = []
    waiting = [pid]
    while waiting:
        for child, started in children.get(waiting.pop(), ()):
            rows.append([child, started])
            waiting.append(child)
    return rows


def fields_of(path: Path) -> list[str]:
    """Those behind the name, of proc(5): state, parent, ...; none of one that has gone."""
    try:
        return path.read_text().rpartition(")")[2].split()
    except OSError:
        return []


def is_running(row: list[int]) -> bool:
    pid, started = row
    fields = fields_of(Path(f"/proc/{pid}/stat"))
    return bool(fields) and int(fields[19]) == started and fields[0] != "Z"


# --- the victims: each is a test, if pytest is told so, and waits to be killed


def wait_to_be_killed() -> None:
    Path(os.environ[LEFT]).write_text(json.dumps(below(os.getpid())))
    time.sleep(600.0)


@pytest.mark.process
def victim_of_programs(shared):
    """Cars, a station, and what that starts."""
    with (
        serving("sim://nigel", "car"),
        program("station", "--port", str(tries.free_port())) as station,
    ):
        assert station.stdout is not None
        assert station.stdout.readline()
        wait_to_be_killed()


def idle(notes: Notes) -> None:
    notes.did(1)
    time.sleep(600.0)


@pytest.mark.process
def victim_of_attackers(shared):
    with attacking(3, idle):
        wait_to_be_killed()


@pytest.mark.browser
def victim_of_browsers(shared):
    browser = Chromium()
    browser.page("about:blank#1")
    wait_to_be_killed()


# --- killed


def killed(victim: str, number: int, folder: Path) -> list[list[int]]:
    """Run this victim until it waits, and kill it: what had run below it."""
    written = folder / "left"
    words = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider"]
    asked = ["-o", f"python_functions={victim}", __file__]
    run = subprocess.Popen(
        [*words, *asked],
        cwd=Path(__file__).parents[3],
        env={**os.environ, LEFT: str(written)},
        stdin=subprocess.DEVNULL,
        stdout=(folder / "said").open("w"),  # a pipe would be held by what is left behind
    )

    def is_waiting() -> bool:
        assert run.poll() is None, (folder / "said").read_text()
        return written.exists() and written.read_text() != ""

    try:
        patience.until(is_waiting, f"{victim} to wait", WITHIN_S)
        rows: list[list[int]] = some(json.loads(written.read_text()))
        assert [row for row in rows if not is_running(row)] == []
    finally:
        run.send_signal(number)
        run.wait()
    return rows


def judged(rows: list[list[int]], at_least: int) -> None:
    assert len(rows) >= at_least
    patience.until(lambda: not any(map(is_running, rows)), f"the end of {rows}", WITHIN_S)


@pytest.mark.process
@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_programs_and_what_they_started_end_with_a_test_that_is_killed(tmp_path, number):
    judged(killed("victim_of_programs", number, tmp_path), at_least=4)


@pytest.mark.process
@pytest.mark.exhaustive
@logins.as_root
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_attackers_end_with_a_test_that_is_killed(tmp_path, number):
    judged(killed("victim_of_attackers", number, tmp_path), at_least=5)


@pytest.mark.browser
def test_a_browser_ends_with_a_test_that_is_killed(tmp_path):
    found()
    judged(killed("victim_of_browsers", signal.SIGKILL, tmp_path), at_least=4)
