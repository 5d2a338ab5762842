"""The last reports of a car's motion: where it reckoned itself to be at a time of its own."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from math import hypot, remainder, tau

from host_bridge.core import CarMotion
from host_bridge.core.board_time import TIME_MASK, unwrapped_us
from host_bridge.mapping.poses.report import Pose

_KEPT = 200  # reports of motion, 4 s: longer than any pose is believed


class OdometryTrack:
    """The reckoned poses of the last seconds, by the car's time, which counts on over its wraps."""

    def __init__(self) -> None:
        self._times_us: deque[int] = deque(maxlen=_KEPT)
        self._poses: deque[Pose] = deque(maxlen=_KEPT)
        self._ahead_us: deque[int] = deque(maxlen=_KEPT)  # the host's time less the car's
        self.driven_m = 0.0

    @property
    def has_any(self) -> bool:
        return bool(self._times_us)

    @property
    def newest_us(self) -> int:
        """The car's time of the newest report."""
        return self._times_us[-1]

    def add(self, motion: CarMotion, now_us: int = 0) -> None:
        """Take a report that came by ``now_us``; one that is known already is left out."""
        captured_us, pose = motion.captured_us, (motion.x_m, motion.y_m, motion.yaw_rad)
        if self._times_us:
            captured_us = unwrapped_us(captured_us, self._times_us[-1])
            if captured_us <= self._times_us[-1]:
                return
            x_m, y_m, yaw_rad = self._poses[-1]
            self.driven_m += hypot(pose[0] - x_m, pose[1] - y_m)
            pose = pose[0], pose[1], yaw_rad + remainder(pose[2] - yaw_rad, tau)
        self._times_us.append(captured_us)
        self._poses.append(pose)
        self._ahead_us.append(now_us - captured_us)

    def car_us(self, taken_us: int, *, is_host_time: bool) -> int:
        """Return a time on the car's clock, in the turn of it that is nearest to now.

        A host's time is compared by the report that was least delayed on its way.
        """
        if is_host_time:
            return taken_us - min(self._ahead_us)
        return unwrapped_us(taken_us & TIME_MASK, self.newest_us)

    def at(self, taken_us: int) -> Pose | None:
        """Return the reckoned pose then; None before the first report and after the newest."""
        if not self._times_us or not self._times_us[0] <= taken_us <= self._times_us[-1]:
            return None
        times = list(self._times_us)
        after = bisect_left(times, taken_us)
        if times[after] == taken_us:
            return self._poses[after]
        part = (taken_us - times[after - 1]) / (times[after] - times[after - 1])
        x, y, yaw = (
            a + part * (b - a)
            for a, b in zip(self._poses[after - 1], self._poses[after], strict=True)
        )
        return x, y, yaw
