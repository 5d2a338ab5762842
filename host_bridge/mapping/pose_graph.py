"""Poses of a drive's scans that agree best with the odometry and with all matches of scans.

The poses of least squares on a graph (F. Lu and E. Milios, "Globally consistent range scan
alignment for environment mapping", 1997): Gauss-Newton on sparse normal equations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import cos, hypot, sin

import numpy as np
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
from scipy.sparse.linalg import spsolve  # type: ignore[import-untyped]
from scipy.spatial import cKDTree  # type: ignore[import-untyped]

from host_bridge.mapping.planar import Floats, between, wrapped
from host_bridge.mapping.scan_matching import WallIndex
from host_bridge.mapping.scan_points import KeyScan

_ROUNDS = 15  # it ends after some five, when nothing changes any more
_DONE = 1e-4  # m and rad of the last change
# Of the odometry between two scans 0.4 m apart: a wheel slips, a gyro drifts
_ODOMETRY = np.diag((1.0 / 0.02**2, 1.0 / 0.02**2, 1.0 / 0.01**2))
_ROBUST = 4.0  # an edge that is off by two standard deviations has a smaller weight
_PINNED = 1e6  # the first pose stays where it is
_NEAR_M = 1.6  # scans that are nearer see the same walls
_NEXT, _AGAIN = 3, 15  # matched are the next scans, and those of another lap
_LEAP_M, _LEAP_RAD = 0.6, 0.25  # a match farther from its guess took other walls for these


@dataclass(frozen=True)
class PoseEdge:
    """The pose of scan ``second`` as seen from scan ``first``, and how well it is known."""

    first: int
    second: int
    pose: Floats
    information: Floats


Progress = Callable[[int, int], None]  # how many scans of how many are matched


def aligned_poses(scans: list[KeyScan], progress: Progress) -> tuple[Floats, int]:
    """Return for each scan the pose of the point that the car turns about, and the matches used.

    Rows are x, y in m, yaw in rad. The first one is the odometry's, as is what walls do not tell.
    """
    odometry = np.array([it.sample.odometry for it in scans])
    edges = [
        PoseEdge(i, i + 1, between(odometry[i], odometry[i + 1]), _ODOMETRY)
        for i in range(len(scans) - 1)
    ]
    edges += _matches(scans, odometry, range(1, _NEXT + 1), progress)
    poses = optimised(odometry, edges)  # first what lies near in time, which carries far
    again = list(_matches(scans, poses, None, progress))
    return optimised(poses, edges + again), len(edges) + len(again) - len(scans) + 1


def optimised(poses: Floats, edges: list[PoseEdge]) -> Floats:
    """Return the poses that fit the edges best; the first one stays."""
    for _ in range(_ROUNDS):
        change = _step(poses, edges)
        poses = poses + change
        if np.abs(change).max() < _DONE:
            break
    return poses


def _matches(
    scans: list[KeyScan], poses: Floats, steps: range | None, progress: Progress
) -> Iterable[PoseEdge]:
    """Yield the matches of scans ``steps`` apart, or with None those of later laps nearby."""
    tree = cKDTree(poses[:, :2])
    for i, scan in enumerate(scans):
        progress(i + 1, len(scans))
        others = (
            [i + step for step in steps if i + step < len(scans)]
            if steps
            else [j for j in tree.query_ball_point(poses[i, :2], _NEAR_M) if j - i >= _AGAIN]
        )
        walls = WallIndex(scan) if others else None
        for j in others:
            guess = between(poses[i], poses[j])
            fit = walls.match(scans[j], guess) if walls else None
            if fit is not None and not _is_leap(fit.pose - guess):
                yield PoseEdge(i, j, fit.pose, fit.information)


def _is_leap(change: Floats) -> bool:
    return hypot(change[0], change[1]) > _LEAP_M or abs(change[2]) > _LEAP_RAD


def _step(poses: Floats, edges: list[PoseEdge]) -> Floats:
    """Return the change of all poses by one step of Gauss-Newton."""
    count = 3 * len(edges) + 3
    rows, columns, values = [], [], []
    wanted = np.zeros(count)
    for place, edge in enumerate(edges):
        error, of_first, of_second = _error(poses, edge)
        root = np.linalg.cholesky(edge.information + 1e-9 * np.eye(3)).T
        whitened = root @ error
        share = 1.0 / np.sqrt(1.0 + whitened @ whitened / _ROBUST)
        wanted[3 * place : 3 * place + 3] = -share * whitened
        for pose, slopes in ((edge.first, of_first), (edge.second, of_second)):
            block = share * root @ slopes
            rows.append(np.repeat(3 * place + np.arange(3), 3))
            columns.append(np.tile(3 * pose + np.arange(3), 3))
            values.append(block.ravel())
    rows.append(count - 3 + np.arange(3))
    columns.append(np.arange(3))
    values.append(np.full(3, _PINNED))
    slopes = csr_matrix(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
        shape=(count, poses.size),
    )
    change = spsolve((slopes.T @ slopes).tocsc(), slopes.T @ wanted)
    return np.asarray(change).reshape(poses.shape)


def _error(poses: Floats, edge: PoseEdge) -> tuple[Floats, Floats, Floats]:
    """Return how far the poses are from an edge, and its slopes in the two poses."""
    first, second = poses[edge.first], poses[edge.second]
    c, s = cos(first[2]), sin(first[2])
    turn = np.array(((c, s), (-s, c)))
    apart = second[:2] - first[:2]
    yaw = wrapped(second[2] - first[2] - edge.pose[2])
    error = np.append(turn @ apart - edge.pose[:2], yaw)
    of_first, of_second = np.zeros((3, 3)), np.zeros((3, 3))
    of_first[:2, :2], of_second[:2, :2] = -turn, turn
    of_first[:2, 2] = np.array(((-s, c), (-c, -s))) @ apart
    of_first[2, 2], of_second[2, 2] = -1.0, 1.0
    return error, of_first, of_second
