"""A planner in a process of its own: what it plans, and what is told when it dies or hangs."""

import json
import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="law=mppi needs tandem-cars[mppi]")

from host_bridge.inputs.paths.mppi.plan_driving import PlanDriving
from host_bridge.inputs.paths.mppi.planner import Planner
from host_bridge.inputs.paths.mppi.sources import InlinePlanner, PlannerProcess
from host_bridge.inputs.paths.path_file import write_path
from tests.host_bridge.cli.programs import program
from tests.host_bridge.inputs.paths.mppi.made_planner import ROUND, request_at, task_of
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support import patience

T_US = 1_000_000


@pytest.fixture
def planner():
    made = PlannerProcess(task_of(), request_at())
    yield made
    made.close()


def answered(planner, request):
    planner.ask(request)
    patience.until(lambda: planner.newest().begin_us == request.now_us, "a plan", 10.0)
    return planner.newest()


@pytest.mark.process
@pytest.mark.smoke
def test_its_plans_are_those_of_a_planner_in_this_process_and_killed_it_stops_the_car(planner):
    here = Planner(task_of())
    assert planner.newest() == here.plan(request_at())
    request = request_at(T_US)
    assert answered(planner, request) == here.plan(request)
    driving = PlanDriving(planner)
    assert driving.step(request)[1] == ""
    os.kill(planner.pid, signal.SIGKILL)
    patience.until(lambda: driving.step(request)[1] == "The planner has ended", "its end", 10.0)


@pytest.mark.process
def test_one_that_hangs_is_not_waited_for_and_stops_the_car(planner):
    driving = PlanDriving(planner)
    answered(planner, request_at(T_US))
    driving.step(request_at(T_US))
    os.kill(planner.pid, signal.SIGSTOP)
    for after_us in range(0, 150_001, 10_000):
        driving.step(request_at(T_US + after_us))
    assert "ms old, at most 150" in driving.step(request_at(T_US + 400_000))[1]


def test_in_virtual_time_the_answer_is_there_at_once():
    source = InlinePlanner(task_of())
    source.ask(request_at(T_US))
    assert source.newest().begin_us == T_US
    assert source.fault() == ""


def planner_of(pid):
    """The planner that this drive started."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it ended meanwhile
        if parent == pid and b"mppi.worker" in words:
            return int(folder.name)
    raise AssertionError("no planner")


@pytest.mark.process(drives=True)
@pytest.mark.exhaustive(as_a_whole=True)  # some seconds in wall time
@pytest.mark.parametrize(
    ("what", "why"),
    [(signal.SIGKILL, "The planner has ended"), (signal.SIGSTOP, "The planner's newest plan is")],
)
def test_a_car_that_drives_is_stopped_when_its_planner_dies_or_hangs(
    tmp_path, monkeypatch, what, why
):
    line = tmp_path / "line.csv"
    write_path(line, ROUND)
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))
    words = ("--input", f"path:{line}?law=mppi&laps=0", "--speed", "1.5", "--seconds", "60")
    with (
        runtime_folder(monkeypatch),
        program("drive", "--car", "sim://f1tenth_vesc", *words, "--json") as driven,
    ):
        fast = (row for row in map(json.loads, driven.stdout) if row.get("speed_mps", 0.0) > 1.2)
        for _ in range(10):  # a row comes ten times a second
            assert next(fast, None), "it is stopped before"
        os.kill(planner_of(driven.pid), what)
        said, _ = patience.communicate(driven, 30.0)
    assert driven.returncode == 1
    assert why in said
