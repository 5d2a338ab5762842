"""The floor of many bodies: how far walls are, and where along the centre line, for all at once."""

from __future__ import annotations

from pathlib import Path as FilePath

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree  # type: ignore[import-untyped]

from host_bridge.core.errors import DataFileFault
from sim_mock.tracks.loading import load_area
from tandem.gym.racer import centre_line

Floats = NDArray[np.float64]

_CELL_M = 0.05  # chosen: half of it is the most by which a wall is taken for too near or too far
_WALL_M = 0.02  # of points along walls
_MARGIN_M = 1.0  # beyond the walls, where no car is
_CELLS = 4_000_000  # of a field: 48 MB, and some seconds to fill


class Floor:
    """A track or map, as fields of cells that are looked up for all bodies at once."""

    def __init__(self, track: str, map_file: str) -> None:
        """Fill the fields. Raises errors.DataFileFault."""
        self._line = line = centre_line(track, map_file)
        self.length_m = line.length_m
        self._begins = line.points_m[:-1]
        steps = np.diff(line.points_m, axis=0)
        self._spans_m = np.hypot(*steps.T)
        self._tangents = steps / self._spans_m[:, None]
        area = load_area(track, map_file)
        assert area is not None, "a race is on a track or a map"
        points = _along(area.walls)
        self._low = points.min(axis=0) - _MARGIN_M
        size = points.max(axis=0) + _MARGIN_M - self._low
        self._cells_m = max(_CELL_M, float(np.sqrt(size[0] * size[1] / _CELLS)))
        if self._cells_m > 2.0 * _CELL_M:
            raise DataFileFault(
                "too large for an environment of bodies",
                where=FilePath(map_file).name or track,
                expected=f"{_CELLS * (2.0 * _CELL_M) ** 2:.0f} m2 at most",
                got=f"{size[0]:.0f} m x {size[1]:.0f} m",
            )
        columns, rows = (int(it) for it in np.ceil(size / self._cells_m))
        self._shape = np.array((rows, columns))
        centres = np.stack(
            np.meshgrid(
                self._low[0] + (np.arange(columns) + 0.5) * self._cells_m,
                self._low[1] + (np.arange(rows) + 0.5) * self._cells_m,
            ),
            axis=-1,
        ).reshape(-1, 2)
        self._walls_m = cKDTree(points).query(centres)[0].astype(np.float32)
        middles = self._begins + 0.5 * steps
        self._nearest = cKDTree(middles).query(centres)[1].astype(np.int32)

    def _cell(self, x_m: Floats, y_m: Floats) -> NDArray[np.intp]:
        columns = np.clip((x_m - self._low[0]) / self._cells_m, 0, self._shape[1] - 1)
        rows = np.clip((y_m - self._low[1]) / self._cells_m, 0, self._shape[0] - 1)
        return np.asarray(rows.astype(np.intp) * self._shape[1] + columns.astype(np.intp))

    def walls_m(self, x_m: Floats, y_m: Floats) -> Floats:
        """Return the distances to the nearest wall, right to half a cell and a bit."""
        return np.asarray(self._walls_m[self._cell(x_m, y_m)], np.float64)

    def beside(self, x_m: Floats, y_m: Floats) -> tuple[Floats, Floats, Floats]:
        """Return metres along the centre line, metres left of it, and its direction in rad."""
        i = self._nearest[self._cell(x_m, y_m)]
        dx, dy = x_m - self._begins[i, 0], y_m - self._begins[i, 1]
        tx, ty = self._tangents[i].T
        ahead_m = np.clip(dx * tx + dy * ty, 0.0, self._spans_m[i])
        return self._line.along_m[i] + ahead_m, tx * dy - ty * dx, np.arctan2(ty, tx)

    def places(self, along_m: Floats) -> Floats:
        """Return poses on the centre line, one a column: x, y (m) and yaw (rad)."""
        i = np.clip(
            np.searchsorted(self._line.along_m, along_m, side="right") - 1, 0, len(self._begins) - 1
        )
        x_m, y_m = self._begins[i].T + (along_m - self._line.along_m[i]) * self._tangents[i].T
        return np.stack((x_m, y_m, np.arctan2(self._tangents[i, 1], self._tangents[i, 0])))


def _along(walls: Floats) -> Floats:
    """Return points on all walls, so near to each other that none is missed."""
    spans_m = np.hypot(walls[:, 2] - walls[:, 0], walls[:, 3] - walls[:, 1])
    counts = np.ceil(spans_m / _WALL_M).astype(int) + 1
    rows = np.repeat(walls, counts, axis=0)
    at = np.concatenate([np.linspace(0.0, 1.0, count) for count in counts])
    return np.asarray(rows[:, :2] + at[:, None] * (rows[:, 2:] - rows[:, :2]))
