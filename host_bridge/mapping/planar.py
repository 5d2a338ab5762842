"""Poses in the plane: x and y in m, yaw in rad, positive to the left; one row each in arrays."""

from __future__ import annotations

from math import cos, pi, sin, tau

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def composed(first: Floats, second: Floats) -> Floats:
    """Return the pose ``second``, which is seen from ``first``, in the frame of ``first``."""
    c, s = cos(first[2]), sin(first[2])
    x_m, y_m, yaw_rad = second
    return np.array(
        (first[0] + c * x_m - s * y_m, first[1] + s * x_m + c * y_m, first[2] + yaw_rad)
    )


def between(first: Floats, second: Floats) -> Floats:
    """Return the pose ``second`` as seen from ``first``, both in one frame."""
    c, s = cos(first[2]), sin(first[2])
    x_m, y_m = second[:2] - first[:2]
    return np.array((c * x_m + s * y_m, c * y_m - s * x_m, wrapped(second[2] - first[2])))


def moved(points_m: Floats, pose: Floats) -> Floats:
    """Return points, rows of x and y seen from ``pose``, in the frame of the pose."""
    c, s = cos(pose[2]), sin(pose[2])
    return np.asarray(points_m @ np.array(((c, s), (-s, c))) + pose[:2])


def wrapped(angle_rad: float) -> float:
    """Return the angle between -pi and pi."""
    return (angle_rad + pi) % tau - pi
