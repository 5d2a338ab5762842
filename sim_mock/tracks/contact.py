"""The contact of a virtual car with walls: they stop it.

Unless the vehicle file says more, this is the simplest physically sound model: a hit absorbs all of
the car's motion (perfectly inelastic, no sliding along the wall, no damage). With ``wall_mu`` in
``[plant.outline]`` it is that of two rigid bodies: an impulse at the point of contact, along the
wall's normal with the ``restitution``, and along the wall within Coulomb's friction. Either way the
car stays where it was before the step that would have taken it into the wall. Its wheels may go on
turning; away from the wall it drives as usual. The board's IMU does not sense the impact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, dist, hypot, sin
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sim_mock.tracks.driving_area import DrivingArea, Floats, Pose

if TYPE_CHECKING:
    from sim_mock.plant.body import BodyParameters
    from sim_mock.plant.parameters import PlantParameters
    from sim_mock.world import PlanarPose, World

_TOUCHING_US = 100_000  # a car that slides along a wall and touches it again by then has hit once
_CLEAR_M = 1e-6  # a car that is moved out of a wall is so far from it
_POINT_M = 1e-9  # a wall shorter than this has no direction
_LEANS_M = 0.01  # a car has to get farther from its last hit for a new one to count


@dataclass(frozen=True)
class Outline:
    """A car's rectangle seen from above, from its centre of gravity."""

    front_m: float
    rear_m: float
    half_width_m: float
    restitution: float = 0.0
    wall_mu: float | None = None  # None: a wall holds the car

    @classmethod
    def of(cls, parameters: PlantParameters) -> Outline:
        """Return a vehicle's outline. Raises ValueError if its file does not have it."""
        outline = parameters.outline
        if outline is None:
            raise ValueError("no [plant.outline] in its vehicle file: how big is it among walls?")
        rear_m = parameters.body.lr_m + outline.rear_overhang_m
        return cls(
            outline.length_m - rear_m,
            rear_m,
            outline.width_m / 2.0,
            outline.restitution,
            outline.wall_mu,
        )

    def corners(self, pose: Pose) -> list[tuple[float, float]]:
        """Return its four corners in the world."""
        c, s = cos(pose.yaw_rad), sin(pose.yaw_rad)
        ends = (self.front_m, -self.rear_m), (self.half_width_m, -self.half_width_m)
        return [
            (pose.x_m + c * x - s * y, pose.y_m + s * x + c * y) for x in ends[0] for y in ends[1]
        ]

    @property
    def reach_m(self) -> float:
        """The largest distance of any part of it from the centre of gravity."""
        return hypot(max(self.front_m, self.rear_m), self.half_width_m)


def touches(outline: Outline, pose: Pose, walls: Floats) -> bool:
    """Return whether a wall crosses the outline or lies in it."""
    enter, leave = clipped(outline, pose, walls)
    return bool(np.any(enter <= leave))


def clipped(outline: Outline, pose: Pose, walls: Floats) -> tuple[Floats, Floats]:
    """Return where along each wall, from 0 to 1, the outline begins and ends, by its sides.

    A wall that is outside has its beginning behind its end.
    """
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
    return enter, leave


def clearance_m(x_m: float, y_m: float, walls: Floats) -> float:
    """Return the distance from a point to the nearest wall; inf without walls."""
    px, py = x_m - walls[:, 0], y_m - walls[:, 1]
    ex, ey = walls[:, 2] - walls[:, 0], walls[:, 3] - walls[:, 1]
    # m^2: a wall of no length is a point, and no division by 0
    share = np.clip((px * ex + py * ey) / np.maximum(ex * ex + ey * ey, 1e-18), 0.0, 1.0)
    return float(np.hypot(px - share * ex, py - share * ey).min(initial=np.inf))


def bounced(
    outline: Outline, pose: Pose, walls: Floats, body: BodyParameters, state: Sequence[float]
) -> tuple[Pose, tuple[float, float, float]]:
    """Return the pose and the speeds in the car after it hit a wall.

    It is the wall that reaches farthest into the outline. The pose is moved out of it along its
    normal. An impulse at the point of contact: along the normal (1 + e) of the approaching speed
    over the mass that is felt there, along the wall what stops the sliding, at most mu of it.
    Source: Mirtich and Canny, Impulse-based Simulation of Rigid Bodies, 1995, for one contact in
    the plane.
    """
    enter, leave = clipped(outline, pose, walls)
    lengths_m = np.hypot(walls[:, 2] - walls[:, 0], walls[:, 3] - walls[:, 1])
    deepest = int(np.argmax((leave - enter) * np.maximum(lengths_m, _POINT_M)))
    wall = [float(it) for it in walls[deepest]]
    share = float(enter[deepest] + leave[deepest]) / 2.0
    along = wall[2] - wall[0], wall[3] - wall[1]
    at_x_m, at_y_m = wall[0] + share * along[0], wall[1] + share * along[1]
    dx, dy = at_x_m - pose.x_m, at_y_m - pose.y_m
    nx, ny = -along[1], along[0]
    if hypot(nx, ny) < _POINT_M:
        nx, ny = -dx, -dy
    if nx * dx + ny * dy > 0.0:
        nx, ny = -nx, -ny  # from the wall to the car
    nx, ny = nx / hypot(nx, ny), ny / hypot(nx, ny)
    corners = outline.corners(pose)
    deep_m = max(-((x - at_x_m) * nx + (y - at_y_m) * ny) for x, y in corners)
    out_m = max(deep_m, 0.0) + _CLEAR_M
    c, s = cos(pose.yaw_rad), sin(pose.yaw_rad)
    hit = _Hit(c * dx + s * dy, c * dy - s * dx, c * nx + s * ny, c * ny - s * nx)
    freed = Pose(pose.x_m + out_m * nx, pose.y_m + out_m * ny, pose.yaw_rad)
    return freed, _pushed(outline, hit, body, (state[3], state[4], state[5]))


class _Hit(NamedTuple):
    """The point of contact and the wall's normal, towards the car, in the car's axes."""

    x_m: float
    y_m: float
    nx: float
    ny: float


def _pushed(
    outline: Outline, hit: _Hit, body: BodyParameters, speeds: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Return the speeds in the car after the impulse of a hit."""
    (vx, vy, rate), (x_m, y_m, nx, ny) = speeds, hit
    at_x, at_y = vx - rate * y_m, vy + rate * x_m
    closing_mps = -(at_x * nx + at_y * ny)
    if closing_mps <= 0.0:
        return speeds
    push_ns = (1.0 + outline.restitution) * closing_mps * _felt_kg(body, x_m, y_m, nx, ny)
    most_ns = (outline.wall_mu or 0.0) * push_ns
    drag_ns = (at_x * ny - at_y * nx) * _felt_kg(body, x_m, y_m, -ny, nx)
    before, after = _energy_j(body, speeds), speeds
    for friction_ns in (min(max(drag_ns, -most_ns), most_ns), 0.0):
        jx, jy = push_ns * nx - friction_ns * ny, push_ns * ny + friction_ns * nx
        after = (
            vx + jx / body.mass_kg,
            vy + jy / body.mass_kg,
            rate + (x_m * jy - y_m * jx) / body.inertia_z_kgm2,
        )
        if _energy_j(body, after) <= before:
            break  # the two impulses turn the car together, which may be too much; one never is
    return after


def _energy_j(body: BodyParameters, speeds: tuple[float, float, float]) -> float:
    vx, vy, rate = speeds
    return 0.5 * (body.mass_kg * (vx * vx + vy * vy) + body.inertia_z_kgm2 * rate * rate)


def _felt_kg(body: BodyParameters, x_m: float, y_m: float, nx: float, ny: float) -> float:
    """Return the mass that a push along this unit vector feels at a point of the car."""
    arm_m = x_m * ny - y_m * nx
    return 1.0 / (1.0 / body.mass_kg + arm_m * arm_m / body.inertia_z_kgm2)


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
        """Start at ``pose``; ``others`` returns the sides of other cars within its reach."""
        self.hits = self.left_count = 0
        self.hit_mps = 0.0
        self.is_off = False
        self._area = area
        self._outline = outline
        self._reach_m = outline.reach_m
        self._others = others
        # Plain tuples: one is made at each step of the plant
        self._pose: PlanarPose = pose
        self._hit: PlanarPose | None = None  # the car's pose before its last hit
        self._touched_us = -_TOUCHING_US  # when it last touched a wall
        self._slack_m = 0.0  # the distance that it can go before any wall is within reach
        # A map's unknown cells have no walls; elsewhere nothing is to be seen beyond their reach
        self._always_looks = others is not None or area.frame is not None

    def step(self, world: World) -> None:
        """Check for contact; call it with the world after each step of the plant."""
        truth = world.plant.truth
        place = truth.x_m, truth.y_m, truth.yaw_rad
        before = self._pose
        if place == before:
            return
        self._slack_m -= dist(place[:2], before[:2])
        is_near = self._slack_m <= 0.0
        if not is_near and not self._always_looks:
            self._pose = place
            return
        pose = Pose(*place)
        is_hit = is_near and self._is_hit(pose)
        if is_hit or self._is_at_another(world, pose):
            self._hit_at(world, pose)
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

    def _hit_at(self, world: World, pose: Pose) -> None:
        truth = world.plant.truth
        speed_mps = hypot(truth.vx_mps, truth.vy_mps)
        is_touching = world.now_us - self._touched_us < _TOUCHING_US
        self._touched_us = world.now_us
        if self._outline.wall_mu is None:
            self._count_hit(speed_mps)
            truth.assign((*self._pose, 0.0, 0.0, 0.0))
            return
        if not is_touching:
            self.hits += 1
            self.hit_mps = speed_mps
        walls = self._area.walls
        if self._others:
            walls = np.concatenate((walls, self._others(world)))
        body = world.plant.parameters.body
        freed, speeds = bounced(self._outline, pose, walls, body, truth.values())
        if not touches(self._outline, freed, walls):
            self._pose, self._slack_m = freed, 0.0
        truth.assign((*self._pose, *speeds))

    def _is_hit(self, pose: Pose) -> bool:
        near_m = clearance_m(pose.x_m, pose.y_m, self._area.walls)
        self._slack_m = near_m - self._reach_m
        return self._slack_m <= 0.0 and touches(self._outline, pose, self._area.walls)

    def _is_at_another(self, world: World, pose: Pose) -> bool:
        sides = self._others(world) if self._others else ()
        return len(sides) > 0 and touches(self._outline, pose, np.asarray(sides))

    def _count_hit(self, speed_mps: float) -> None:
        if self._hit is None or dist(self._hit[:2], self._pose[:2]) > _LEANS_M:
            self.hits += 1
            self.hit_mps = speed_mps
            self._hit = self._pose

    def _look(self, pose: Pose) -> None:
        was_off, self.is_off = self.is_off, not self._area.is_free(pose.x_m, pose.y_m)
        self.left_count += self.is_off and not was_off
