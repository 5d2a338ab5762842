"""Wind and slope: what they push a car by, and that a car without them is as it was."""

from math import atan, cos, pi, sin

import pytest

from sim_mock.plant.body import GRAVITY_MPS2
from sim_mock.plant.parameters import PlantParameters
from sim_mock.plant.vehicle_plant import Plant
from tests.sim_mock.plant.cars import NEUTRAL, f1tenth_mapping

QUIET = {"yaw_rate_noise_radps": 0.0, "yaw_rate_bias_radps": 0.0, "accel_noise_mps2": 0.0,
         "accel_bias_mps2": 0.0, "rate_hz": 1000.0}  # fmt: skip


def car(wind=(0.0, 0.0), rise=(0.0, 0.0), yaw_rad=0.0, speed_mps=0.0, **drive):
    plant = Plant(PlantParameters.from_mapping(f1tenth_mapping(imu=QUIET, drive=drive)), 1)
    plant.put_outdoors(wind, rise)
    plant.truth.assign((0.0, 0.0, yaw_rad, speed_mps, 0.0, 0.0))
    return plant


def rolled(plant, ms, enable=False):
    for _ in range(ms):
        plant.step(1e-3, NEUTRAL, enable)
    return plant


@pytest.mark.parametrize("yaw_rad", [0.0, pi / 2, 2.5])
def test_a_car_rolls_down_a_slope_by_its_weight_less_its_friction(yaw_rad):
    """The whole mass, turning wheels too, by m g (sin a - friction)."""
    rise = sin(atan(0.2))
    free = {"rolling_resistance": 0.0, "friction_n": 0.0, "drag_n_per_mps2": 0.0}
    plant = car(rise=(rise * cos(yaw_rad), rise * sin(yaw_rad)), yaw_rad=yaw_rad, **free)
    p = plant.parameters
    share = p.body.mass_kg / (p.body.mass_kg + p.drive.rotating_mass_kg)
    rolled(plant, 1000)
    assert plant.truth.vx_mps == pytest.approx(-GRAVITY_MPS2 * rise * share, rel=0.02)
    assert plant.truth.vy_mps == pytest.approx(0.0, abs=1e-6)


def test_friction_holds_a_car_on_a_gentle_slope():
    plant = rolled(car(rise=(0.02, 0.0)), 2000)
    assert plant.truth.x_m == 0.0
    assert plant.imu.measured[1] == pytest.approx(0.02 * GRAVITY_MPS2), "it leans on its wheels"


def test_a_car_that_rolls_freely_feels_no_slope_along_it():
    free = {"rolling_resistance": 0.0, "friction_n": 0.0, "drag_n_per_mps2": 0.0,
            "rotating_mass_kg": 1e-3}  # fmt: skip
    plant = rolled(car(rise=(0.1, 0.0), **free), 500)
    assert plant.imu.measured[1] == pytest.approx(0.0, abs=0.01)


def test_wind_from_behind_pushes_up_to_its_own_speed():
    free = {"rolling_resistance": 0.0, "friction_n": 0.0, "drag_n_per_mps2": 2.0}
    plant = rolled(car(wind=(3.0, 0.0), **free), 20_000)
    assert plant.truth.vx_mps == pytest.approx(3.0, rel=0.05)


def test_wind_from_the_side_is_held_by_the_tyres_and_turns_no_car_that_stands():
    plant = rolled(car(wind=(0.0, 15.0)), 1000)
    assert plant.truth.y_m == pytest.approx(0.0, abs=1e-6)


def test_wind_from_the_side_drifts_a_car_that_drives():
    moved = [rolled(car(wind=(0.0, wind), speed_mps=5.0, drag_n_per_mps2=0.05), 800).truth.y_m
             for wind in (0.0, 15.0)]  # fmt: skip
    assert moved[0] == pytest.approx(0.0, abs=1e-9)
    assert moved[1] > 0.002


def test_a_wind_that_has_ceased_pushes_no_longer():
    sides = []
    for wind_mps in (15.0, 0.0):
        plant = rolled(car(wind=(0.0, wind_mps), speed_mps=5.0, drag_n_per_mps2=0.05), 200)
        plant.put_outdoors()
        plant.truth.assign((0.0, 0.0, 0.0, 5.0, 0.0, 0.0))
        sides.append(rolled(plant, 500).truth.y_m)
    assert sides[0] == pytest.approx(sides[1], abs=1e-6)


def test_calm_and_level_is_no_difference_to_the_last_bit():
    begun = [Plant(PlantParameters.from_mapping(f1tenth_mapping()), 3) for _ in range(2)]
    begun[1].put_outdoors()
    ends = []
    for plant in begun:
        plant.truth.assign((0.0, 0.0, 0.3, 4.0, 0.0, 0.5))
        rolled(plant, 700)
        ends.append((plant.truth.values(), plant.imu.measured, plant.counts()))
    assert ends[0] == ends[1]
