"""``tandem ros`` and users' nodes in processes of their own, under a real rclpy."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROS = ROOT / ".ros"
NODES = Path(__file__).parent / "nodes"


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> dict[str, str]:
    path = [str(ROOT), str(ROOT / "host_bridge" / "api"), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        "LD_LIBRARY_PATH": str(ROS / "lib"),
        "AMENT_PREFIX_PATH": str(ROS),
        "ROS_LOG_DIR": str(tmp_path_factory.mktemp("log")),
        "ROS_DOMAIN_ID": str(20 + os.getpid() % 80),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
    }


class Running:
    """``tandem ros`` in its process, whose lines of JSON are read while it runs."""

    def __init__(self, environment: dict[str, str], car: str, words: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            [str(ROS / "bin" / "python"), "-m", "host_bridge.cli", "ros", "--car", car,
             "--json", *words],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def until(self, is_so, lines: int = 200) -> dict:
        assert self.process.stdout is not None
        for _ in range(lines):
            text = self.process.stdout.readline()
            if not text:
                break
            row = json.loads(text)
            if "summary" in row or is_so(row):
                return row
        raise AssertionError("it has not come to that")

    def until_it_drives(
        self, is_so, nodes, namespace: str = "", lines: int = 200, stops: int = 4
    ) -> dict:
        """Until then, armed again where a machine busy with other tests made it stop."""
        for _ in range(stops):
            row = self.until(lambda row: is_so(row) or row.get("state") == "STOPPED", lines)
            if is_so(row):
                return row
            armed = nodes("caller", f"{namespace}/tandem/arm")
            if armed.stdout.readline().startswith("True"):  # past the lines of before that
                self.until(lambda row: row.get("state") != "STOPPED", lines)
        raise AssertionError(f"it stops again and again: {row}")

    def until_ended(self, node: subprocess.Popen, nodes) -> None:
        """Until that node has done what it does, armed again as above."""
        self.until_it_drives(lambda row: node.poll() is not None, nodes, lines=10_000, stops=12)


@pytest.fixture
def nodes(environment):
    started: list[subprocess.Popen] = []

    def start(name: str, *words: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [str(ROS / "bin" / "python"), str(NODES / f"{name}.py"), *words],
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

    def start(car: str = "sim://f1tenth", *words: str, seconds: float = 30) -> Running:
        running.append(Running(environment, car, [*words, "--seconds", str(seconds)]))
        return running[-1]

    yield start
    for it in running:
        it.process.kill()
        it.process.wait()


@pytest.fixture
def ros(started):
    return started()
