"""A planar LIDAR: rays against the walls, then what a real one makes of them."""

from __future__ import annotations

from math import cos, sin

import numpy as np

from sim_mock.sensors.parameters import LidarParameters
from sim_mock.sensors.ray_casting import Caster, Floats, RayCaster
from sim_mock.tracks.place import Pose


class Lidar:
    """All rays of a scan are taken at one moment, from where the car then is.

    ``scan`` has the ranges in m, ray 0 first, to the left: inf is no wall within its range, nan is
    a ray that came back with nothing, or from a wall nearer than it can measure. ``truth`` is the
    exact distances to the walls.
    """

    def __init__(self, parameters: LidarParameters, caster: Caster, lr_m: float, seed: int) -> None:
        """``caster`` knows the walls. ``lr_m``: from the centre of gravity to the rear axle, which
        its mount counts from."""
        self._p = parameters
        self._caster = caster
        self._ahead_m = parameters.ahead_m - lr_m
        # the legacy generator: its numbers are promised to stay the same for ever
        self._random = np.random.RandomState(seed)
        self.scan = self.truth = np.full(int(parameters.rays), np.nan)

    def take(self, car: Pose, others: Floats | None = None) -> Floats:
        """A scan from where the car's centre of gravity is; ``others``: walls that moved there."""
        p = self._p
        x_m = car.x_m + self._ahead_m * cos(car.yaw_rad)
        y_m = car.y_m + self._ahead_m * sin(car.yaw_rad)
        first_rad, count = car.yaw_rad + p.first_rad, int(p.rays)
        rays = (x_m, y_m, first_rad, p.step_rad, count, p.range_max_m)
        self.truth = self._caster.cast(*rays)
        if others is not None and len(others):
            self.truth = np.minimum(self.truth, RayCaster(others).cast(*rays))
        self.scan = self._as_measured(self.truth)
        return self.scan

    def _as_measured(self, true_m: Floats) -> Floats:
        p, random = self._p, self._random
        scan = true_m + p.noise_m * random.standard_normal(len(true_m))
        scan[random.random_sample(len(scan)) < p.dropout] = np.nan
        scan[scan > p.range_max_m] = np.inf
        scan[scan < p.range_min_m] = np.nan
        return scan
