"""Pictures of a race as arrays: walls, the car, and the way that it has come."""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, sin

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from sim_mock.tracks.contact import Outline
from tandem.gym.racer import Moment

SIZE = 480  # pixels a side
_MARGIN = 20  # pixels: so that a wall is no edge of the picture
_FLOOR, _WALL, _CAR, _WAY = (250, 250, 248), (60, 60, 60), (200, 60, 40), (60, 120, 200)
_CAR_M = (0.3, 0.2, 0.15)  # ahead, behind, to a side: of a car whose file has no outline

Point = tuple[float, float]


class Canvas:
    """The pictures of one episode."""

    def __init__(self, walls: NDArray[np.float64]) -> None:
        """``walls``: rows of x1, y1, x2, y2 in m."""
        x, y = walls[:, [0, 2]], walls[:, [1, 3]]
        self._left_m, self._top_m = float(x.min()), float(y.max())
        # m: a single wall has a picture too
        span_m = max(float(x.max()) - self._left_m, self._top_m - float(y.min()), 1.0)
        self._per_m = (SIZE - 2 * _MARGIN) / span_m
        self._background = Image.new("RGB", (SIZE, SIZE), _FLOOR)
        draw = ImageDraw.Draw(self._background)
        for row in walls:
            draw.line([self._at(row[0], row[1]), self._at(row[2], row[3])], fill=_WALL)
        self._ways: dict[str, list[Point]] = {}

    def drawn(self, cars: Mapping[str, tuple[Moment, Outline | None]]) -> NDArray[np.uint8]:
        """Return the picture of now, rows x columns x RGB. ``cars``: by their names."""
        picture = self._background.copy()
        draw = ImageDraw.Draw(picture)
        for name, (moment, outline) in cars.items():
            way = self._ways.setdefault(name, [])
            way.append(self._at(moment.x_m, moment.y_m))
            if len(way) > 1:
                draw.line(way, fill=_WAY)
            draw.polygon(self._car(moment, outline), fill=_CAR)
        return np.asarray(picture, dtype=np.uint8)

    def _at(self, x_m: float, y_m: float) -> Point:
        return (
            _MARGIN + (float(x_m) - self._left_m) * self._per_m,
            _MARGIN + (self._top_m - float(y_m)) * self._per_m,
        )

    def _car(self, moment: Moment, outline: Outline | None) -> list[Point]:
        ahead_m, behind_m, side_m = (
            (outline.front_m, outline.rear_m, outline.half_width_m) if outline else _CAR_M
        )
        c, s = cos(moment.yaw_rad), sin(moment.yaw_rad)
        corners = ((ahead_m, side_m), (ahead_m, -side_m), (-behind_m, -side_m), (-behind_m, side_m))
        return [
            self._at(moment.x_m + c * x - s * y, moment.y_m + s * x + c * y) for x, y in corners
        ]
