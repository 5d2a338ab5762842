"""The steering map: slope, end points, sides, and a curve that a servo can have."""

import numpy as np
import pytest

from calibration.bayesian_fit.parameters import known_values
from calibration.simulation.plant_numbers import plant_parameters
from calibration.simulation.steering_model import wheel_shares
from calibration.vehicles.virtual_car import fitted_vehicle
from sim_mock.plant.servo import CalibrationCurve
from tests.calibration.drives import NIGEL

KNOWN = known_values(NIGEL)
COMMANDS = np.linspace(-1.0, 1.0, 41)


def shares(**changes):
    return wheel_shares(COMMANDS, {**KNOWN, **changes})


def test_known_values_leave_the_wheels_as_commanded():
    assert shares() == pytest.approx(COMMANDS, abs=2e-4)


def test_slope_end_points_and_sides():
    map_of = {"steer_gain": 0.2, "steer_lock_ratio": 0.9, "steer_asymmetry": 0.1}
    found = shares(**map_of)
    assert found[[0, -1]] == pytest.approx([-0.81, 0.99], abs=2e-4)
    near = wheel_shares([-1e-3, 0.0, 1e-3], {**KNOWN, **map_of})
    assert near == pytest.approx([-0.00018, 0.0, 0.00022], abs=1e-5)


@pytest.mark.parametrize("lock", [0.05, 0.3, 1.0, 2.0])
@pytest.mark.parametrize("gain", [0.05, 0.5, 2.0])
def test_any_map_in_range_rises_and_holds_beyond_its_ends(gain, lock):
    found = shares(steer_gain=gain, steer_lock_ratio=lock, steer_trim_norm=0.5)
    assert (np.diff(found) > 0.0).all()
    assert found[0] == pytest.approx(found[10], abs=1e-4)  # -1.5 and -1 from the trim


def test_a_virtual_cars_servos_have_this_map():
    values = {**KNOWN, "steer_trim_norm": 0.22, "steer_gain": 0.2}
    steering = plant_parameters(fitted_vehicle(NIGEL, values)).steering
    first = next(iter(steering))
    curve = next(one for one in NIGEL.channels if one["kind"] == "servo_steering")["curve"]
    wheels, inside = CalibrationCurve(first.curve), COMMANDS[1:-1]
    angles_rad, pulses_ns = np.array(curve).T
    found = [
        wheels.angle_rad(np.interp(it * NIGEL.steer_max_rad, angles_rad, pulses_ns))
        for it in inside
    ]
    assert found == pytest.approx(NIGEL.steer_max_rad * wheel_shares(inside, values), abs=5e-4)
