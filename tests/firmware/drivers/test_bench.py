"""The virtual machine gives the same under CPython and MicroPython, drivers on it included."""

import os
import sys
from pathlib import Path

import pytest

from sim_mock.runtime import micropython
from tests.support import patience

HERE = Path(__file__).parent
PROGRAM = HERE / "on_the_bench.py"
PATHS = [str(HERE.parents[2]), str(HERE / "virtual")]


def lines_of(command):
    environment = {
        **os.environ,
        "MICROPYPATH": os.pathsep.join([*PATHS, ".frozen"]),
        "PYTHONPATH": os.pathsep.join(PATHS),
    }
    done = patience.run([*command, str(PROGRAM)], env=environment, text=True, within_s=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def expected():
    return lines_of([sys.executable])


@pytest.mark.process
def test_the_drive_on_the_bench_shows_what_it_should(expected):
    assert "guard 3 False 0" in expected or "guard 3 False 1" in expected
    assert "guard 7 True 0" in expected
    assert "runstop True" in expected
    assert "rc 1600 2 wheel 1 1" in expected
    assert "watchdog not fed for longer than its timeout" in expected
    assert sum(line.startswith("refused") for line in expected) == 3


@pytest.mark.micropython
@pytest.mark.parametrize("bits", [64, 32])
def test_the_same_comes_out_under_micropython(bits, expected):
    command = micropython.find(bits)
    if command is None:
        pytest.skip(f"no {bits}-bit MicroPython here; make setup fetches one where it can")
    assert lines_of(command) == expected
