"""The centre line of a closed track in a ROS map: equally far from its inner and its outer side.

The cells that bound the free ones form connected pieces: the one that reaches the map's rim is the
outer side, the largest other one the inner. The line is where the distances to both are equal,
interpolated within cells. Smaller pieces between the two (a box on the floor) are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, hypot, remainder, tau
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from contourpy import contour_generator
from scipy import ndimage  # type: ignore[import-untyped]

from sim_mock.tracks.driving_area import Floats, Pose
from sim_mock.tracks.ros_map import Cells, Grid, in_world

_EIGHT = np.ones((3, 3))  # 8-connected: walls may touch by a corner
_SMOOTH_M = 0.1  # smoothing length, which removes the steps of the cells


@dataclass(frozen=True)
class MapCentreLine:
    """A centre line: ``points_m`` are rows of x and y in the world, a loop.

    ``half_width_m`` is the least distance to a wall.
    """

    points_m: Floats
    half_width_m: float


def centre_line_of_map(grid: Grid, start: Pose | None = None) -> MapCentreLine:
    """Return the centre line from its point nearest to ``start`` on, in the start's direction.

    Without a start it begins anywhere, anticlockwise. Raises ValueError if the track is not closed.
    """
    floor = _floor(grid, start)
    outer, inner = _sides(floor)
    to_outer, to_inner = _distance(outer)[1:-1, 1:-1], _distance(inner)[1:-1, 1:-1]
    line = _longest_line(np.where(floor, to_outer - to_inner, np.nan))
    line = _turned(_smoothed(line, grid.resolution_m), grid, start)
    near = ndimage.map_coordinates(_distance(~floor), line.T[::-1], order=1)
    return MapCentreLine(
        in_world((line + 0.5) * grid.resolution_m, grid.origin),
        float(near.min()) * grid.resolution_m,
    )


def _floor(grid: Grid, start: Pose | None) -> Cells:
    """Return the connected free cells around the start, or the largest such region.

    Raises ValueError if there is none.
    """
    pieces, count = _labelled(grid.is_free)
    if not count:
        raise ValueError("the map has no free cells")
    if start is None:
        return np.asarray(pieces == 1 + int(np.argmax(_sizes(pieces, count))))
    column, row = np.floor(_cell_of(grid, start) + 0.5).astype(int)
    rows, columns = grid.is_free.shape
    if not (0 <= row < rows and 0 <= column < columns) or not grid.is_free[row, column]:
        raise ValueError(f"{start.x_m:g},{start.y_m:g} is no free place of the map")
    return np.asarray(pieces == pieces[row, column])


def _sides(floor: Cells) -> tuple[Cells, Cells]:
    """Return outer and inner side, padded by a rim of one cell that belongs to the outer one.

    Raises ValueError if the track is not closed.
    """
    pieces, count = _labelled(~np.pad(floor, 1), _EIGHT)
    outer = pieces == pieces[0, 0]
    sizes = _sizes(pieces, count)
    sizes[pieces[0, 0] - 1] = 0
    if count < 2:
        raise ValueError(
            "the track is not closed: nothing on the map is surrounded by its free cells; is an"
            " end of it unknown, or a gap in the wall of the inner side?"
        )
    return outer, np.asarray(pieces == 1 + int(np.argmax(sizes)))


def _labelled(cells: Cells, structure: Floats | None = None) -> tuple[npt.NDArray[Any], int]:
    return cast("tuple[npt.NDArray[Any], int]", ndimage.label(cells, structure))


def _sizes(pieces: npt.NDArray[Any], count: int) -> Floats:
    return np.bincount(pieces.ravel(), minlength=count + 1)[1:].astype(float)


def _distance(cells: Cells) -> Floats:
    """Return each cell's distance to the nearest of ``cells``, in cells."""
    return np.asarray(ndimage.distance_transform_edt(~cells), dtype=float)


def _longest_line(field: Floats) -> Floats:
    """Return the longest closed contour where the field is 0: rows of column and row.

    Its last point, which equals the first, is left out. Raises ValueError if there is no contour.
    """
    masked = np.ma.masked_invalid(field)
    lines = [np.asarray(line) for line in contour_generator(z=masked).lines(0.0)]
    # points: shorter ones are single cells
    closed = [line for line in lines if len(line) > 8 and np.allclose(line[0], line[-1])]
    if not closed:
        raise ValueError("no closed centre line: the track is narrower than two cells somewhere")
    return max(closed, key=_length)[:-1]


def _length(line: Floats) -> float:
    return float(np.hypot(*np.diff(line, axis=0).T).sum())


def _smoothed(line: Floats, resolution_m: float) -> Floats:
    """Return the line with points half a cell apart, without the steps of the cells."""
    closed = np.vstack((line, line[:1]))
    along = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(closed, axis=0).T))))
    # two points a cell; a spline needs some at least
    even = np.linspace(0.0, along[-1], max(round(2.0 * along[-1]), 16), endpoint=False)
    points = np.stack([np.interp(even, along, axis) for axis in closed.T], axis=1)
    sigma = 2.0 * _SMOOTH_M / resolution_m
    return np.asarray(ndimage.gaussian_filter1d(points, sigma, axis=0, mode="wrap"))


def _turned(line: Floats, grid: Grid, start: Pose | None) -> Floats:
    if start is None:
        x, y = line.T
        area = float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
        return line if area > 0.0 else line[::-1]
    first = int(np.argmin(np.hypot(*(line - _cell_of(grid, start)).T)))
    line = np.roll(line, -first, axis=0)
    dx, dy = line[1] - line[0]
    ahead_rad = atan2(dy, dx) + grid.origin.yaw_rad
    if abs(remainder(ahead_rad - start.yaw_rad, tau)) <= tau / 4:
        return line
    return np.vstack((line[:1], line[:0:-1]))


def _cell_of(grid: Grid, pose: Pose) -> Floats:
    """Return column and row; whole numbers are the middles of cells."""
    dx, dy = pose.x_m - grid.origin.x_m, pose.y_m - grid.origin.y_m
    apart, turn = hypot(dx, dy), atan2(dy, dx) - grid.origin.yaw_rad
    return np.array((np.cos(turn), np.sin(turn))) * apart / grid.resolution_m - 0.5
