"""The way of a car's poses from whoever finds them to whoever drives by them: faults act here."""

from __future__ import annotations

import heapq
from math import cos, sin
from typing import Generic, TypeVar

from sim_mock.world import PlanarPose, PoseFault

T = TypeVar("T")  # what goes along with a pose: its time, its odometry


class PoseFeed(Generic[T]):
    """The poses on their way, in the car's own time; without a fault each arrives at once."""

    def __init__(self, fault: PoseFault) -> None:
        self._fault = fault
        self._last: PlanarPose | None = None
        self._on_the_way: list[tuple[int, int, PlanarPose, T]] = []
        self._count = 0

    def put(self, now_us: int, pose: PlanarPose, rest: T) -> None:
        """Send a pose, and what belongs to it, on its way."""
        if self._fault.is_frozen and self._last is not None:
            pose = self._last
        self._last = pose
        self._count += 1
        arrival = now_us + self._fault.late_us, self._count, self._moved(pose), rest
        heapq.heappush(self._on_the_way, arrival)

    def due(self, now_us: int) -> list[tuple[PlanarPose, T]]:
        """Return what has arrived by now, in the order of arrival."""
        found = []
        while self._on_the_way and self._on_the_way[0][0] <= now_us:
            _, _, pose, rest = heapq.heappop(self._on_the_way)
            found.append((pose, rest))
        return found

    def _moved(self, pose: PlanarPose) -> PlanarPose:
        x_m, y_m, yaw_rad = pose
        ahead_m, left_m, turned_rad = self._fault.offset
        c, s = cos(yaw_rad), sin(yaw_rad)
        return x_m + c * ahead_m - s * left_m, y_m + s * ahead_m + c * left_m, yaw_rad + turned_rad
