"""A board that answers no more, seen from the host: what a person is told, and how fast.

Its program is suspended as it is: its port stays open, nothing comes from it, nothing is taken.
"""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from host_bridge.cars import virtual_cars
from host_bridge.config import load_vehicle
from host_bridge.core.errors import DeviceFault
from tests.host_bridge.cli.programs import program, serving, tandem, until
from tests.support import patience

pytestmark = pytest.mark.process(drives=True)

TOLD_S = 2.0  # 0.35 on a machine that does nothing else


@pytest.fixture
def board(tmp_path, monkeypatch) -> Iterator[subprocess.Popen[str]]:
    """A car's own process, served as "car"."""
    monkeypatch.setenv("TANDEM_RUNTIME_DIR", str(tmp_path / "run"))
    link = tmp_path / "port"
    process = virtual_cars.start(load_vehicle("nigel"), {}, ["--link", str(link)])
    try:
        until(link.exists, "the virtual car's port")
        with serving(f"serial://{link}", "car"):
            yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.communicate()


class Heard:
    """What a monitor printed, and when."""

    def __init__(self, monitor: subprocess.Popen[str]) -> None:
        self.rows: list[tuple[float, dict[str, Any]]] = []
        self._monitor = monitor
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._monitor.stdout is not None
        for line in self._monitor.stdout:
            self.rows.append((time.monotonic(), json.loads(line)))

    def since(self, begun_s: float, topic: str) -> list[tuple[float, dict[str, Any]]]:
        return [row for row in list(self.rows) if row[0] > begun_s and row[1]["topic"] == topic]


def test_a_silent_board_is_told_at_once_and_blocks_nothing(board):
    with program("monitor", "car", "--json") as monitor:
        heard = Heard(monitor)
        until(lambda: bool(heard.since(0.0, "status")), "the car to be heard")
        begun_s = time.monotonic()
        board.send_signal(signal.SIGSTOP)
        until(lambda: len(heard.since(begun_s, "link")) >= 5, "a monitor that goes on")
        told_s, row = heard.since(begun_s, "link")[0]
        patience.took(begun_s, TOLD_S, "a silent board is told", 0.1, told_s)
        assert row["is_up"] is False
        assert "nothing comes from the car" in row["text"]
        assert "remedy: has the board power" in row["text"]
        again_s = time.monotonic()
        board.send_signal(signal.SIGCONT)
        until(lambda: bool(heard.since(again_s, "status")), "the car to be heard again")


@pytest.mark.parametrize("command", [("arm", "car"), ("monitor", "car")])
def test_a_command_to_a_silent_board_ends_and_says_what_to_do(board, command):
    board.send_signal(signal.SIGSTOP)
    done = tandem(*command)
    assert done.returncode == DeviceFault.exit_code
    assert "nothing comes from the car\n  got: silence for 2 s" in done.stderr
    assert "remedy: has the board power" in done.stderr


def test_a_stop_that_a_silent_board_does_not_acknowledge_names_the_other_ways(board):
    board.send_signal(signal.SIGSTOP)
    done = tandem("stop", "car")
    assert done.returncode == DeviceFault.exit_code
    assert "NOT ACKNOWLEDGED within 1 s. Use its runstop, or cut its power." in (
        done.stdout + done.stderr
    )
