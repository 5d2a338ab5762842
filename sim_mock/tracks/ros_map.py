"""A map in the format of ROS's map_server: a .yaml, and an image of cells.

Cells darker than ``occupied_thresh`` are walls, lighter than ``free_thresh`` free, the others
unknown: no wall, and no place for a car. Walls run along the edges of the occupied cells, so a ray
meets them exactly where the cell begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import cos, floor, sin
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import yaml
from PIL import Image, UnidentifiedImageError

from sim_mock.tracks.driving_area import DrivingArea, Floats, Pose

_KEYS = ("image", "resolution", "origin", "negate", "occupied_thresh", "free_thresh")
Cells = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Grid:
    """The cells of a map, the lowest row first; ``origin`` is the outer corner of the first."""

    is_wall: Cells
    is_free: Cells
    resolution_m: float
    origin: Pose


def load_map(path: Path) -> DrivingArea:
    """Load a map's walls and free area.

    Raises ValueError for what is wrong with it, or OSError for a file that cannot be read.
    """
    grid = load_grid(path)
    walls = in_world(edges(grid.is_wall).reshape(-1, 2) * grid.resolution_m, grid.origin)
    is_free = _lookup(grid.is_free, grid.resolution_m, grid.origin)
    return DrivingArea(path.stem, walls.reshape(-1, 4), is_free, grid.origin)


def load_grid(path: Path) -> Grid:
    """Load a map's cells.

    Raises ValueError for what is wrong with it, or OSError for a file that cannot be read.
    """
    try:
        return _loaded(path)
    except (TypeError, KeyError, OverflowError, RecursionError, MemoryError) as fault:
        raise ValueError(f"{path}: not a map of ROS's map_server: {fault}") from None


def _loaded(path: Path) -> Grid:
    table = _table(path)
    occupancy = _occupancy(path.parent / str(table["image"]), bool(table["negate"]))
    return Grid(
        occupancy > float(table["occupied_thresh"]),
        occupancy < float(table["free_thresh"]),
        float(table["resolution"]),
        Pose(*map(float, table["origin"])),
    )


def _table(path: Path) -> Mapping[str, Any]:
    try:
        table: Any = yaml.safe_load(path.read_text())
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as fault:
        raise ValueError(f"{path}: no YAML of a map: {fault}") from None
    missing = [key for key in _KEYS if not isinstance(table, dict) or key not in table]
    if missing:
        raise ValueError(f"{path}: a map has {', '.join(_KEYS)}; missing: {', '.join(missing)}")
    if table.get("mode", "trinary") != "trinary":
        raise ValueError(
            f"{path}: mode {table['mode']!r}: only trinary maps have walls; save it so"
        )
    if len(table["origin"]) != 3 or not float(table["resolution"]) > 0.0:
        raise ValueError(f"{path}: expected origin [x, y, yaw] and a resolution above 0 m")
    return cast("Mapping[str, Any]", table)


def _occupancy(path: Path, negate: bool) -> Floats:
    """Return each cell's occupancy, 0 to 1, the lowest row first: an image begins at the top."""
    try:
        with Image.open(path) as image:
            shades: Floats = np.asarray(image.convert("RGB"), dtype=np.float64).mean(axis=2)
    except (UnidentifiedImageError, SyntaxError, EOFError, Image.DecompressionBombError):
        raise ValueError(f"{path}: not an image of a map (.pgm, .png)") from None
    return np.asarray(np.flipud(shades if negate else 255.0 - shades)) / 255.0


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
