"""A shared track: several virtual cars in one place, each a moving box to the others.

Cars of one program that name the same scene (``scene=NAME`` in their URIs) see each other in their
LIDARs and stop at each other as at walls. A twin of a real car names none: it stands where its car
does.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import cos, dist, sin
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary, ref

import numpy as np

from sim_mock.tracks.contact import Outline, touches
from sim_mock.tracks.driving_area import Floats, Pose

if TYPE_CHECKING:
    from sim_mock.world import World

_SHARED: WeakValueDictionary[str, SharedTrack] = WeakValueDictionary()
NO_WALLS: Floats = np.zeros((0, 4))


class SharedTrack:
    """The cars that share a place, for as long as they exist."""

    def __init__(self, place: str) -> None:
        self.place = place
        self._cars: list[tuple[ref[World], Outline, float]] = []  # and how far each reaches, in m

    def enter(self, world: World, outline: Outline) -> None:
        """Add a car. Raises ValueError where another car is in the way."""
        if touches(outline, pose_of(world), self.others(world)):
            raise ValueError("another car of its scene is in the way; say start=X,Y,YAW_DEG")
        self._cars = [it for it in self._cars if it[0]() is not None]
        self._cars.append((ref(world), outline, outline.reach_m))

    def others(self, world: World) -> Floats:
        """Return the sides of all cars but this one: rows of x1, y1, x2, y2 in m."""
        return _sides((outline, pose_of(it)) for it, outline in self._all() if it is not world)

    def within_reach(self, world: World) -> Floats:
        """Return the sides of those cars that this one may touch where they stand."""
        mine_m = next((reach_m for it, _, reach_m in self._cars if it() is world), None)
        if mine_m is None:
            return NO_WALLS
        here, near = world.plant.truth, []
        for reference, outline, reach_m in self._cars:
            it = reference()
            if it is None or it is world:
                continue
            there, apart_m = it.plant.truth, reach_m + mine_m
            if abs(there.x_m - here.x_m) > apart_m:  # as most are
                continue
            if dist((there.x_m, there.y_m), (here.x_m, here.y_m)) <= apart_m:
                near.append((outline, pose_of(it)))
        return _sides(near)

    def _all(self) -> list[tuple[World, Outline]]:
        found = [(reference(), outline) for reference, outline, _ in self._cars]
        return [(world, outline) for world, outline in found if world is not None]


def _sides(cars: Iterable[tuple[Outline, Pose]]) -> Floats:
    sides = [sides_of(outline, pose) for outline, pose in cars]
    return np.concatenate(sides) if sides else NO_WALLS


def shared_track_named(name: str, place: str) -> SharedTrack:
    """Return the shared track of a scene of that name, which exists as long as a car is on it.

    Raises ValueError if it is at another place: cars in one scene share its walls.
    """
    track = _SHARED.setdefault(name, SharedTrack(place))
    if track.place != place:
        raise ValueError(f"scene={name} is at {track.place}; this car would be at {place}")
    return track


def pose_of(world: World) -> Pose:
    """Return the pose of the car's centre of gravity."""
    truth = world.plant.truth
    return Pose(truth.x_m, truth.y_m, truth.yaw_rad)


def sides_of(outline: Outline, pose: Pose) -> Floats:
    """Return the four sides of a car seen from above, as walls."""
    c, s = cos(pose.yaw_rad), sin(pose.yaw_rad)
    front, rear, half = outline.front_m, -outline.rear_m, outline.half_width_m
    corners = [
        (pose.x_m + c * along - s * across, pose.y_m + s * along + c * across)
        for along, across in ((front, half), (rear, half), (rear, -half), (front, -half))
    ]
    return np.array([(*it, *corners[i - 3]) for i, it in enumerate(corners)])
