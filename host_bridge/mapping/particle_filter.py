"""Monte Carlo localisation: where a car is in a map, by its odometry and its LIDAR.

Particles are poses of the point that the car turns about. Odometry moves them with errors that grow
with the way; a scan weighs them by a likelihood field; heavy ones are drawn again. Where scans fit
worse than they did lately, the car was carried elsewhere: poses from all over the map then join in
until it has been found for five seconds, the better the more likely (D. Fox and others, "Monte
Carlo localization", 1999; "Probabilistic Robotics", section 8.3.3, on failures).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from host_bridge.mapping.likelihood_field import LikelihoodField
from host_bridge.mapping.planar import Floats, between, wrapped

PARTICLES = 2000  # as many as fit into a tenth of a core at 20 Hz; fewer find a lost car later
RAYS = 60  # of a scan, evenly spread: neighbouring rays say the same
# Rays that their evidence counts as: walls are straight, and maps have errors. Less while the car
# is looked for, so that places that look alike all stay until one of them fits no more
_INDEPENDENT, _INDEPENDENT_UNSURE = 12.0, 3.0
# Errors of the odometry, standard deviations: per m of the way, per rad of the turn, and of a step
_PER_M, _PER_RAD, _YAW_PER_M = 0.1, 0.1, 0.06
_STEP_M, _STEP_RAD = 0.002, 0.001
# Shares of a new fit in the mean ones: at 20 Hz a quarter of a second, one, and ten. A place has to
# fit for longer before it is believed than before it is doubted
_FALLING, _RISING, _SLOW = 0.2, 0.05, 0.005
# Of the slow mean: below the one the car is taken to be elsewhere, until it is above the other
_LOST_PART, _FOUND_PART = 0.95, 0.98
# A car that was just found is doubted earlier, for five seconds, and poses from all over the map go
# on to join in: two bends may look alike, and only the way behind them tells them apart
_DOUBTED_PART, _DOUBTED_STEPS = 0.975, 100
_TRIED, _JOIN = 20_000, 200  # poses all over the map, and those of them that join in
_TRIED_RAYS = 20  # enough to tell apart which of so many are worth a try
_NEAR_M, _NEAR_RAD = 0.5, 0.5  # particles so near to the heaviest one are one place
_PLACED_M, _PLACED_RAD = 0.2, 0.1  # standard deviations of a start that somebody names
# Of the weight in one place: no other place fits; and, while it is doubted, another may fit as well
_SURE_PART, _UNSURE_PART = 0.95, 0.6


@dataclass(frozen=True)
class LocatedPose:
    """The pose in the map of the point that the car turns about, x, y in m, yaw in rad.

    With its covariance. ``fit`` is the share of the scan's ends on walls. ``is_lost``: the scans do
    not fit here, or they fit in several places.
    """

    pose: Floats
    covariance: Floats
    fit: float
    is_lost: bool


class ParticleFilter:
    """A localiser in one map; the same seed and inputs give the same poses."""

    def __init__(self, field: LikelihoodField, seed: int, count: int = PARTICLES) -> None:
        self._field = field
        self._random = np.random.default_rng(seed)
        self._count = count
        self._poses = field.free_poses(count, self._random)
        self._weights = np.full(count, 1.0 / count)
        self._odometry: Floats | None = None
        # Lost: scans do not fit. Sure: they do, and nearly all particles are in one place
        self._is_lost, self._is_sure = True, False
        self._doubted = 0  # steps for which it is still doubted that it was found
        self._fast, self._slow = 0.0, 1.0  # of a place that is right in a map that is right

    def place(self, pose: Floats) -> None:
        """Begin at ``pose``, known as well as a person who puts a car down knows it."""
        apart = np.array((_PLACED_M, _PLACED_M, _PLACED_RAD))
        self._poses = pose + apart * self._random.standard_normal((self._count, 3))
        self._weights = np.full(self._count, 1.0 / self._count)
        self._fast, self._is_lost, self._is_sure = 1.0, False, True

    def step(self, odometry: Floats, ends_m: Floats) -> LocatedPose:
        """Return the pose after a scan.

        ``odometry`` is the car's own reckoning when it was taken, ``ends_m`` rows of x, y of its
        rays' ends as seen from the point that the car turns about.
        """
        self._move(odometry)
        ends_m = ends_m[:: max(len(ends_m) // RAYS, 1)]
        self._look_for_doubts()
        self._is_sure &= not self._is_lost
        if self._is_lost or self._doubted:
            self._join(ends_m[:: max(len(ends_m) // _TRIED_RAYS, 1)])
        if len(ends_m):
            rays = _INDEPENDENT if self._is_sure else _INDEPENDENT_UNSURE
            logs = rays * self._field.log_likelihoods(self._poses, ends_m)
            weights = self._weights * np.exp(logs - logs.max())
            self._weights = weights / weights.sum()
        located = self._located(ends_m)
        self._draw()
        part = _FALLING if located.fit < self._fast else _RISING
        self._fast += part * (located.fit - self._fast)
        self._slow += _SLOW * (located.fit - self._slow)
        return located

    def _look_for_doubts(self) -> None:
        if self._is_lost:
            self._doubted = _DOUBTED_STEPS
            part = _FOUND_PART
        else:
            self._doubted = max(self._doubted - 1, 0)
            part = _DOUBTED_PART if self._doubted else _LOST_PART
        self._is_lost = self._fast < part * self._slow

    def _move(self, odometry: Floats) -> None:
        if self._odometry is not None:
            ahead_m, left_m, turn_rad = between(self._odometry, odometry)
            way_m, random = float(np.hypot(ahead_m, left_m)), self._random
            errors = random.standard_normal((self._count, 3))
            apart_m = _PER_M * way_m + _STEP_M
            x = ahead_m + apart_m * errors[:, 0]
            y = left_m + apart_m * errors[:, 1]
            turn_apart = _PER_RAD * abs(turn_rad) + _YAW_PER_M * way_m + _STEP_RAD
            c, s = np.cos(self._poses[:, 2]), np.sin(self._poses[:, 2])
            self._poses[:, 0] += c * x - s * y
            self._poses[:, 1] += s * x + c * y
            self._poses[:, 2] += turn_rad + turn_apart * errors[:, 2]
        self._odometry = odometry

    def _join(self, ends_m: Floats) -> None:
        """Replace the lightest particles by the likeliest of poses all over the map."""
        tried = self._field.free_poses(_TRIED, self._random)
        best = np.argsort(self._field.log_likelihoods(tried, ends_m))[-_JOIN:]
        lightest = np.argsort(self._weights)[:_JOIN]
        self._poses[lightest] = tried[best]
        self._weights[lightest] = self._weights.mean()
        self._weights /= self._weights.sum()

    def _located(self, ends_m: Floats) -> LocatedPose:
        """Return the weighted mean of the particles around the heaviest one."""
        heaviest = self._poses[np.argmax(self._weights)]
        apart = self._poses - heaviest
        apart[:, 2] = (apart[:, 2] + np.pi) % (2 * np.pi) - np.pi
        is_near = (np.hypot(apart[:, 0], apart[:, 1]) < _NEAR_M) & (np.abs(apart[:, 2]) < _NEAR_RAD)
        weights = np.where(is_near, self._weights, 0.0)
        share = float(weights.sum())
        if not self._is_lost and share > _SURE_PART:
            self._is_sure = True
        elif self._doubted and share < _UNSURE_PART:
            self._is_sure = False
        weights = weights / weights.sum()
        mean = weights @ apart
        off = apart - mean
        pose = heaviest + mean
        pose[2] = wrapped(float(pose[2]))
        return LocatedPose(
            pose, (weights[:, None] * off).T @ off, self._field.fit(pose, ends_m), not self._is_sure
        )

    def _draw(self) -> None:
        """Draw the particles again by their weights (low variance), once these are uneven."""
        if 2.0 * np.sum(self._weights**2) * self._count < 4.0:
            return
        places = (np.arange(self._count) + self._random.random()) / self._count
        chosen = np.searchsorted(np.cumsum(self._weights), places)
        self._poses = self._poses[np.minimum(chosen, self._count - 1)]
        self._weights = np.full(self._count, 1.0 / self._count)
