"""Scan matching: the pose of one scan as seen from another, by the walls that both see.

Each point of the one scan is drawn to the nearest wall of the other along that wall's normal
(point-to-line ICP; A. Censi, "An ICP variant using a point-to-line metric", 2008), with weights
that let go of points that fit badly. A corridor says nothing of the way along it: the information
matrix has that, and the pose stays there as it was guessed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree  # type: ignore[import-untyped]

from host_bridge.mapping.planar import Floats, moved
from host_bridge.mapping.scan_points import KeyScan

_ROUNDS = 12  # a fit that is not found by then is none
_WIDE_ROUNDS, _WIDE_M, _NEAR_M = 4, 0.5, 0.2  # first the guess is made good, then the fit
_SCALE_M = 0.03  # three times a LIDAR's noise: a residual of that has half of the weight
_EACH = 4  # of this many points one is matched: neighbours say the same
_FEWEST = 30  # matched points below which there is no fit
_FITS_M, _FITS_PART = 0.05, 0.7  # of all points so many lie so near to a wall, or it is no fit
_NOISE_M = 0.01  # residuals are never taken to be smaller: the information would be too great
_CORRELATED = 20.0  # so many matched points bring the information of one: their errors are alike
_DONE = 1e-5  # m and rad of the last change


@dataclass(frozen=True)
class ScanFit:
    """The pose of a scan as seen from the other; ``information`` is its inverse covariance."""

    pose: Floats
    information: Floats


class WallIndex:
    """The walls of one scan, to match others against."""

    def __init__(self, scan: KeyScan) -> None:
        self._walls_m = scan.walls_m
        self._normals = scan.normals
        self._tree = cKDTree(scan.walls_m) if len(scan.walls_m) else None

    def match(self, other: KeyScan, guess: Floats) -> ScanFit | None:
        """Return how ``other`` fits here, from ``guess`` of its pose; None if it does not."""
        points, pose = other.walls_m[::_EACH], guess.copy()
        for turn in range(_ROUNDS):
            found = self._residuals(points, pose, _WIDE_M if turn < _WIDE_ROUNDS else _NEAR_M)
            if found is None:
                return None
            slopes, residuals = found
            weights = 1.0 / (1.0 + (residuals / _SCALE_M) ** 2)
            weighted = slopes * weights[:, None]
            information = weighted.T @ slopes
            # The least change that explains the residuals: none along a corridor
            change = np.linalg.lstsq(
                information + 1e-6 * np.eye(3), -weighted.T @ residuals, rcond=None
            )[0]
            pose = pose + change
            if np.abs(change).max() < _DONE:
                break
        if np.count_nonzero(np.abs(residuals) < _FITS_M) < _FITS_PART * len(points):
            return None
        variance = np.sum(weights * residuals**2) / np.sum(weights)
        return ScanFit(pose, information / max(variance, _NOISE_M**2) / _CORRELATED)

    def _residuals(
        self, points_m: Floats, pose: Floats, within_m: float
    ) -> tuple[Floats, Floats] | None:
        """Return the distances to the walls in m, and their slopes in x, y and yaw of the pose."""
        if self._tree is None or not len(points_m):
            return None
        seen = moved(points_m, pose)
        distance, nearest = self._tree.query(seen, distance_upper_bound=within_m)
        is_near = np.isfinite(distance)
        if np.count_nonzero(is_near) < _FEWEST:
            return None
        seen, nearest = seen[is_near], nearest[is_near]
        normals = self._normals[nearest]
        residuals = np.sum((seen - self._walls_m[nearest]) * normals, axis=1)
        arms = seen - pose[:2]
        turning = normals[:, 1] * arms[:, 0] - normals[:, 0] * arms[:, 1]
        return np.column_stack((normals, turning)), residuals
