"""A map as a table of how likely the end of a ray is in each cell (S. Thrun, W. Burgard, D. Fox,
"Probabilistic Robotics", 2005, section 6.4: likelihood fields)."""

from __future__ import annotations

from math import cos, sin

import numpy as np
import numpy.typing as npt
from scipy.ndimage import distance_transform_edt  # type: ignore[import-untyped]

from host_bridge.mapping.planar import Floats, moved

# Of an end's distance from a wall: the noise of the LIDAR, half a cell, what the map is off
_SIGMA_M = 0.08
_RANDOM = 0.1  # the likelihood of an end that no wall explains, beside 1 for one on a wall
NEAR_M = 0.12  # an end that is nearer to a wall than this fits
_OUTSIDE_M = 9.0  # the distance from walls of what lies outside the map


class LikelihoodField:
    """A map's walls for a localiser: ``is_wall`` and ``is_free`` have the lowest row first.

    ``corner`` is the pose of the map's lower left corner in the map's frame.
    """

    def __init__(
        self,
        is_wall: npt.NDArray[np.bool_],
        is_free: npt.NDArray[np.bool_],
        resolution_m: float,
        corner: Floats,
    ) -> None:
        """Prepare the tables. Raises ValueError for a map without a wall or without free cells."""
        if not is_wall.any() or not is_free.any():
            raise ValueError("the map has no wall" if is_free.any() else "the map has no free cell")
        self._resolution_m = resolution_m
        self._corner = corner
        walls = np.pad(is_wall, 1)  # a border of cells outside the map
        self._far_m = distance_transform_edt(~walls) * resolution_m
        self._far_m[0] = self._far_m[-1] = self._far_m[:, 0] = self._far_m[:, -1] = _OUTSIDE_M
        near = np.exp(-0.5 * (self._far_m / _SIGMA_M) ** 2)
        self._logs = np.log((near + _RANDOM) / (1.0 + _RANDOM)).astype(np.float32)
        self._free = np.argwhere(is_free)

    def log_likelihoods(self, poses: Floats, ends_m: Floats) -> Floats:
        """Return for each pose, a row of x, y, yaw, the mean log likelihood of the rays' ends.

        ``ends_m`` are rows of x, y as seen from the pose.
        """
        return np.asarray(self._looked_up(self._logs, poses, ends_m).mean(axis=1), dtype=float)

    def fit(self, pose: Floats, ends_m: Floats) -> float:
        """Return the share of ends that lie within 0.12 m of a wall, 0 to 1."""
        far_m = self._looked_up(self._far_m, pose[None], ends_m)
        return float(np.mean(far_m < NEAR_M)) if far_m.size else 0.0

    def free_poses(self, count: int, random: np.random.Generator) -> Floats:
        """Return so many random poses in free cells, rows of x, y, yaw."""
        cells = self._free[random.integers(len(self._free), size=count)][:, ::-1]
        local = (cells + random.random((count, 2))) * self._resolution_m
        yaws = random.uniform(-np.pi, np.pi, count)
        return np.column_stack((moved(local, self._corner), yaws))

    def _looked_up(self, table: npt.NDArray[np.floating], poses: Floats, ends_m: Floats) -> Floats:
        """Return the table's values at the ends, a row for each pose."""
        rows, columns = table.shape
        c0, s0 = cos(self._corner[2]), sin(self._corner[2])
        yaw = poses[:, 2] - self._corner[2]
        c, s = np.cos(yaw)[:, None], np.sin(yaw)[:, None]
        dx, dy = poses[:, 0] - self._corner[0], poses[:, 1] - self._corner[1]
        # In cells of the padded table, whose border is one cell
        per_m = 1.0 / self._resolution_m
        x = ((c0 * dx + s0 * dy)[:, None] + c * ends_m[:, 0] - s * ends_m[:, 1]) * per_m + 1.0
        y = ((c0 * dy - s0 * dx)[:, None] + s * ends_m[:, 0] + c * ends_m[:, 1]) * per_m + 1.0
        column = np.clip(x, 0.0, columns - 1).astype(np.int32)
        row = np.clip(y, 0.0, rows - 1).astype(np.int32)
        return np.asarray(table.ravel()[row * columns + column])
