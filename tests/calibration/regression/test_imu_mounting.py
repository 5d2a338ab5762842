"""How the inertial sensor is turned in the car: told of a drive both ways, and not of a circle."""

import numpy as np
import pytest

from calibration.logs.trace import DriveTrace, Series
from calibration.regression.imu_mounting import estimate_imu_yaw

TURNED_RAD, AHEAD_M, STEP_S = 0.1, 0.15, 0.02


def driven(curvatures_per_m):
    """Three speeds, each reached within 1 s, on each of these bends in turn; a noisy sensor."""
    noise = np.random.default_rng(2)
    legs = [(speed, bend) for bend in curvatures_per_m for speed in (0.7, 1.4, 2.1)]
    t_s = np.arange(0.0, 5.0 * len(legs), STEP_S)
    wanted, bends = (
        np.array(column)[(t_s / 5.0).astype(int)] for column in zip(*legs, strict=True)
    )
    speed = np.convolve(wanted, np.ones(50) / 50, "same")
    yaw = speed * bends
    felt = np.gradient(speed, STEP_S) + 1j * speed * yaw
    felt += AHEAD_M * (1j * np.gradient(yaw, STEP_S) - yaw**2)
    felt = felt * np.exp(-1j * TURNED_RAD) + 0.05
    felt += 0.05 * (noise.normal(size=len(t_s)) + 1j * noise.normal(size=len(t_s)))
    columns = np.array([yaw, felt.real, felt.imag])
    travel = Series(t_s, np.cumsum(speed * STEP_S)[None, :])
    return DriveTrace("a", "", "made", "f1tenth", travel=travel, inertial=Series(t_s, columns))


def test_a_drive_both_ways_tells_how_the_sensor_is_turned():
    found = estimate_imu_yaw([driven([0.8, -0.8])])
    assert found.low <= -TURNED_RAD <= found.high
    assert found.value == pytest.approx(-TURNED_RAD, abs=0.02)


def test_a_circle_to_one_side_does_not_tell_it():
    found = estimate_imu_yaw([driven([0.8, 0.8])])
    assert not found.is_estimated
    assert "one way only" in found.why
    assert estimate_imu_yaw([driven([0.8, 0.8]), driven([-0.8])]).is_estimated
