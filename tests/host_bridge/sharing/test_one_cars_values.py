"""The values in which one car may differ from its vehicle file: what each changes, how much."""

from __future__ import annotations

import pytest

from host_bridge.config import load_vehicle
from host_bridge.config.store import Vehicles
from host_bridge.config.store.pairings import Pairings
from host_bridge.core.errors import UsageFault
from host_bridge.sharing.services.configurations import (
    ADJUSTABLE,
    Configurations,
    changed_from_file,
)

UNAIDED = ("brake_decel_mm_s2", "speed_max_mm_s", "source_lease_ms", "stop_timeout_ms")


@pytest.mark.parametrize("vehicle", ["f1tenth", "nigel", "hunter_se", "autorally"])
@pytest.mark.parametrize("name", ADJUSTABLE)
def test_a_value_changes_its_own_parameters_and_no_other_and_its_scale_is_the_files(vehicle, name):
    file, it = load_vehicle(vehicle), ADJUSTABLE[name]
    before = file.parameters[it.parameters[0]][0]
    wanted = 0.02 if name == "step_s" else 0.95 * before * it.scale
    changed = load_vehicle(vehicle, {it.key: wanted})
    differing = {row for row, v in file.parameters.items() if changed.parameters[row] != v}
    assert differing <= set(it.parameters)
    assert changed.parameters[it.parameters[0]][0] * it.scale == pytest.approx(wanted, rel=1e-3)


def test_nothing_that_decides_how_far_a_car_goes_without_its_program_may_differ():
    rows = {row for it in ADJUSTABLE.values() for row in it.parameters}
    assert not rows & set(UNAIDED)
    assert {"accel_mm_s2", "step_us"} <= rows


def test_a_car_may_accelerate_less_than_its_file_and_not_more():
    """A wheel sensor's program on its board takes what is far more sudden for a slip."""
    file = load_vehicle("nigel")
    ADJUSTABLE["accel_mps2"].refuse_more(file, "accel_mps2", 1.0)
    ADJUSTABLE["decel_mps2"].refuse_more(file, "decel_mps2", 9.0)
    with pytest.raises(UsageFault, match="at most its vehicle file's"):
        ADJUSTABLE["accel_mps2"].refuse_more(file, "accel_mps2", 1.01)


def test_a_value_as_the_file_has_it_ends_the_difference(tmp_path):
    pairings = Pairings(tmp_path)
    service = Configurations(Vehicles(pairings), pairings)
    file = load_vehicle("nigel")
    gentler = service._changed(file, {"accel_mps2": 0.5})
    trim = changed_from_file({"channel_neutral": [7]}, file, gentler, ["accel_mps2"])
    assert trim == {"channel_neutral": [7], "accel_mm_s2": [500]}
    again = service._changed(file, {"accel_mps2": 1.0})
    assert changed_from_file(trim, file, again, ["accel_mps2"]) == {"channel_neutral": [7]}
    with pytest.raises(UsageFault, match="at most its vehicle file's"):
        service._changed(file, {"accel_mps2": 3.0})
