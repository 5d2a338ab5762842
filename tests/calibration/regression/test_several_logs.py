"""Several logs of one car: what is found does not depend on which of them comes first."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.logs.trace import DriveTrace, Series
from calibration.regression.single_track import front_stiffness, known_understeer
from calibration.regression.speed_map import estimate_speed_map
from calibration.vehicles.identified_car import vehicle_file_values
from host_bridge.config import load_vehicle, vehicle_names
from tests.support.evidence import some

WAIT_S = 0.3
STARTS_S = (1.0, 5.0, 9.0)


def driven(period_s: float) -> DriveTrace:
    """A log with three starts from rest, each of which shows its first count 0.3 s later."""
    t_s = np.arange(0.0, 12.0, period_s)
    target, travel_m = np.zeros(len(t_s)), np.zeros(len(t_s))
    for start_s in STARTS_S:
        target[(t_s >= start_s) & (t_s < start_s + 1.0)] = 0.5
        rolled = np.clip(t_s - start_s - WAIT_S + period_s, 0.0, 1.0)
        travel_m += np.where(t_s >= start_s + WAIT_S - 1e-9, rolled, 0.0)
    return DriveTrace("a", "", "made", "nigel", target=Series(t_s, target[None]),
                 travel=Series(t_s, travel_m[None]))  # fmt: skip


def start_delay(*traces: DriveTrace):
    (found,) = [one for one in estimate_speed_map(traces) if one.name == "start_delay_s"]
    return found


QUICK, SLOW = driven(0.01), driven(0.1)
EMPTY = DriveTrace("b", "", "made", "nigel")


def half(found) -> float:
    return (found.high - found.low) / 2


def test_the_rounding_of_a_start_is_that_of_the_slowest_log_in_any_order():
    assert start_delay(QUICK).value == pytest.approx(WAIT_S, abs=0.02)
    there, back = start_delay(QUICK, SLOW), start_delay(SLOW, QUICK)
    assert half(there) == pytest.approx(half(back))
    assert half(there) > 5 * half(start_delay(QUICK))


def test_a_log_without_a_start_changes_nothing_also_as_the_first():
    alone = start_delay(QUICK)
    for found in (start_delay(EMPTY, QUICK), start_delay(QUICK, EMPTY)):
        assert (found.value, found.low, found.high) == (alone.value, alone.low, alone.high)


def test_understeer_and_stiffness_are_of_one_wheelbase_everywhere():
    for name in some(vehicle_names()):
        vehicle = load_vehicle(name)
        known = known_understeer(vehicle)
        values = vehicle_file_values(vehicle)
        assert known == pytest.approx(values["understeer_s2_per_m2"], rel=1e-12), name
        front, _ = front_stiffness(vehicle, known)
        assert front == pytest.approx(values["tyre_stiffness_front_per_rad"], rel=1e-12), name
