"""``import tandem``: what a script may do, what it may not, and what becomes of its car."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tandem

from calibration.logs.run_log import read_log_runs
from calibration.logs.trace_reader import LogChoices, read_trace
from host_bridge.config import load_vehicle
from host_bridge.core import EventCode, State
from host_bridge.logs import reading
from tests.host_bridge.cars.test_virtual import as_metal
from tests.host_bridge.cli.programs import serving, until
from tests.host_bridge.cli.programs import tandem as command
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support import patience
from tests.support.evidence import some

PAGE = Path(__file__).resolve().parents[3] / "host_bridge" / "api" / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
LEASE_S = 0.12


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


def script(text: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return patience.run(
        [sys.executable, "-c", text],
        cwd=cwd,
        text=True,
        within_s=120,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )


def begun(text: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-u", "-c", text], stdout=subprocess.PIPE, text=True)


# --- the page


@pytest.mark.process(drives=True)
@pytest.mark.xdist_group("wall clock")
@pytest.mark.parametrize("number", range(len(some(EXAMPLES))))
def test_each_example_of_the_page_runs(number, tmp_path):
    done = script(EXAMPLES[number], tmp_path)
    assert done.returncode == 0, done.stderr
    if "savefig" in EXAMPLES[number]:
        assert (tmp_path / "eight.png").stat().st_size > 5_000


def test_the_first_example_has_ten_lines():
    lines = [line for line in EXAMPLES[0].splitlines() if line.strip()]
    assert len(lines) <= 10


# --- in lockstep


def eight(seconds: float) -> list[tuple[float, float]]:
    path = []
    with tandem.open("sim://nigel", lockstep=True) as car:
        car.arm()
        for t_s in car.ticks(seconds):
            car.drive(0.4, 0.0745 if t_s % 30.0 < 15.0 else -0.0745)
            path.append(car.pose[:2])
    return path


def test_a_drive_in_lockstep_is_the_same_each_time_and_goes_where_it_is_told():
    path = eight(12.0)
    assert len(path) == 1200
    assert path == eight(12.0)
    assert max(x for x, _ in path) > 0.8
    assert max(y for _, y in path) > 0.8


def test_a_call_is_one_claim_and_no_call_is_none():
    with tandem.open("sim://nigel", lockstep=True) as car:
        car.arm()
        car.wait(0.05)
        before = car.status.claim_count
        for _ in car.ticks(0.5):
            car.drive(0.2)
        car.wait(0.05)  # shorter than its lease
        assert car.status.claim_count - before == 50
        assert car.state is State.ACTIVE


def test_a_script_that_does_not_call_stops_the_car_within_its_lease():
    with tandem.open("sim://nigel", lockstep=True) as car:
        events = []
        car.on_event(events.append)
        car.arm()
        for _ in car.ticks(1.0):
            car.drive(0.4)
        last_s = car.now_s
        while car.state is State.ACTIVE:
            car.wait(0.01)
        assert car.now_s - last_s <= LEASE_S + 0.03
        assert "fell silent" in car.why_stopped
        with pytest.raises(tandem.StoppedFault, match="nobody can drive") as stopped:
            car.drive(0.4)
        assert "fell silent" in stopped.value.got
        car.wait(1.5)
        assert EventCode.SOURCE_SILENT in [event.code for event in events]
        car.clear()
        car.arm()
        for _ in car.ticks(1.0):
            car.drive(0.4)
        assert car.speed_mps > 0.2


def test_a_fresh_hold_begins_in_neutral_and_letting_go_brakes_and_holds():
    with tandem.open("sim://nigel", lockstep=True) as car:
        car.arm()
        targets = []
        for _ in car.ticks(0.5):
            car.drive(0.4)
            targets.append(car.status.target_mps)
        assert targets[:10] == [0.0] * 10
        assert targets[-1] > 0.3
        for _ in car.ticks(1.0):
            car.let_go()
        assert (car.state, car.speed_mps) == (State.HOLD, 0.0)


def drive_and_fail(opened: tandem.Car) -> None:
    with opened as car:
        car.arm()
        for _ in car.ticks(1.0):
            car.drive(0.4)
        raise KeyError("a mistake")


def test_an_end_in_order_leaves_the_car_disarmed_and_a_failure_stopped():
    with tandem.open("sim://nigel", lockstep=True) as car:
        car.arm()
        for _ in car.ticks(1.0):
            car.drive(0.4)
    assert car.state is State.STANDBY
    car = tandem.open("sim://nigel", lockstep=True)
    with pytest.raises(KeyError):
        drive_and_fail(car)
    assert car.state in (State.STOPPING, State.STOPPED)
    assert "asked for a stop" in car.why_stopped


def test_it_is_driven_by_a_function_too():
    with tandem.open("sim://nigel", lockstep=True) as car:
        car.arm()
        car.run(lambda t_s, car: (0.4 if car.pose[0] < 0.3 else 0.0, 0.0), 3.0)
        assert 0.3 < car.pose[0] < 0.5


def test_a_name_of_an_earlier_version_is_there_and_deprecated():
    with pytest.warns(DeprecationWarning, match="DriveCommand"):
        assert tandem.Wish is tandem.DriveCommand
    with pytest.raises(AttributeError, match="Wash"):
        tandem.Wash  # noqa: B018


def test_what_is_no_number_is_an_error_and_no_claim():
    with tandem.open("sim://nigel", lockstep=True) as car:
        car.arm()
        with pytest.raises(ValueError, match="not finite"):
            car.drive(math.nan)


@pytest.mark.parametrize("uri", ["serial:///dev/ttyACM0", "lossy+pi://nigel", "sim://nogel"])
def test_what_cannot_run_in_lockstep_is_refused(uri):
    with pytest.raises(tandem.TandemError):
        tandem.open(uri, lockstep=True)


def test_its_log_is_arrays(tmp_path):
    path = tmp_path / "drive.mcap"
    with tandem.open("sim://nigel", lockstep=True, record=path) as car:
        car.arm()
        for _ in car.ticks(2.0):
            car.drive(0.4)
        x_m = car.pose[0]
    log = tandem.read_log(path)
    assert list(log) == ["nigel"]
    status, motion = log["nigel"]["status"], log["nigel"]["motion"]
    assert motion["x_m"].dtype == np.float64
    assert motion["x_m"].max() >= x_m > 0.3
    assert np.all(np.diff(status["log_t_s"]) >= 0)
    assert len(status["log_t_s"]) == len(status["speed_mps"]) > 200
    assert "ACTIVE" in status["state"].tolist()
    assert log.facts["tandem"]["version"]
    with pytest.raises(tandem.TandemError, match="such a file"):
        tandem.open("sim://nigel", lockstep=True, record=path)
    with pytest.raises(tandem.TandemError):
        tandem.read_log(__file__)


def test_a_log_of_lockstep_is_a_log_to_every_reader(tmp_path):
    """It names the car, its vehicle and its URI, as the log of an owner does."""
    path = tmp_path / "drive.mcap"
    uri = "sim://nigel?name=red&seed=3"
    with tandem.open(uri, lockstep=True, record=path) as car:
        car.arm()
        for t_s in car.ticks(4.0):
            car.drive(0.4, 0.2 if t_s < 2.0 else -0.2)
        board = car.identity.board_id.hex()
    facts = reading.cars_in(reading.facts(path))["red"]
    assert facts == {
        "uri": uri,
        "vehicle": "nigel",
        "board_id": board,
        "config_hash": car.identity.config_hash.hex(),
    }
    (logged,) = read_log_runs(path, "", load_vehicle)
    assert (logged.vehicle, logged.is_virtual) == ("nigel", True)
    assert read_trace(path, LogChoices(), load_vehicle, None).vehicle == "nigel"


def test_a_calibration_in_the_uri_is_obeyed_in_lockstep_too():
    def end(uri: str) -> tuple[float, float, float]:
        with tandem.open(uri, lockstep=True) as car:
            car.arm()
            for _ in car.ticks(1.5):
                car.drive(0.4, 0.2)
            truth = car.truth()
            return truth.x_m, truth.y_m, truth.yaw_rad

    assert end("sim://nigel?calibration=own") != end("sim://nigel")


def test_with_asyncio_it_is_the_same():
    async def drive() -> tuple[float, float, float]:
        async with await tandem.connect("sim://nigel", lockstep=True) as car:
            await car.arm()
            async for _ in car.ticks(2.0):
                car.drive(0.4)
            return car.pose

    def in_turn() -> tuple[float, float, float]:
        with tandem.open("sim://nigel", lockstep=True) as car:
            car.arm()
            for _ in car.ticks(2.0):
                car.drive(0.4)
            return car.pose

    assert asyncio.run(drive()) == in_turn()


# --- in the time of the world


def test_a_script_holds_no_real_car(monkeypatch):
    as_metal(monkeypatch)
    with tandem.open("sim://nigel") as car:
        with pytest.raises(tandem.TandemError, match="while a person holds the deadman"):
            car.arm()
        with pytest.raises(tandem.StoppedFault):
            car.drive(0.1)


DRIVES = """
import tandem, time
car = tandem.open("red")
car.arm()
for t_s in car.ticks(1.0):
    car.drive(0.3)
print("driving")
"""


def state_of(name: str) -> str:
    done = command("cars", "--json")
    return next(row["state"] for row in json.loads(done.stdout) if row["name"] == name)


@pytest.mark.process(drives=True)
@pytest.mark.xdist_group("wall clock")
@pytest.mark.parametrize(
    ("ending", "why"),
    [
        ("", "asked for a stop"),  # it ends, and nobody closed the car
        ("raise KeyError('a mistake')", "asked for a stop"),
        ("time.sleep(60)", "fell silent"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "fell silent"),
    ],
    ids=["ends", "fails", "hangs", "is killed"],
)
def test_the_car_of_a_script_that_does_not_go_on_stops(ending, why):
    with serving("sim://nigel", "red"):
        driver = begun(DRIVES + ending)
        try:
            assert driver.stdout is not None
            assert driver.stdout.readline() == "driving\n"
            until(lambda: state_of("red") == "STOPPED", "the car to stop")
            output = command("monitor", "red", "--seconds", "0.5").stdout
            assert why in output
        finally:
            driver.send_signal(signal.SIGKILL)
            driver.wait()
