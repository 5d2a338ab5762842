"""Room beside a line: the distance to the first wall to the left and to the right of its points."""

from __future__ import annotations

import numpy as np

from sim_mock.tracks.driving_area import Floats

_AT_ONCE = 200_000  # pairs of point and wall in memory at a time: some MB


def room_beside(points_m: Floats, left: Floats, walls: Floats) -> tuple[Floats, Floats]:
    """Return the distances in m along ``left`` (unit vectors) and against it; inf without a wall.

    ``points_m``: rows of x and y; ``walls``: rows of x1, y1, x2, y2.
    """
    to_left, to_right = np.full(len(points_m), np.inf), np.full(len(points_m), np.inf)
    many = max(_AT_ONCE // max(len(walls), 1), 1)
    for begin in range(0, len(points_m), many):
        part = slice(begin, begin + many)
        distance = _along(points_m[part], left[part], walls)
        to_left[part] = np.where(distance >= 0.0, distance, np.inf).min(axis=1, initial=np.inf)
        to_right[part] = np.where(distance <= 0.0, -distance, np.inf).min(axis=1, initial=np.inf)
    return to_left, to_right


def _along(points_m: Floats, direction: Floats, walls: Floats) -> Floats:
    """Return for each point (row) and wall where the line along ``direction`` meets it; else NaN.

    It solves p + t d = w + u e by cross products.
    """
    px, py = walls[:, 0] - points_m[:, :1], walls[:, 1] - points_m[:, 1:]
    ex, ey = walls[:, 2] - walls[:, 0], walls[:, 3] - walls[:, 1]
    dx, dy = direction[:, :1], direction[:, 1:]
    across = dx * ey - dy * ex
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = (px * ey - py * ex) / across
        share = (px * dy - py * dx) / across
    # a hair over its ends, so that no line passes where two walls meet
    return np.where((share >= -1e-9) & (share <= 1.0 + 1e-9), distance, np.nan)
