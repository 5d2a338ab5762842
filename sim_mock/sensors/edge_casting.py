"""Rays against the walls of a grid map: exact, and several times as fast as ``ray_casting``.

The walls of a map run along the two axes of its frame, and only their outer sides are visible. So
half of them can be skipped: sorted by their position along their axis, those in front of a sensor,
within its range, are one contiguous slice. A ray's distance to such a wall is that of the wall over
the sine, or the cosine, of the ray's bearing.
"""

from __future__ import annotations

from math import cos, sin, tau

import numpy as np
import numpy.typing as npt

from sim_mock.sensors.ray_casting import Caster, Fan, Floats, RayCaster, fan_of
from sim_mock.tracks.driving_area import DrivingArea, Pose

Integers = npt.NDArray[np.int64]
_HAIR = 1e-9  # in ray steps, so that no ray passes where two walls meet; also in metres


def caster_of(area: DrivingArea) -> Caster:
    """Return the fastest caster for an area; all give the same ranges."""
    return EdgeCaster(area.walls, area.frame) if area.frame else RayCaster(area.walls)


class EdgeCaster:
    """A caster of rays against walls along the axes of ``frame``; rows are as of RayCaster.

    Each wall has the cell that it bounds on its left. A sensor that is within an occupied cell sees
    the sides of others that are turned towards it.
    """

    def __init__(self, walls: Floats, frame: Pose) -> None:
        self._frame = frame
        local = _into(frame, walls.reshape(-1, 2)).reshape(-1, 4)
        along_x, along_y = (local[:, i + 2] - local[:, i] for i in (0, 1))
        is_level = np.abs(along_x) > np.abs(along_y)
        # A wall along +x has its cell on the +y side: it is visible from below only.
        self._above = _FacingWalls(local[is_level & (along_x > 0.0)], 1)
        self._below = _FacingWalls(local[is_level & (along_x < 0.0)], 1)
        self._right = _FacingWalls(local[~is_level & (along_y < 0.0)], 0)
        self._left = _FacingWalls(local[~is_level & (along_y > 0.0)], 0)

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
        nearest = self._to_own_walls(x_m, y_m, first_rad, step_rad, count, most_m)
        if moving is None or not len(moving):
            return nearest
        others = RayCaster(moving).cast(x_m, y_m, first_rad, step_rad, count, most_m)
        return np.minimum(nearest, others)

    def _to_own_walls(
        self, x_m: float, y_m: float, first_rad: float, step_rad: float, count: int, most_m: float
    ) -> Floats:
        ((x, y),) = _into(self._frame, np.array(((x_m, y_m),))).tolist()
        first_rad -= self._frame.yaw_rad
        fan = fan_of(step_rad, count)
        ends, levels = self._in_front(x, y, most_m)
        wall, first, counts = _met_by(ends, first_rad, fan)
        away_m = np.concatenate((ends[1, :levels], ends[0, levels:]))[wall]
        first[wall >= levels] += count  # for upright walls: cosines are stored after the sines
        per_m = _per_m(fan, first_rad)
        stops = np.cumsum(counts)
        ray = np.repeat(first - (stops - counts), counts)
        ray += np.arange(len(ray))
        ranges = np.full(2 * count, np.inf)
        np.minimum.at(ranges, ray, np.repeat(away_m, counts) * per_m[ray])
        nearest: Floats = np.minimum(ranges[:count], ranges[count:])
        nearest[nearest > most_m] = np.inf
        return nearest

    def _in_front(self, x: float, y: float, most_m: float) -> tuple[Floats, int]:
        """Return both ends, relative to the sensor, of the walls whose outer side faces it.

        Rows are x and y of the right end, x and y of the left end; also return how many are level.
        """
        above, below = self._above.beyond(y, most_m), self._below.before(y, most_m)
        right, left = self._right.beyond(x, most_m), self._left.before(x, most_m)
        ends: Floats = np.concatenate((above, below, right, left), axis=1)
        ends -= np.array(((x,), (y,), (x,), (y,)))
        return ends, above.shape[1] + below.shape[1]


class _FacingWalls:
    """Walls whose outer sides face the same way, sorted by their position along ``axis``."""

    def __init__(self, walls: Floats, axis: int) -> None:
        by_place = walls[np.argsort(walls[:, axis], kind="stable")]
        self._at_m = by_place[:, axis].copy()
        # Seen from outside the second end is the right one, which has the smaller bearing.
        self._ends = np.ascontiguousarray(by_place[:, [2, 3, 0, 1]].T)

    def beyond(self, from_m: float, most_m: float) -> Floats:
        first, last = self._at_m.searchsorted((from_m + _HAIR, from_m + most_m)).tolist()
        return np.asarray(self._ends[:, first:last])

    def before(self, from_m: float, most_m: float) -> Floats:
        first, last = self._at_m.searchsorted((from_m - most_m, from_m - _HAIR)).tolist()
        return np.asarray(self._ends[:, first:last])


def _per_m(fan: Fan, first_rad: float) -> Floats:
    """Return each ray's length per metre upward, then each ray's length per metre to the right."""
    along_x, along_y = fan.directions(first_rad)
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(1.0 / np.concatenate((along_y, along_x)))


def _met_by(ends: Floats, first_rad: float, fan: Fan) -> tuple[Integers, Integers, Integers]:
    """Return the walls (by index) that meet rays, the first ray of each, and their number.

    A wall across the bearing of ray 0 meets the first rays and, after a full turn, the last.
    """
    turn = tau / fan.step_rad
    begin, end = _steps(ends, first_rad, fan.step_rad)
    is_across = end < begin
    begin[is_across] -= turn
    first = np.maximum(np.ceil(begin - _HAIR), 0.0)
    last = np.minimum(np.floor(end + _HAIR), fan.count - 1.0)
    (wall,) = np.nonzero(first <= last)
    first, last = first[wall], last[wall]
    (round_about,) = np.nonzero(is_across)
    again = np.ceil(begin[round_about] + turn - _HAIR)
    is_met = again < fan.count
    if is_met.any():
        wall = np.concatenate((wall, round_about[is_met]))
        first = np.concatenate((first, again[is_met]))
        last = np.concatenate((last, np.full(int(is_met.sum()), fan.count - 1.0)))
    return wall, first.astype(np.int64), (last - first).astype(np.int64) + 1


def _steps(ends: Floats, first_rad: float, step_rad: float) -> Floats:
    """Return the bearings of both ends in steps from the first ray, within one turn from it."""
    turn = tau / step_rad
    steps = np.arctan2(ends[1::2], ends[0::2])
    steps -= first_rad
    steps *= 1.0 / step_rad
    steps -= turn * np.floor(steps * (1.0 / turn))
    return np.asarray(steps)


def _into(frame: Pose, points: Floats) -> Floats:
    """Transform points, rows of x and y, from the world into a frame."""
    c, s = cos(frame.yaw_rad), sin(frame.yaw_rad)
    dx, dy = (points - (frame.x_m, frame.y_m)).T
    return np.stack((c * dx + s * dy, c * dy - s * dx), axis=1)
