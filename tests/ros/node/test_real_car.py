"""A car that says that it is real: no topic, no service arms it; a person at its terminal does."""

from __future__ import annotations

import subprocess

import pytest

from tests.host_bridge.drive.terminal.terminals import PRESS, RELEASE, Far
from tests.ros.conftest import Running
from tests.ros.node.test_ros import is_fast, is_stopped
from tests.ros.real_ros import IN_REAL_TIME, NODES, PYTHON

pytestmark = IN_REAL_TIME

ARM = b"\x1b[114u"
TO_DO = "A real car is armed by the person who sees where it stands"


class AtTerminal(Running):
    """``tandem ros`` with a real car, and somebody at its terminal."""

    def __init__(self, environment: dict[str, str], far: Far, *words: str) -> None:
        self.process = subprocess.Popen(
            [PYTHON, str(NODES / "real_car.py"), "ros", "--car", "sim://f1tenth", "--json", *words],
            env=environment, stdin=far.slave, stdout=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        self._begin_reading()


@pytest.fixture
def far():
    terminal = Far(knows_kitty=True)
    yield terminal
    terminal.close()


@pytest.fixture
def real(environment, far):
    it = AtTerminal(environment, far)
    yield it
    it.process.kill()
    it.process.wait()


def held(real: Running, far: Far) -> dict:
    """Driven by ROS 2 while SPACE is held; armed by R where a busy machine made it stop.

    SPACE counts once the program is ready, which has been heard for a moment: else it is let go of,
    and pressed again.
    """
    for _ in range(12):
        real.until(lambda row: "drive drives" in row.get("program", ""))
        far.type(PRESS)
        held_rows = (real.until(lambda row: True) for _ in range(50))
        row = next((it for it in held_rows if is_fast(it) or is_stopped(it)), {})
        if is_fast(row):
            return row
        far.type(RELEASE + (ARM if row else b""))
    raise AssertionError("it is not driven")


def calls(nodes, name: str) -> str:
    return nodes("service_caller", f"/tandem/{name}").stdout.readline().strip()


def test_a_real_car_is_driven_while_somebody_holds_and_armed_by_nobody_else(nodes, real, far):
    nodes("talker", "drive", "1.0", "0.0", "40")
    stands = {("HOLD", 0.0)}  # stopped is what a machine leaves of it that has no time for the node
    rows = [real.until(lambda row: row.get("state") in ("HOLD", "STOPPED")) for _ in range(20)]
    assert {(row["state"], row["speed_mps"]) for row in rows} == stands
    row = held(real, far)
    assert row["commanded_by"] == "ros2"
    far.type(RELEASE)
    real.until(lambda row: row.get("state") in ("HOLD", "STOPPED") and row["speed_mps"] == 0.0)
    assert calls(nodes, "stop").startswith("True")
    real.until(is_stopped)
    for name in ("arm", "clear"):
        assert calls(nodes, name).startswith(f"False {TO_DO}")
    rows = [real.until(lambda row: True) for _ in range(20)]
    assert {row["state"] for row in rows} == {"STOPPED"}
    far.type(ARM)
    held(real, far)


def test_without_a_person_at_its_terminal_a_real_car_is_refused(environment):
    done = subprocess.run(
        [PYTHON, str(NODES / "real_car.py"), "ros", "--car", "sim://f1tenth"],
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "a program drives only while somebody holds SPACE" in done.stderr


def test_a_real_car_that_was_not_armed_at_the_start_is_armed_by_nobody_else(
    environment, nodes, far
):
    real = AtTerminal(environment, far, "--unarmed")
    try:
        real.until(lambda row: row.get("state") == "STANDBY")
        assert calls(nodes, "arm").startswith(f"False {TO_DO}")
        rows = [real.until(lambda row: True) for _ in range(10)]
        assert {row["state"] for row in rows} == {"STANDBY"}
        far.type(ARM)
        real.until(lambda row: row.get("state") == "HOLD")
    finally:
        real.process.kill()
        real.process.wait()
