"""S8: what is put out stays within the steering envelope while the car gains speed.

The board limits the target by the envelope, and the output follows it at the servo's rate. So a
vehicle file is refused whose servo is slower than the envelope narrows.
"""

from __future__ import annotations

import pytest

from firmware.core.motion.steering import Steering
from host_bridge.config import load_vehicle, vehicle_names
from host_bridge.config.vehicle.geometry import envelope_closing_radps
from host_bridge.core import Vehicle
from host_bridge.core.errors import VehicleFileFault
from tests.firmware.core.desk import params_with
from tests.support.evidence import some

STEP_MS = 10
GRAIN_RAD = 2e-6  # of the board's integers
USED = (
    "steer_max_urad", "steer_rate_urad_s", "lateral_accel_mm_s2", "wheelbase_um",
    "speed_max_mm_s", "reverse_max_mm_s",
)  # fmt: skip


def beyond_rad(vehicle: Vehicle, *, slower: float = 1.0) -> float:
    """How far the output is beyond the envelope at worst, from rest to top speed at full lock."""
    numbers = {name: vehicle.parameters[name][0] for name in USED}
    numbers["steer_rate_urad_s"] = round(numbers["steer_rate_urad_s"] * slower)
    steering = Steering()
    steering.configure(params_with(**numbers))
    accel = vehicle.parameters["accel_mm_s2"][0]
    reach = numbers["lateral_accel_mm_s2"] * numbers["wheelbase_um"] * 1000
    worst = -1.0
    for step in range(numbers["speed_max_mm_s"] * 1000 // (accel * STEP_MS) + 100):
        speed = min(max(step - 80, 0) * accel * STEP_MS // 1000, numbers["speed_max_mm_s"])
        steering.step(numbers["steer_max_urad"], speed, STEP_MS)
        limit = min(reach / speed**2, numbers["steer_max_urad"]) if speed else 1e9
        worst = max(worst, (steering.steer_urad - limit) * 1e-6)
    return worst


def closing_radps(vehicle: Vehicle) -> float:
    numbers = {name: values[0] for name, values in vehicle.parameters.items() if values}
    limits = {
        "steer_max_rad": numbers["steer_max_urad"] * 1e-6,
        "lateral_accel_mps2": numbers["lateral_accel_mm_s2"] * 1e-3,
        "speed_max_mps": numbers["speed_max_mm_s"] * 1e-3,
        "reverse_max_mps": numbers["reverse_max_mm_s"] * 1e-3,
        "accel_mps2": numbers["accel_mm_s2"] * 1e-3,
    }
    return envelope_closing_radps(limits, numbers["wheelbase_um"] * 1e-6)


def test_no_vehicle_s_output_leaves_the_envelope_while_it_gains_speed():
    for name in some(vehicle_names()):
        assert beyond_rad(load_vehicle(name)) <= GRAIN_RAD, name


def test_a_servo_slower_than_that_would_leave_it():
    vehicle = load_vehicle("f1tenth")
    rate_radps = vehicle.parameters["steer_rate_urad_s"][0] * 1e-6
    share = closing_radps(vehicle) / rate_radps
    assert beyond_rad(vehicle, slower=share) <= GRAIN_RAD
    assert beyond_rad(vehicle, slower=share / 4) > 0.01


def test_of_a_car_that_never_gets_so_fast_nothing_is_asked():
    assert closing_radps(load_vehicle("nigel")) == 0.0
    assert closing_radps(load_vehicle("f1tenth")) == pytest.approx(0.892, abs=0.001)


def test_a_vehicle_file_with_such_a_servo_is_refused(tmp_path):
    path = tmp_path / "car.toml"
    path.write_text('base = "f1tenth"\ntitle = "a car"\n[limits]\nsteer_rate_radps = 0.5\n')
    with pytest.raises(VehicleFileFault, match="too slow for how fast") as raised:
        load_vehicle(str(path))
    assert "car.toml" in raised.value.where
    assert raised.value.expected == "0.9 rad/s or more at 2.5 m/s^2"
    assert "lower limits.accel_mps2 to 1.4" in raised.value.remedy
    path.write_text(path.read_text() + "accel_mps2 = 1.4\n")
    assert load_vehicle(str(path))
