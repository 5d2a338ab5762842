"""A step of 20 ms, the longest that a vehicle file may ask for, keeps the promises.

These are the cases in which steps are counted, and a few more; `tandem faults` runs all.
"""

import pytest

from host_bridge.config import load_vehicle
from host_bridge.core.errors import VehicleFileFault
from sim_mock.faults.running import run

CASES = ("stop-at-3", "total-silence", "frozen-input", "board-wrap-silence", "runstop-opens",
         "lets-go", "loop-hangs", "interrupts-off", "steps-overrun", "brown-out",
         "steering-pulse-stuck")  # fmt: skip


def slow_file(tmp_path, step_s: str):
    path = tmp_path / "slow.toml"
    path.write_text(f'base = "f1tenth"\n\n[timing]\nstep_s = {step_s}\n')
    return str(path)


@pytest.mark.parametrize("case", CASES)
def test_a_car_of_twenty_milliseconds_a_step_stops_within_its_limits(tmp_path, case):
    result = run(case, load_vehicle(slow_file(tmp_path, "0.02")), 1)
    assert result.wrong == ()


@pytest.mark.parametrize("step_s", ["0.021", "0.009", "0.005", "0.001", "0.0125"])
def test_a_step_for_which_nothing_is_shown_is_refused(tmp_path, step_s):
    with pytest.raises(VehicleFileFault) as caught:
        load_vehicle(slow_file(tmp_path, step_s))
    assert "step_s" in caught.value.where
    assert "0.02" in caught.value.expected
    assert step_s in caught.value.got
    assert caught.value.remedy


@pytest.mark.parametrize("step_s", ["0.010", "0.013", "0.020"])
def test_any_whole_millisecond_in_between_is_taken(tmp_path, step_s):
    assert load_vehicle(slow_file(tmp_path, step_s)).step_s == float(step_s)
