"""A path on the ground: its points, distances along it, and the place of a car beside it.

Lengths are in m, angles in rad, left is positive. A loop's last point is joined to its first.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import atan2, copysign, hypot, inf, radians, remainder, tau

import numpy as np
import numpy.typing as npt

from host_bridge.core.files import parse_number

Floats = npt.NDArray[np.float64]
Pose = tuple[float, float, float]  # x, y, yaw

# The loop rule: a path is a loop if its ends are within these limits of distance and direction
GAP_M = 0.5
GAP_PART = 0.1  # of the path's length
GAP_RAD = 1.0
_BACK_M, _ON_M = 0.5, 2.0  # the part of the path behind and ahead that is searched for a car


@dataclass(frozen=True)
class PathProjection:
    """The place of a point relative to a path: ``along_m`` from its start, ``left_m`` to its left.

    ``apart_m`` is the distance to the nearest point of the path. Beyond an end it is larger than
    ``left_m``, and ``along_m`` goes on straight, below 0 or above the length.
    """

    along_m: float
    left_m: float
    yaw_rad: float  # the path's direction there
    apart_m: float


class Path:
    """A path of at least two points; ``speeds_mps`` are those that its file asks for, or None.

    ``unread`` says which columns of its file have no meaning here; empty if all were read.
    """

    unread = ""

    def __init__(
        self, points_m: Floats, speeds_mps: Floats | None = None, is_loop: bool | None = None
    ) -> None:
        """Make a path of rows of x, y; if ``is_loop`` is None, the loop rule decides.

        Raises ValueError for fewer than two different points.
        """
        points, speeds = _without_repeats(np.asarray(points_m, dtype=float), speeds_mps)
        if len(points) < 2:
            raise ValueError(f"a path has at least two different points; got {len(points)}")
        self.is_loop = ends_meet(points) if is_loop is None else is_loop
        # m: the same but for the rounding of floats
        if self.is_loop and np.hypot(*(points[-1] - points[0])) > 1e-6:
            points = np.vstack((points, points[:1]))
            speeds = None if speeds is None else np.append(speeds, speeds[0])
        self.points_m: Floats = points
        self.speeds_mps: Floats | None = speeds
        steps = np.diff(points, axis=0)
        self._spans_m: Floats = np.hypot(steps[:, 0], steps[:, 1])
        self.along_m: Floats = np.concatenate(([0.0], np.cumsum(self._spans_m)))
        self.length_m = float(self.along_m[-1])
        self._tangents = steps / self._spans_m[:, None]
        # The same as plain floats: where it starts, its direction, its length
        columns = (*points[:-1].T, *self._tangents.T, self._spans_m)
        self._segments = list(zip(*(it.tolist() for it in columns), strict=True))
        self._begins_m: list[float] = self.along_m.tolist()

    def at(self, along_m: float) -> tuple[float, float]:
        """Return the point there: round and round on a loop, straight on beyond an end."""
        i, rest_m = self._segment(along_m)
        x, y = self.points_m[i] + rest_m * self._tangents[i]
        return float(x), float(y)

    def yaw_at(self, along_m: float) -> float:
        """Return the direction there, that of the segment."""
        i, _ = self._segment(along_m)
        return atan2(self._tangents[i, 1], self._tangents[i, 0])

    def curvatures(self, along_m: Floats, half_m: float) -> Floats:
        """Return the curvatures in 1/m, over ``half_m`` to either side: points may be noisy."""
        before, here, after = (self._points_at(along_m + m) for m in (-half_m, 0.0, half_m))
        (ax, ay), (bx, by) = (here - before).T, (after - here).T
        # math's atan2: NumPy has others by CPU, and a plan is to be the same on every machine
        turned = [atan2(y, x) - atan2(v, u) for x, y, u, v in zip(bx, by, ax, ay, strict=True)]
        return np.asarray(np.mod(np.array(turned) + np.pi, tau) - np.pi) / half_m

    def _points_at(self, along_m: Floats) -> Floats:
        if self.is_loop:
            along_m = np.mod(along_m, self.length_m)
        i = np.searchsorted(self.along_m, along_m, side="right") - 1
        i = np.clip(i, 0, len(self._spans_m) - 1)
        rest_m = along_m - self.along_m[i]
        return np.asarray(self.points_m[i] + rest_m[:, None] * self._tangents[i])

    def project(self, x_m: float, y_m: float, near_m: float | None = None) -> PathProjection:
        """Return the place of the nearest point of the path.

        With ``near_m`` only the path around that distance is searched, so that a car is not
        assigned to the other branch where the path crosses itself.
        """
        among = range(len(self._segments)) if near_m is None else self._near(near_m)
        i, ahead_m = self._nearest(x_m, y_m, among)
        px, py, tx, ty, span_m = self._segments[i]
        dx, dy = x_m - px, y_m - py
        apart_m, across_m = hypot(dx - ahead_m * tx, dy - ahead_m * ty), tx * dy - ty * dx
        on_m = tx * dx + ty * dy  # not clipped: straight on beyond an end
        is_behind_an_end = not self.is_loop and (
            (i == 0 and on_m < 0.0) or (i == len(self._segments) - 1 and on_m > span_m)
        )
        if is_behind_an_end:
            return PathProjection(self._begins_m[i] + on_m, across_m, atan2(ty, tx), apart_m)
        left_m = copysign(apart_m, across_m)
        return PathProjection(self._begins_m[i] + ahead_m, left_m, atan2(ty, tx), apart_m)

    def _nearest(self, x_m: float, y_m: float, among: Iterable[int]) -> tuple[int, float]:
        """Return the segment nearest to a point, and how far along it that is.

        In plain floats, in this order: a case has the same bits on every machine.
        """
        least, nearest, where_m, segments = inf, 0, 0.0, self._segments
        for i in among:
            px, py, tx, ty, span_m = segments[i]
            dx, dy = x_m - px, y_m - py
            ahead_m = dx * tx + dy * ty
            ahead_m = 0.0 if ahead_m < 0.0 else min(ahead_m, span_m)
            across_x, across_y = dx - ahead_m * tx, dy - ahead_m * ty
            square = across_x * across_x + across_y * across_y
            if square < least:
                least, nearest, where_m = square, i, ahead_m
        return nearest, where_m

    def _near(self, near_m: float) -> list[int]:
        """Return the numbers of the segments around that distance, in their order."""
        begins, length_m = self._begins_m, self.length_m
        if not self.is_loop:
            found = [
                i
                for i in self._around(near_m - _BACK_M, near_m + _ON_M)
                if begins[i + 1] >= near_m - _BACK_M and begins[i] <= near_m + _ON_M
            ]
            return found or [0]
        here_m = near_m % length_m
        return [
            i
            for i in self._around((near_m - _BACK_M) % length_m, (near_m + _ON_M) % length_m)
            if (begins[i] - near_m) % length_m <= _ON_M
            or (near_m - begins[i + 1]) % length_m <= _BACK_M
            or begins[i] <= here_m <= begins[i + 1]
        ]

    def _around(self, begin_m: float, end_m: float) -> Sequence[int]:
        """Return the numbers of all segments from here to there, and of a few more."""
        count = len(self._segments)
        low = max(bisect_left(self._begins_m, begin_m) - 2, 0)
        high = min(bisect_left(self._begins_m, end_m) + 1, count)
        if not self.is_loop:
            return range(low, high)
        is_short = self.length_m < 2.0 * (_BACK_M + _ON_M)
        if is_short or low == 0 or high == count:
            return range(count)
        return range(low, high) if begin_m < end_m else [*range(high), *range(low, count)]

    def _segment(self, along_m: float) -> tuple[int, float]:
        if self.is_loop:
            along_m %= self.length_m
        i = int(np.searchsorted(self.along_m, along_m, side="right")) - 1
        i = min(max(i, 0), len(self._spans_m) - 1)
        return i, along_m - float(self.along_m[i])


def ends_meet(points_m: Floats) -> bool:
    """Return whether the loop rule holds: the ends are near, and have the same direction."""
    if len(points_m) < 4:
        return False
    length_m = float(np.hypot(*np.diff(points_m, axis=0).T).sum())
    gap_m = float(np.hypot(*(points_m[0] - points_m[-1])))
    (ax, ay), (bx, by) = points_m[1] - points_m[0], points_m[-1] - points_m[-2]
    apart_rad = abs(remainder(atan2(ay, ax) - atan2(by, bx), tau))
    return gap_m <= min(GAP_M, GAP_PART * length_m) and apart_rad <= GAP_RAD


def _without_repeats(points: Floats, speeds: Floats | None) -> tuple[Floats, Floats | None]:
    if len(points) < 2:
        return points, speeds
    # m: the same point but for the rounding of floats
    is_new = np.append(True, np.hypot(*np.diff(points, axis=0).T) > 1e-9)
    return points[is_new], None if speeds is None else np.asarray(speeds, dtype=float)[is_new]


def resampled(points_m: Floats, spacing_m: float, is_loop: bool) -> Floats:
    """Return points on the same line that are evenly apart, by about ``spacing_m``."""
    path = Path(points_m, is_loop=is_loop)
    count = max(round(path.length_m / spacing_m), 2)
    along = np.linspace(0.0, path.length_m, count + 1)
    if is_loop:
        along = along[:-1]
    return np.stack([np.interp(along, path.along_m, axis) for axis in path.points_m.T], axis=1)


def parse_pose(text: str) -> Pose:
    """Parse ``X,Y,YAW_DEG``, as in ``start=`` of a virtual car.

    Raises ValueError.
    """
    x, y, yaw_deg = map(parse_number, text.split(","))
    return x, y, radians(yaw_deg)
