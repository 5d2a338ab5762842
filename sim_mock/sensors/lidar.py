"""A planar LIDAR: rays against the walls, with the errors of a real one."""

from __future__ import annotations

from math import cos, sin

import numpy as np

from sim_mock.sensors.parameters import LidarParameters
from sim_mock.sensors.ray_casting import Caster, Floats
from sim_mock.tracks.driving_area import Pose


class Lidar:
    """A planar LIDAR; all rays of a scan are taken at one moment, from one pose of the car.

    ``scan`` has the ranges in m, ray 0 first, to the left: inf is no wall within its range, nan is
    a ray without a return, or with a wall nearer than it can measure. ``truth`` holds the exact
    distances to the walls.
    """

    def __init__(self, parameters: LidarParameters, caster: Caster, lr_m: float, seed: int) -> None:
        """Make a LIDAR; ``caster`` knows the walls.

        ``lr_m`` is the distance from the centre of gravity to the rear axle, which its mounting
        position refers to.
        """
        self._p = parameters
        self._caster = caster
        self._ahead_m = parameters.ahead_m - lr_m
        # The legacy generator: NumPy guarantees that its stream never changes.
        self._random = np.random.RandomState(seed)
        self.scan = self.truth = np.full(int(parameters.rays), np.nan)

    def take(self, car: Pose, others: Floats | None = None) -> Floats:
        """Return a scan from this pose of the car's centre of gravity; ``others`` move."""
        p = self._p
        x_m = car.x_m + self._ahead_m * cos(car.yaw_rad)
        y_m = car.y_m + self._ahead_m * sin(car.yaw_rad)
        first_rad, count = car.yaw_rad + p.first_rad, int(p.rays)
        self.truth = self._caster.cast(
            x_m, y_m, first_rad, p.step_rad, count, p.range_max_m, others
        )
        self.scan = self._as_measured(self.truth)
        return self.scan

    def _as_measured(self, true_m: Floats) -> Floats:
        p, random = self._p, self._random
        scan = true_m + p.noise_m * random.standard_normal(len(true_m))
        scan[random.random_sample(len(scan)) < p.dropout] = np.nan
        scan[scan > p.range_max_m] = np.inf
        scan[scan < p.range_min_m] = np.nan
        return scan
