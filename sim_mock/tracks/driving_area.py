"""The area where a virtual car drives: walls as segments, and what is free between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Pose(NamedTuple):
    """The pose of a car's centre of gravity in the world; yaw is positive to the left."""

    x_m: float
    y_m: float
    yaw_rad: float


@dataclass(frozen=True)
class DrivingArea:
    """Walls and free area of a track or map.

    ``walls``: a row is x1, y1, x2, y2 in m. ``is_free(x_m, y_m)``: a car may be there. ``frame``,
    of a map: its walls run along these axes, with the cell that each bounds on its left.
    ``notes`` are sentences for people on what was read otherwise than written.
    """

    title: str
    walls: Floats
    is_free: Callable[[float, float], bool]
    frame: Pose | None = None
    notes: tuple[str, ...] = ()


def is_between(walls: Floats, x_m: float, y_m: float) -> bool:
    """Return whether a point is inside closed walls.

    It is if a line from it crosses an odd number of them.
    """
    x1, y1, x2, y2 = walls.T
    crosses = (y1 > y_m) != (y2 > y_m)
    x1, y1, x2, y2 = x1[crosses], y1[crosses], x2[crosses], y2[crosses]
    return bool(np.count_nonzero(x1 + (y_m - y1) / (y2 - y1) * (x2 - x1) > x_m) % 2)
