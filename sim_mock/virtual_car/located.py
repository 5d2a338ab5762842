"""The poses of a virtual car as a localiser or a motion capture over the room would write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim_mock.sensors.instruments import SensorSample
from sim_mock.sensors.pose_feed import PoseFeed
from sim_mock.sensors.publishing import SampleWriter

if TYPE_CHECKING:
    from sim_mock.world import World

_PERIOD_US = 50_000  # 20 a second, as tandem localise
_KEYS = ("x_m", "y_m", "yaw_rad")


class LocatedLines:
    """A writer of the pose of the centre of gravity, in the axes of its track or map."""

    def __init__(self, path: str, world: World) -> None:
        """Raises OSError for a path that cannot be written."""
        self._lines = SampleWriter(path)
        self._feed: PoseFeed[int] = PoseFeed(world.pose_fault)
        self._due_us = world.now_us

    def step(self, world: World) -> None:
        """Write what is due; call it after each step of the plant."""
        now_us = world.now_us
        if now_us >= self._due_us:
            self._due_us = now_us + _PERIOD_US
            x_m, y_m, yaw_rad, *_ = world.plant.truth.values()
            self._feed.put(now_us, (x_m, y_m, yaw_rad), now_us)
        for pose, taken_us in self._feed.due(now_us):
            quality = {"std_m": 0.0, "is_lost": False, "frame": "map"}
            measured = {**dict(zip(_KEYS, pose, strict=True)), **quality}
            self._lines.put(SensorSample("pose", taken_us, now_us, measured, {}))
