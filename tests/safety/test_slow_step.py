"""A step of 20 ms, the longest that a vehicle file may ask for: what of its promises it keeps.

Not all: with interrupts off the guard takes longer than a tenth of a second (firmware/README.md).
"""

import pytest

from host_bridge.config import load_vehicle
from host_bridge.errors import VehicleFileFault
from sim_mock.faults.running import run
from tests.safety.facts import FOLDER

CASES = ("stop-at-3", "total-silence", "frozen-input", "board-wrap-silence", "runstop-opens",
         "lets-go", "loop-hangs")  # fmt: skip


def slow_file(tmp_path, step_s: str):
    text = (FOLDER / "f1tenth.toml").read_text()
    assert "\nstep_s = 0.01\n" in text
    path = tmp_path / "slow.toml"
    path.write_text(text.replace("\nstep_s = 0.01\n", f"\nstep_s = {step_s}\n"))
    return str(path)


@pytest.mark.parametrize("case", CASES)
def test_a_car_of_twenty_milliseconds_a_step_stops_within_its_limits(tmp_path, case):
    result = run(case, load_vehicle(slow_file(tmp_path, "0.02")), 1)
    assert result.wrong == ()


def test_a_longer_step_is_refused(tmp_path):
    with pytest.raises(VehicleFileFault, match="step_s"):
        load_vehicle(slow_file(tmp_path, "0.021"))
