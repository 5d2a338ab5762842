"""Rays in the plane against walls that are segments: exact, for all rays of a scan at once.

Rays of a scan are evenly spaced in angle, so a wall can meet only those between the bearings of its
two ends. Only these pairs are computed: their number grows with the visible walls, not with rays
times walls. No cosine here is NumPy's, whose last bits differ between CPUs; its arcus tangent only
chooses the pairs.
"""

from __future__ import annotations

from functools import lru_cache
from math import cos, sin, tau
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
_HAIR = 1e-9  # as a share of a wall's length, so that no ray passes where two walls meet


class Caster(Protocol):
    """A caster of rays against the walls of an area."""

    def cast(
        self,
        x_m: float,
        y_m: float,
        first_rad: float,
        step_rad: float,
        count: int,
        most_m: float,
        moving: Floats | None = None,
    ) -> Floats:
        """Cast as RayCaster.cast does."""


class Fan:
    """The directions of a scan's rays, ``step_rad`` apart."""

    def __init__(self, step_rad: float, count: int) -> None:
        self.step_rad, self.count = step_rad, count
        from_first_rad = [step_rad * i for i in range(count)]
        cosines, sines = ([f(it) for it in from_first_rad] for f in (cos, sin))
        self._along = np.array((cosines, sines))
        self._across = np.array((sines, cosines)) * ((-1.0,), (1.0,))

    def directions(self, first_rad: float) -> Floats:
        """Return the cosines and the sines of all bearings, of which ``first_rad`` is the first.

        They are those of the fan, rotated: products of math's own.
        """
        return self._along * cos(first_rad) + self._across * sin(first_rad)


@lru_cache(maxsize=64)  # of LIDARs: a handful
def fan_of(step_rad: float, count: int) -> Fan:
    """Return the fan of so many rays, made once."""
    return Fan(step_rad, count)


class RayCaster:
    """A caster of rays against walls of any direction, which are visible from both sides.

    ``walls``: a row is x1, y1, x2, y2 in m.
    """

    def __init__(self, walls: Floats) -> None:
        self._walls = np.ascontiguousarray(walls.T)

    def cast(
        self,
        x_m: float,
        y_m: float,
        first_rad: float,
        step_rad: float,
        count: int,
        most_m: float,
        moving: Floats | None = None,
    ) -> Floats:
        """Return the distance in m along each ray to the first wall, inf if none within ``most_m``.

        Ray i looks along ``first_rad + i * step_rad`` (above 0); all of them within one turn.
        ``moving`` are further walls, of this cast alone.
        """
        walls, fan = self._walls, fan_of(step_rad, count)
        if moving is not None and len(moving):
            walls = np.concatenate((walls, moving.T), axis=1)
        ends = walls - np.array(((x_m,), (y_m,), (x_m,), (y_m,)))
        wall, first, counts = _met_by(ends, first_rad, fan)
        if wall is not None:
            ends = np.take(ends, wall, axis=1)
        ranges = np.full(count, np.inf)
        ray, distance = _distances(ends, first, counts, fan.directions(first_rad))
        np.minimum.at(ranges, ray, distance)
        ranges[ranges > most_m] = np.inf
        return ranges


def _met_by(
    ends: Floats, first_rad: float, fan: Fan
) -> tuple[npt.NDArray[np.int64] | None, Floats, npt.NDArray[np.int64]]:
    """Return the walls (by index; None: all) that may meet rays, the first ray, and how many.

    There is one more ray on either side, for rounding. A wall around all that the fan does not see
    is there twice.
    """
    turn, count = tau / fan.step_rad, fan.count
    begin, span = np.arctan2(ends[1::2], ends[0::2])
    span -= begin
    span *= 1.0 / fan.step_rad
    span -= turn * np.rint(span * (1.0 / turn))  # the shorter way round
    begin -= first_rad
    begin *= 1.0 / fan.step_rad
    begin += np.minimum(span, 0.0)
    unseen = (turn - count) / 2.0  # bearings begin in the middle of what the fan does not see
    begin -= turn * np.floor((begin + unseen) * (1.0 / turn))
    end = begin + np.abs(span)
    (again,) = np.nonzero(end >= turn - 1.0)
    wall = None
    if len(again):
        wall = np.concatenate((np.arange(len(begin)), again))
        begin = np.concatenate((begin, begin[again] - turn))
        end = np.concatenate((end, end[again] - turn))
    first = np.maximum(np.floor(begin), 0.0)
    last = np.minimum(np.ceil(end), count - 1.0)
    return wall, first, np.maximum(last - first + 1.0, 0.0).astype(np.int64)


def _distances(
    ends: Floats, first: Floats, counts: npt.NDArray[np.int64], directions: Floats
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return rays, and how far along each a wall is: inf where they do not meet.

    It solves t d = p + u e by cross products.
    """
    px, py = ends[:2]
    ex, ey = ends[2:] - ends[:2]
    stops = np.cumsum(counts)
    columns = np.stack((px, py, ex, ey, px * ey - py * ex, first - (stops - counts)))
    px, py, ex, ey, crossed, since = np.repeat(columns, counts, axis=1)
    ray = (np.arange(len(px)) + since).astype(np.int64)
    dx, dy = np.take(directions, ray, axis=1)  # as is directions[:, ray], in a fifth of its time
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        across = dx * ey - dy * ex
        distance = crossed / across
        share = (px * dy - py * dx) / across
    meets = (distance >= 0.0) & (share >= -_HAIR) & (share <= 1.0 + _HAIR)
    return ray, np.where(meets, distance, np.inf)
