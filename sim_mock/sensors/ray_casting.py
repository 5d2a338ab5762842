"""Rays in the plane against walls that are segments: exact, for all rays of a scan at once.

Rays of a scan are evenly spaced in angle, so a wall can meet only those between the bearings of its
two ends. Only these pairs are computed: their number grows with the visible walls, not with rays
times walls.
"""

from __future__ import annotations

from math import tau
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
_HAIR = 1e-9  # as a share of a wall's length, so that no ray passes where two walls meet


class Caster(Protocol):
    """A caster of rays against the walls of an area."""

    def cast(
        self, x_m: float, y_m: float, first_rad: float, step_rad: float, count: int, most_m: float
    ) -> Floats:
        """Cast as RayCaster.cast does."""


class RayCaster:
    """A caster of rays against walls of any direction, which are visible from both sides.

    ``walls``: a row is x1, y1, x2, y2 in m.
    """

    def __init__(self, walls: Floats) -> None:
        self._x1, self._y1 = walls[:, 0], walls[:, 1]
        self._ex, self._ey = walls[:, 2] - walls[:, 0], walls[:, 3] - walls[:, 1]
        self._middle_x, self._middle_y = (
            walls[:, [0, 2]].mean(axis=1),
            walls[:, [1, 3]].mean(axis=1),
        )
        self._half_m = np.hypot(self._ex, self._ey) / 2.0

    def cast(
        self, x_m: float, y_m: float, first_rad: float, step_rad: float, count: int, most_m: float
    ) -> Floats:
        """Return the distance in m along each ray to the first wall, inf if none within ``most_m``.

        Ray i looks along ``first_rad + i * step_rad`` (above 0); all of them within one turn.
        """
        reach = np.hypot(self._middle_x - x_m, self._middle_y - y_m) - self._half_m <= most_m
        px, py = self._x1[reach] - x_m, self._y1[reach] - y_m
        ex, ey = self._ex[reach], self._ey[reach]
        wall, ray = _pairs(px, py, ex, ey, first_rad, step_rad, count)
        bearing = first_rad + step_rad * np.arange(count)
        dx, dy = np.cos(bearing)[ray], np.sin(bearing)[ray]
        ranges = np.full(count, np.inf)
        meets, distance = _meet(px[wall], py[wall], ex[wall], ey[wall], dx, dy)
        np.minimum.at(ranges, ray[meets], distance[meets])
        ranges[ranges > most_m] = np.inf
        return ranges


def _pairs(
    px: Floats, py: Floats, ex: Floats, ey: Floats, first_rad: float, step_rad: float, count: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the pairs of wall and ray that may meet, with one more ray on either side.

    The margin is for rounding.
    """
    begin = np.arctan2(py, px)
    span = np.remainder(np.arctan2(py + ey, px + ex) - begin + tau / 2.0, tau) - tau / 2.0
    low = np.remainder(np.minimum(begin, begin + span) - first_rad, tau)
    low = np.concatenate((low, low - tau))  # a wall may begin before the first ray
    high = low + np.tile(np.abs(span), 2)
    first = np.maximum(np.floor(low / step_rad).astype(np.int64), 0)
    last = np.minimum(np.ceil(high / step_rad).astype(np.int64), count - 1)
    counts = np.maximum(last - first + 1, 0)
    wall = np.repeat(np.tile(np.arange(len(px)), 2), counts)
    ends = np.cumsum(counts)
    ray = np.arange(len(wall)) + np.repeat(first - (ends - counts), counts)
    return wall, ray


def _meet(
    px: Floats, py: Floats, ex: Floats, ey: Floats, dx: Floats, dy: Floats
) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Return whether rays d meet walls p + u e, and the distance t.

    It solves t d = p + u e by cross products.
    """
    across = dx * ey - dy * ex
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        distance = (px * ey - py * ex) / across
        share = (px * dy - py * dx) / across
    return (distance >= 0.0) & (share >= -_HAIR) & (share <= 1.0 + _HAIR), distance
