"""``tandem selftest`` as somebody runs it on a car with a VESC: processes, a pseudo-terminal, the
board's own program on a virtual chip, a VESC that speaks the real bytes. In real time: of a machine
with too much else to do both ends give each other up, so `make soak` runs it."""

import json
import subprocess
import sys
from contextlib import contextmanager

import pytest

from tests.host_bridge.cli.programs import program
from tests.support import patience

pytestmark = pytest.mark.soak
CAR = [sys.executable, "-m", "tests.host_bridge.deploy.selftest.car_with_vesc"]
STARTS_S, TEST_S = 20, 90
TURNS = 4


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_FAST", "0")  # a car on the bench is of a class of its own
    monkeypatch.setenv("TANDEM_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))


@contextmanager
def car_with_vesc(folder, *changes):
    """Its process, and its port."""
    folder.mkdir()
    words = [*CAR, str(folder), *changes]
    with subprocess.Popen(words, stdin=-1, stdout=-1, text=True) as car:
        try:
            yield car, car.stdout.readline().strip()
        finally:
            car.stdin.close()
            car.wait(STARTS_S)


def once(car, device):
    """Its exit code, rows and words; somebody turns the loop as it asks."""
    said = ""
    words = ("selftest", f"serial://{device}", "--attest", "wheels-off-ground", "--json")
    with program(*words) as test:
        for line in test.stderr:
            said += line
            if line.startswith(("Open", "Close")):
                print("runstop", line.split()[0].lower(), file=car.stdin, flush=True)
        out, _ = patience.communicate(test, TEST_S)
    return test.returncode, {row["what"]: row for row in json.loads(out or "[]")}, said


def selftest(tmp_path, *changes):
    """Its exit code and rows. On a machine that has no time at all a car and its host hear nothing
    for too long, and are right to give up: then once more."""
    for turn in range(TURNS):
        with car_with_vesc(tmp_path / f"board_{turn}", *changes) as (car, device):
            code, rows, said = once(car, device)
        if rows:
            break
    assert rows, said
    return code, rows


def test_a_good_car_with_a_vesc_passes_all_of_it(tmp_path):
    code, rows = selftest(tmp_path)
    bad = [row for row in rows.values() if row["is_good"] is False]
    assert (code, bad) == (0, [])
    for what in ("battery", "imu", "steering left", "drive", "speed", "VESC kill switch"):
        assert rows[what]["is_good"] is True, what
    for what in ("VESC timeout", "VESC brake", "runstop latches", "clear"):
        assert rows[what]["is_good"] is True, what


def test_a_vesc_as_it_comes_out_of_its_box_is_found(tmp_path):
    """A second's timeout, no brake, nothing at its kill switch."""
    changes = ("timeout_us=1_000_000", "brake_a=0.0", "is_wired=False")
    code, rows = selftest(tmp_path, *changes)
    assert code == 1
    bad = {row["what"] for row in rows.values() if row["is_good"] is False}
    assert bad == {"VESC kill switch", "VESC timeout", "VESC brake"}
    assert "its tool" in rows["VESC timeout"]["remedy"]
