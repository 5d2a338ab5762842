"""A made room with a LIDAR that drives through it, and an odometry that is off."""

from __future__ import annotations

from math import pi

import numpy as np

from host_bridge.mapping.drives import ScanSample
from host_bridge.mapping.planar import between, composed
from sim_mock.sensors.ray_casting import RayCaster

RAYS = 541  # over 270 degrees
FIRST_RAD, STEP_RAD = -0.75 * pi, 1.5 * pi / (RAYS - 1)
RANGE_M = 10.0


def walls_of(*corners):
    """Closed walls through the corners, rows of x1, y1, x2, y2."""
    points = np.array(corners, dtype=float)
    return np.hstack((points, np.roll(points, -1, axis=0)))


# An L of two corridors, 2 m wide, with a pillar: no two places in it look alike
HALL = np.vstack(
    (
        walls_of((-1, -1), (9, -1), (9, 7), (7, 7), (7, 1), (-1, 1)),
        walls_of((3.0, -0.6), (3.3, -0.6), (3.3, -0.3), (3.0, -0.3)),
    )
)


def scan_at(pose, odometry=None, walls=HALL, seed=1, noise_m=0.01, taken_s=0.0):
    """The scan of a LIDAR that sits on the point the car turns about."""
    x, y, yaw = pose
    ranges = RayCaster(walls).cast(x, y, yaw + FIRST_RAD, STEP_RAD, RAYS, RANGE_M)
    ranges = ranges + noise_m * np.random.default_rng(seed).standard_normal(RAYS)
    ranges[~np.isfinite(ranges)] = np.nan
    bearings = FIRST_RAD + STEP_RAD * np.arange(RAYS)
    return ScanSample(taken_s, bearings, ranges, np.array(pose if odometry is None else odometry))


def drive(poses, scale=1.02, drift_rad=0.004, seed=1):
    """Scans at the poses, and an odometry that counts 2 % too much and turns away."""
    odometry, before = np.array(poses[0], dtype=float), np.array(poses[0], dtype=float)
    found = []
    for place, pose in enumerate(np.array(poses, dtype=float)):
        step = between(before, pose) * np.array((scale, scale, 1.0))
        step[2] += drift_rad if place else 0.0
        odometry, before = composed(odometry, step), pose
        found.append(scan_at(pose, odometry, seed=seed + place, taken_s=0.05 * place))
    return found


def lap(step_m=0.25):
    """Poses through the hall to its end, and the same way back again, backwards."""
    there = [(x, 0.2, 0.0) for x in np.arange(0.0, 7.0, step_m)]
    bend = [(7.0 + np.sin(a), 1.2 - np.cos(a), a) for a in np.arange(0.0, pi / 2, step_m / 1.0)]
    up = [(8.0, y, pi / 2) for y in np.arange(1.2, 5.5, step_m)]
    way = [*there, *bend, *up]
    return way + way[::-1]
