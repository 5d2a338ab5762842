"""The centre line of a closed track in a ROS map: equally far from its inner and its outer side.

The cells that bound the free ones form connected pieces: the one that reaches the map's rim is the
outer side, another large one the inner. The line is where the distances to both are equal,
interpolated within cells. Small pieces between the two (a box on the floor) are ignored. Where
there are several large ones, each is the inner side of a loop of its own, and the start tells which
loop is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
_LARGE_PART = 0.1  # of the largest inner side: what is smaller is a thing on the floor, no infield
_REGION_PART = 0.01  # of the largest free region: what is smaller is noise of the mapping


@dataclass(frozen=True)
class MapCentreLine:
    """A centre line: ``points_m`` are rows of x and y in the world, a loop.

    ``half_width_m`` is the least distance to a wall.
    """

    points_m: Floats
    half_width_m: float


def centre_line_of_map(grid: Grid, start: Pose | None = None) -> MapCentreLine:
    """Return the centre line from its point nearest to ``start`` on, in the start's direction.

    Of several loops it is the one through the start, or nearest to it. Without a start the line
    begins anywhere, anticlockwise. Raises ValueError if the track is not closed, if the start is
    not in it, and if without a start there are several loops.
    """
    floor = _floor(grid, start)
    sides = list(_sides(floor))
    if len(sides) > 1 and start is None:
        raise ValueError(f"there are {len(sides)} loops on the map; --start X,Y,YAW_DEG says which")
    line = _chosen([_line(floor, *side) for side in sides], grid, start)
    line = _turned(_smoothed(line, grid.resolution_m), grid, start)
    near = ndimage.map_coordinates(_distance(~floor), line.T[::-1], order=1)
    return MapCentreLine(
        in_world((line + 0.5) * grid.resolution_m, grid.origin),
        float(near.min()) * grid.resolution_m,
    )


def _floor(grid: Grid, start: Pose | None) -> Cells:
    """Return the connected free cells around the start, or those that are the only closed track.

    Raises ValueError if there is none, or several.
    """
    pieces, count = _labelled(grid.is_free)
    if not count:
        raise ValueError("the map has no free cells")
    sizes = _sizes(pieces, count)
    large = [int(at) + 1 for at in np.flatnonzero(sizes >= _REGION_PART * sizes.max())]
    closed = [at for at in large if _is_closed(pieces == at)]
    within = [at for at in closed if not _reaches_rim(pieces == at)]
    if start is None:
        return np.asarray(pieces == _only(within or closed, int(np.argmax(sizes)) + 1))
    at = _region_of(grid, pieces, start)
    if within and _reaches_rim(pieces == at):
        raise ValueError(f"{start.x_m:g},{start.y_m:g} is outside the walls of the track")
    return np.asarray(pieces == at)


def _only(closed: list[int], largest: int) -> int:
    """Return the only closed region; without any the largest, of which it is said why it is not."""
    if len(closed) > 1:
        raise ValueError(
            f"there are {len(closed)} tracks on the map; --start X,Y,YAW_DEG says which"
        )
    return closed[0] if closed else largest


def _region_of(grid: Grid, pieces: npt.NDArray[Any], start: Pose) -> int:
    """Return the region of the start. Raises ValueError where no car may be."""
    column, row = np.floor(_cell_of(grid, start) + 0.5).astype(int)
    rows, columns = grid.is_free.shape
    place = f"{start.x_m:g},{start.y_m:g} is no free place of the map"
    if not (0 <= row < rows and 0 <= column < columns):
        raise ValueError(f"{place}: it is beyond its rim")
    if not grid.is_free[row, column]:
        raise ValueError(f"{place}: it is {'a wall' if grid.is_wall[row, column] else 'unknown'}")
    return int(pieces[row, column])


def _is_closed(region: Cells) -> bool:
    """Return whether anything is surrounded by the region."""
    return _labelled(~np.pad(region, 1), _EIGHT)[1] > 1


def _reaches_rim(region: Cells) -> bool:
    return bool(region[[0, -1]].any() or region[:, [0, -1]].any())


def _sides(floor: Cells) -> Iterator[tuple[Cells, Cells]]:
    """Yield outer and inner side of each loop, the largest inner one first.

    Both are padded by a rim of one cell that belongs to the outer one. Raises ValueError if the
    track is not closed.
    """
    pieces, count = _labelled(~np.pad(floor, 1), _EIGHT)
    outer = int(pieces[0, 0])
    sizes = _sizes(pieces, count)
    sizes[outer - 1] = 0
    if count < 2:
        raise ValueError(
            "the track is not closed: nothing on the map is surrounded by its free cells; is an"
            " end of it unknown, or a gap in the wall of the inner side?"
        )
    inner = [int(at) + 1 for at in np.argsort(-sizes) if sizes[at] >= _LARGE_PART * sizes.max()]
    for at in inner:
        others = [outer, *(other for other in inner if other != at)]
        yield np.isin(pieces, others), np.asarray(pieces == at)


def _line(floor: Cells, outer: Cells, inner: Cells) -> Floats:
    """Return the longest closed line that is as far from the outer side as from the inner."""
    to_outer, to_inner = _distance(outer)[1:-1, 1:-1], _distance(inner)[1:-1, 1:-1]
    return _longest_line(np.where(floor, to_outer - to_inner, np.nan))


def _chosen(lines: Sequence[Floats], grid: Grid, start: Pose | None) -> Floats:
    """Return the line that is nearest to the start; within a cell the first one counts."""
    if start is None:
        return lines[0]
    place = _cell_of(grid, start)
    apart = [float(np.hypot(*(line - place).T).min()) for line in lines]
    return next(line for line, cells in zip(lines, apart, strict=True) if cells < min(apart) + 1.0)


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
