"""``tandem ros`` and users' nodes in processes of their own, under a real rclpy."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Sequence

import pytest

from tests.ros import real_ros
from tests.ros.real_ros import NODES, PYTHON
from tests.support import patience

BOOL = "std_msgs/msg/Bool"
UNTIL_S = 45.0  # of an idle machine


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> dict[str, str]:
    log = str(tmp_path_factory.mktemp("log"))
    return real_ros.environment(log, 20 + os.getpid() % 80, "LOCALHOST")


class Running:
    """``tandem ros`` in its process, whose lines of JSON are read while it runs."""

    def __init__(self, environment: dict[str, str], car: str, words: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            [PYTHON, "-m", "host_bridge.cli.main", "ros", "--car", car,
             "--json", *words],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._begin_reading()

    def _begin_reading(self) -> None:
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        # Always: what is not read within some ten seconds is left out
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def until(self, is_so, seconds: float = UNTIL_S) -> dict:
        """The first row from the last one on that is so, or the summary.

        Raises patience.Hang where none comes, AssertionError where the program ends before: a busy
        machine may end it, as a car does not arm over a link that it lost.
        """
        deadline = patience.Deadline(seconds)
        row: dict = {}
        while not deadline.is_over():
            try:
                text = self._lines.get(timeout=1.0)
            except queue.Empty:
                continue
            if not text:
                raise AssertionError(f"it ended before it came to that: {row}")
            row = json.loads(text)
            if "summary" in row or is_so(row):
                return row
        raise patience.Hang(f"it has not come to that, {deadline.told()}: {row}")

    def until_it_drives(
        self, is_so, nodes, namespace: str = "", seconds: float = UNTIL_S, stops: int = 8
    ) -> dict:
        """Until then, armed again where a machine busy with other tests made it stop."""
        deadline = patience.Deadline(seconds)
        while stops > 0 and not deadline.is_over():
            row = self.until(lambda row: is_so(row) or row.get("phase") == "stopped", seconds)
            if is_so(row):
                return row
            armed = nodes("service_caller", f"{namespace}/tandem/arm")
            if armed.stdout.readline().startswith("True"):  # past the lines of before that
                self.until(lambda row: row.get("phase") != "stopped", seconds)
                stops -= 1
        raise AssertionError(f"it stops again and again: {row}")

    def hears_while_driving(
        self, is_so, nodes, seconds: float, topics: dict[str, str], namespace: str = ""
    ) -> dict[str, dict]:
        """What topics say while it drives so; listens anew where a busy machine made it stop."""
        stopped = f"{namespace}/tandem/is_stopped"
        words = [f"{it}={kind}" for it, kind in ({**topics, stopped: BOOL}).items()]
        for _ in range(4):
            self.until_it_drives(is_so, nodes, namespace)
            heard = json.loads(nodes("listener", str(seconds), *words).stdout.readline())
            told = heard.pop(stopped)
            if told["count"] == 1 and told["message"]["data"] is False:
                return heard
            self.until(lambda row: row.get("phase") == "stopped")  # past the lines of before that
        raise AssertionError("it stops each time that somebody listens")

    def until_ended(self, node: subprocess.Popen, nodes) -> None:
        """Until that node has done what it does, armed again as above."""
        self.until_it_drives(lambda row: node.poll() is not None, nodes, seconds=1000.0, stops=12)


@pytest.fixture
def nodes(environment):
    started: list[subprocess.Popen] = []

    def start(name: str, *words: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [PYTHON, str(NODES / f"{name}.py"), *words],
            env=environment, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "talking"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def started(environment):
    """Starts ``tandem ros`` with a car and options, and ends it."""
    running: list[Running] = []

    def start(car: str = "sim://f1tenth", *words: str, seconds: float = 900) -> Running:
        running.append(Running(environment, car, [*words, "--seconds", str(seconds)]))
        return running[-1]

    yield start
    for it in running:
        it.process.kill()
        it.process.wait()


@pytest.fixture
def ros(started):
    return started()
