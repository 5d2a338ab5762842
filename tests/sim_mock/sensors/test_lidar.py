"""The LIDAR: where it looks from, what it gets wrong, and how often."""

from dataclasses import replace
from math import inf, pi

import numpy as np
import pytest

from sim_mock.sensors.lidar import Lidar
from sim_mock.sensors.parameters import LidarParameters
from sim_mock.sensors.ray_casting import RayCaster
from sim_mock.tracks.driving_area import Pose

UST = LidarParameters(40.0, 1081, -135.0, 270.0, 0.06, 10.0, 0.0, 0.0, 0.2733, 0.0)
LR_M = 0.17145
ROOM = np.array([[-3.0, -2, 4, -2], [4, -2, 4, 2], [4.0, 2, -3, 2], [-3.0, 2, -3, -2]])


def lidar(seed=1, walls=ROOM, **changes):
    return Lidar(replace(UST, **changes), RayCaster(walls), LR_M, seed)


def test_it_looks_from_its_mount_ahead_of_the_rear_axle():
    scan = lidar().take(Pose(0.0, 0.0, 0.0))
    assert scan[540] == pytest.approx(4.0 - (0.2733 - LR_M))  # the middle ray: straight ahead
    assert scan[540 + 360] == pytest.approx(2.0)  # 90 degrees to the left
    assert scan[540 - 360] == pytest.approx(2.0)


def test_it_turns_with_the_car():
    scan = lidar().take(Pose(1.0, 0.5, pi / 2))
    assert scan[540] == pytest.approx(1.5 - (0.2733 - LR_M))
    assert scan[540 + 360] == pytest.approx(1.0 + 3.0)  # to the left is the wall at x = -3


def test_a_mount_that_looks_backward_has_its_first_ray_there():
    scan = lidar(first_deg=0.0, span_deg=359.0, rays=360, yaw_deg=180.0).take(Pose(0.0, 0.0, 0.0))
    assert scan[0] == pytest.approx(3.0 + (0.2733 - LR_M))
    assert scan[180] == pytest.approx(4.0 - (0.2733 - LR_M))


def test_the_seed_decides_every_ray():
    taken = [lidar(seed, noise_m=0.01, dropout=0.1).take(Pose(0, 0, 0)) for seed in (1, 1, 2)]
    assert np.array_equal(taken[0], taken[1], equal_nan=True)
    assert not np.array_equal(taken[0], taken[2], equal_nan=True)


def test_noise_is_white_with_the_given_deviation_and_the_truth_is_kept():
    scanner = lidar(noise_m=0.03)
    errors = []
    for _ in range(50):
        errors.append(scanner.take(Pose(0.0, 0.0, 0.1)) - scanner.truth)
    errors = np.array(errors)
    assert errors.std() == pytest.approx(0.03, rel=0.02)
    assert abs(errors.mean()) < 4 * 0.03 / errors.size**0.5
    beside = (errors[:, 1:] * errors[:, :-1]).mean() / 0.03**2
    assert abs(beside) < 4 / errors.size**0.5


def test_so_many_rays_come_back_with_nothing():
    scanner = lidar(dropout=0.05)
    lost = [np.isnan(scanner.take(Pose(0.0, 0.0, 0.0))).mean() for _ in range(50)]
    assert np.mean(lost) == pytest.approx(0.05, rel=0.1)


def test_too_far_is_inf_and_too_near_is_nan():
    wall = np.array([[4.0, -0.01, 4.0, 0.01], [0.15, 1.0, 0.15, 5.0]])
    scanner = lidar(walls=wall, range_max_m=3.0, rays=3, first_deg=0.0, span_deg=90.0)
    assert scanner.take(Pose(0.0, 0.0, 0.0))[[0, 1]].tolist() == [inf, inf]
    near = lidar(walls=np.array([[0.15, -1.0, 0.15, 1.0]]))
    assert np.isnan(near.take(Pose(0.0, 0.0, 0.0))[540])
    assert near.truth[540] == pytest.approx(0.15 - (0.2733 - LR_M))


def test_noise_carries_no_range_beyond_what_it_can_say():
    scan = lidar(noise_m=0.5, range_max_m=4.0).take(Pose(0.0, 0.0, 0.0))
    valid = scan[np.isfinite(scan)]
    assert valid.max() <= 4.0
    assert valid.min() >= 0.06
