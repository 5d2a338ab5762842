"""A map in the format of ROS's map_server as an area to drive in: walls, and what is free.

Occupied cells are walls, free ones free, all others neither: no wall, and no place for a car.
Walls run along the edges of the occupied cells, so a ray meets them exactly where the cell begins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, floor, sin
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim_mock.tracks.driving_area import DrivingArea, Floats, Pose
from sim_mock.tracks.map_file import RAW, read_map_file
from sim_mock.tracks.map_image import FREE, OCCUPIED, UNKNOWN, occupancy_of

Cells = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Grid:
    """The cells of a map, the lowest row first; ``origin`` is the outer corner of the first.

    ``notes`` are sentences for people on what was read otherwise than written.
    """

    is_wall: Cells
    is_free: Cells
    resolution_m: float
    origin: Pose
    notes: tuple[str, ...] = ()


def load_map(path: Path) -> DrivingArea:
    """Load a map's walls and free area. Raises FileFault for what is wrong with it."""
    grid = load_grid(path)
    is_free = _lookup(grid.is_free, grid.resolution_m, grid.origin)
    return DrivingArea(path.stem, walls_of(grid), is_free, grid.origin, grid.notes)


def walls_of(grid: Grid) -> Floats:
    """Return the walls of a map: rows of x1, y1, x2, y2 in m."""
    ends = edges(grid.is_wall).reshape(-1, 2) * grid.resolution_m
    return in_world(ends, grid.origin).reshape(-1, 4)


def load_grid(path: Path) -> Grid:
    """Load the cells of a map that ROS's map_server reads, a YAML file with its image.

    Raises FileFault for what is wrong with it.
    """
    facts = read_map_file(path)
    occupancy, notes = occupancy_of(facts)
    is_wall, is_free = occupancy == OCCUPIED, occupancy == FREE
    if facts.mode == RAW:  # occupancies as a mapper left them: the thresholds tell them apart
        is_wall = occupancy > facts.occupied_thresh * OCCUPIED
        is_free = (occupancy <= facts.free_thresh * OCCUPIED) & (occupancy != UNKNOWN)
    return Grid(
        is_wall,
        is_free,
        facts.resolution_m,
        facts.origin,
        (*facts.notes, *notes),
    )


def edges(is_wall: Cells) -> Floats:
    """Return the sides of the occupied cells, joined, each with its cells on the left.

    A row is x1, y1, x2, y2, in cells.
    """
    padded = np.pad(is_wall, 1)
    above, below = padded[1:] > padded[:-1], padded[1:] < padded[:-1]
    right, left = padded[:, 1:] > padded[:, :-1], padded[:, 1:] < padded[:, :-1]
    return np.concatenate(
        (
            _runs(above),
            _runs(below)[:, [2, 3, 0, 1]],  # along -x
            _runs(right.T)[:, [3, 2, 1, 0]],  # along -y
            _runs(left.T)[:, [1, 0, 3, 2]],
        )
    )


def _runs(has_edge: Cells) -> Floats:
    """Return the edges between a row and the next, joined: a row is x1, y, x2, y."""
    turns = np.diff(has_edge.astype(np.int8), axis=1)
    row, begin = np.nonzero(turns == 1)
    _, end = np.nonzero(turns == -1)
    return np.stack((begin, row, end, row), axis=1).astype(np.float64)


def in_world(local_m: Floats, origin: Pose) -> Floats:
    """Transform points, rows of x and y, from the map's lower left corner to the world."""
    c, s = cos(origin.yaw_rad), sin(origin.yaw_rad)
    x_m, y_m = local_m.T
    return np.stack((origin.x_m + c * x_m - s * y_m, origin.y_m + s * x_m + c * y_m), axis=1)


def _lookup(is_free: Cells, resolution_m: float, origin: Pose) -> Callable[[float, float], bool]:
    c, s = cos(origin.yaw_rad), sin(origin.yaw_rad)
    rows, columns = is_free.shape

    def look(x_m: float, y_m: float) -> bool:
        dx, dy = x_m - origin.x_m, y_m - origin.y_m
        column, row = (
            floor((c * dx + s * dy) / resolution_m),
            floor((c * dy - s * dx) / resolution_m),
        )
        return 0 <= row < rows and 0 <= column < columns and bool(is_free[row, column])

    return look
