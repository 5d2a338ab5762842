"""Repositioning (teleport) of a virtual car by lines in a named pipe.

It happens when the car stands, and where there is room for it. The car's program does not know of
it: its dead reckoning goes on from where it was.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from math import hypot, isfinite
from typing import TYPE_CHECKING

from sim_mock.tracks.driving_area import Pose

if TYPE_CHECKING:
    from sim_mock.world import World

    HasRoom = Callable[[World, Pose], bool]

_EVERY_US = 10_000  # between two looks: a step of a car
_STANDS_MPS = 0.01  # a wheel's creep is none
_READ_MAX = 65_536  # bytes: what a pipe holds
_KEYS = ("x_m", "y_m", "yaw_rad")


class PoseSetter:
    """A reader of poses, which sets the car's centre of gravity when it stands.

    A line is ``{"x_m": 1.0, "y_m": 0.0, "yaw_rad": 0.5}``; the last line counts. A line of another
    form is ignored, and so is a pose that is occupied.
    """

    def __init__(self, path: str, has_room: HasRoom) -> None:
        """Open the named pipe at ``path``. Raises OSError if it cannot be opened."""
        self._file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._has_room = has_room
        self._rest = b""
        self._asked: Pose | None = None
        self._read_us = 0

    def step(self, world: World) -> None:
        """Read new lines and move the car; call it after each step of the plant."""
        if world.now_us - self._read_us >= _EVERY_US:
            self._read_us = world.now_us
            self._read()
        if self._asked is None or not stands(world):
            return
        pose, self._asked = self._asked, None
        if self._has_room(world, pose):
            world.plant.truth.assign((*pose, 0.0, 0.0, 0.0))

    def _read(self) -> None:
        with suppress(BlockingIOError):
            self._rest += os.read(self._file, _READ_MAX)
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            self._asked = _pose(line) or self._asked


def stands(world: World) -> bool:
    """Return whether the car stands, so that it can be taken up."""
    truth = world.plant.truth
    return hypot(truth.vx_mps, truth.vy_mps) <= _STANDS_MPS


def _pose(line: bytes) -> Pose | None:
    """Return the pose in a line, or None if there is none."""
    try:
        row = json.loads(line)
        pose = Pose(*(float(row[key]) for key in _KEYS))
    except (ValueError, KeyError, TypeError):
        return None
    return pose if all(map(isfinite, pose)) else None
