"""The biases of an inertial sensor at rest, and of one that is not there."""

import numpy as np

from calibration.logs.trace import DriveTrace, Series
from calibration.regression.imu_bias import estimate_imu_biases
from tests.support.evidence import every


def at_rest(accel_mps2):
    times_s = np.arange(0.0, 12.0, 0.02)
    yaw = 0.01 + 0.002 * np.sin(np.arange(len(times_s)))
    still = np.zeros_like(times_s)
    rows = np.array([yaw, still + accel_mps2, still + accel_mps2])
    travel, inertial = Series(times_s, still[None, :]), Series(times_s, rows)
    return DriveTrace("made", "", "made", "f1tenth", travel=travel, inertial=inertial)


def test_without_an_accelerometer_only_the_gyros_bias_is_told():
    yaw, *accels = estimate_imu_biases([at_rest(0.0)])
    assert yaw.low < 0.01 < yaw.high
    assert [one.is_estimated for one in accels] == [False, False]
    assert {one.why for one in accels} == {"it tells no accelerations"}


def test_with_one_all_three_are_told():
    assert every(one.is_estimated for one in estimate_imu_biases([at_rest(0.05)]))
