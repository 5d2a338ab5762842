"""A car that may move never waits for the garbage collector: between steps nothing is allocated."""

import os
from pathlib import Path

import pytest

from sim_mock.runtime import micropython
from tests.support import patience

ROOT = Path(__file__).resolve().parents[4]
TURNS = 200


@pytest.mark.process
@pytest.mark.parametrize("bits", [32, 64])
def test_the_loop_of_a_moving_car_takes_nothing_from_the_heap(bits):
    """A collection takes an RP2040 8 ms; with a step of 13 ms and what the link takes, too much."""
    command = micropython.find(bits)
    if command is None:
        pytest.skip(f"no {bits}-bit MicroPython here; make setup fetches one where it can")
    done = patience.run(
        [*command, str(ROOT / "tests/support/device/turns_of_moving_car.py"), str(TURNS)],
        cwd=ROOT,
        text=True,
        within_s=60,
        env={**os.environ, "MICROPYPATH": f"{ROOT}{os.pathsep}.frozen"},
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert int(done.stdout) > TURNS // 10
