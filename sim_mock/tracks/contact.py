"""The contact of a virtual car with walls: they stop it.

This is the simplest physically sound model: a hit absorbs all of the car's motion (perfectly
inelastic, no sliding along the wall, no damage), and the car stays where it was before the step
that would have taken it into the wall. Its wheels may go on turning; away from the wall it drives
as usual. The board's IMU does not sense the impact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, dist, hypot, sin
from typing import TYPE_CHECKING

import numpy as np

from sim_mock.tracks.driving_area import DrivingArea, Floats, Pose

if TYPE_CHECKING:
    from sim_mock.plant.parameters import PlantParameters
    from sim_mock.world import World

_LEANS_M = 0.01  # a car has to get farther from its last hit for a new one to count


@dataclass(frozen=True)
class Outline:
    """A car's rectangle seen from above, from its centre of gravity."""

    front_m: float
    rear_m: float
    half_width_m: float

    @classmethod
    def of(cls, parameters: PlantParameters) -> Outline:
        """Return a vehicle's outline. Raises ValueError if its file does not have it."""
        outline = parameters.outline
        if outline is None:
            raise ValueError("no [plant.outline] in its vehicle file: how big is it among walls?")
        rear_m = parameters.body.lr_m + outline.rear_overhang_m
        return cls(outline.length_m - rear_m, rear_m, outline.width_m / 2.0)

    @property
    def reach_m(self) -> float:
        """The largest distance of any part of it from the centre of gravity."""
        return hypot(max(self.front_m, self.rear_m), self.half_width_m)


def touches(outline: Outline, pose: Pose, walls: Floats) -> bool:
    """Return whether a wall crosses the outline or lies in it, by clipping against its sides."""
    c, s = cos(pose.yaw_rad), sin(pose.yaw_rad)
    dx, dy = walls[:, [0, 2]] - pose.x_m, walls[:, [1, 3]] - pose.y_m
    enter, leave = np.zeros(len(walls)), np.ones(len(walls))
    low, high = -outline.rear_m, outline.front_m
    for along in (c * dx + s * dy, c * dy - s * dx):
        begin, span = along[:, 0], along[:, 1] - along[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            first, second = (low - begin) / span, (high - begin) / span
        # A wall along this side is within it as a whole, on its very line too (0/0), or beside it
        is_along = span == 0.0
        is_beside = is_along & ((begin < low) | (begin > high))
        enter = np.where(is_along, enter, np.fmax(enter, np.fmin(first, second)))
        leave = np.where(is_along, leave, np.fmin(leave, np.fmax(first, second)))
        leave = np.where(is_beside, -1.0, leave)
        low, high = -outline.half_width_m, outline.half_width_m
    return bool(np.any(enter <= leave))


def clearance_m(x_m: float, y_m: float, walls: Floats) -> float:
    """Return the distance from a point to the nearest wall; inf without walls."""
    px, py = x_m - walls[:, 0], y_m - walls[:, 1]
    ex, ey = walls[:, 2] - walls[:, 0], walls[:, 3] - walls[:, 1]
    # m^2: a wall of no length is a point, and no division by 0
    share = np.clip((px * ex + py * ey) / np.maximum(ex * ex + ey * ey, 1e-18), 0.0, 1.0)
    return float(np.hypot(px - share * ex, py - share * ey).min(initial=np.inf))


class Contact:
    """An observer that stops a car at walls after each step of its plant, and counts hits.

    ``hits``: the number of hits; ``hit_mps``: the speed of the last one. ``is_off``: the car's
    centre is where no car may be (``left_count``: how often it went there).
    """

    def __init__(
        self,
        area: DrivingArea,
        outline: Outline,
        pose: Pose,
        others: Callable[[World], Floats] | None = None,
    ) -> None:
        """Start at ``pose``; ``others`` returns the sides of other cars (tracks/scene.py)."""
        self.hits = self.left_count = 0
        self.hit_mps = 0.0
        self.is_off = False
        self._area = area
        self._outline = outline
        self._others = others
        self._pose = pose
        self._hit: Pose | None = None  # the car's pose before its last hit
        self._slack_m = 0.0  # the distance that it can go before any wall is within reach

    def step(self, world: World) -> None:
        """Check for contact; call it with the world after each step of the plant."""
        truth = world.plant.truth
        pose = Pose(truth.x_m, truth.y_m, truth.yaw_rad)
        if pose == self._pose:
            return
        self._slack_m -= dist(pose[:2], self._pose[:2])
        is_near = self._slack_m <= 0.0
        is_hit = is_near and self._is_hit(pose)
        if is_hit or (self._others and touches(self._outline, pose, self._others(world))):
            self._count_hit(hypot(truth.vx_mps, truth.vy_mps))
            truth.assign((*self._pose, 0.0, 0.0, 0.0))
            return
        self._pose = pose
        # Beyond reach of all walls the centre crosses none; a map's unknown cells have no walls
        if is_near or self._area.frame is not None:
            self._look(pose)

    def seen(self) -> dict[str, float]:
        """Return its counters, by name."""
        return {
            "hits": self.hits,
            "hit_mps": self.hit_mps,
            "is_off": self.is_off,
            "left_count": self.left_count,
        }

    def _is_hit(self, pose: Pose) -> bool:
        near_m = clearance_m(pose.x_m, pose.y_m, self._area.walls)
        self._slack_m = near_m - self._outline.reach_m
        return self._slack_m <= 0.0 and touches(self._outline, pose, self._area.walls)

    def _count_hit(self, speed_mps: float) -> None:
        if self._hit is None or dist(self._hit[:2], self._pose[:2]) > _LEANS_M:
            self.hits += 1
            self.hit_mps = speed_mps
            self._hit = self._pose

    def _look(self, pose: Pose) -> None:
        was_off, self.is_off = self.is_off, not self._area.is_free(pose.x_m, pose.y_m)
        self.left_count += self.is_off and not was_off
