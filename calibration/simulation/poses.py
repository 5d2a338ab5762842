"""Poses of a simulated car, and what an odometry that is mounted somewhere on it makes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.arrays import Floats


@dataclass(frozen=True)
class Poses:
    """The poses of something, sample by sample."""

    x_m: Floats
    y_m: Floats
    yaw_rad: Floats


def as_odometry(
    own: Poses, start: tuple[float, float, float], mount_yaw_rad: float, mount_x_m: float
) -> Poses:
    """Return poses of a car that began at the origin, as an odometry so mounted reports them."""
    x_m, y_m, yaw_rad = start
    turn_rad = yaw_rad + mount_yaw_rad
    ahead_m = own.x_m + mount_x_m * (np.cos(own.yaw_rad) - 1.0)
    aside_m = own.y_m + mount_x_m * np.sin(own.yaw_rad)
    c, s = np.cos(turn_rad), np.sin(turn_rad)
    return Poses(
        x_m + c * ahead_m - s * aside_m, y_m + s * ahead_m + c * aside_m, yaw_rad + own.yaw_rad
    )
