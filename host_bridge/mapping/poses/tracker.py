"""A car's pose by a pose source: dead reckoning, corrected; and which poses stop a car.

Until the next report dead reckoning goes on from the last one. Whoever follows a path is stopped
by a pose that is stale, jumps, diverges from the odometry, is lost or unsure, changes its frame, or
cannot be read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from math import cos, hypot, remainder, sin, tau
from typing import Any, NamedTuple

from host_bridge.core import CarMotion
from host_bridge.mapping.poses.odometry_track import OdometryTrack
from host_bridge.mapping.poses.report import Frame, Pose, PoseReport, PoseSource, frame_transform

# At 2 m/s a car reckons a metre on from a pose that is so old, 1 % of it wrong
STALE_S = 0.5
# A localiser that follows the car corrects by centimetres; what is more is another place
JUMP_M, JUMP_RAD = 0.25, 0.2
# Within WINDOW_S the pose and the odometry may come apart by JUMP_M and this share of the distance
# driven. Odometry of wheels that slip is wrong by some 10 % of it; a localiser that is stuck while
# the car drives, by all of it
WINDOW_S, SLIP_SHARE = 1.0, 0.15
APART_M = 0.25  # standard deviation of the place, as the source itself has it
_WAITING = 100  # reports that are newer than the newest odometry: two seconds of a fast source


class _Accepted(NamedTuple):
    taken_us: int
    frame: Frame
    driven_m: float


class PoseTracker:
    """The reader of one pose source for one car.

    ``behind_m`` is from the centre of gravity back to the point that the car turns about. ``frame``
    moves dead reckoning into the source's frame; None before the first pose.
    """

    def __init__(self, source: PoseSource, behind_m: float) -> None:
        self._source, self._behind_m = source, behind_m
        self.title = source.title
        self.frame: Frame | None = None
        self.newest: PoseReport | None = None
        self._track = OdometryTrack()
        self._waiting: deque[PoseReport] = deque(maxlen=_WAITING)
        self._accepted: deque[_Accepted] = deque()
        self._latest: PoseReport | None = None  # the newest of the whole drive, for its figures
        self._count, self._oldest_us, self._corrected_m = 0, 0, 0.0

    def step(self, now_us: int, motion: CarMotion) -> str:
        """Take what has come; return why the car must stop, "" if nothing is against it."""
        self._track.add(motion, now_us)
        for report in self._source.take(now_us, motion):
            if isinstance(report, str):
                return f"The {self.title} {report}"
            self._waiting.append(report)
        reckoned = motion.x_m, motion.y_m, motion.yaw_rad
        while self._waiting:
            taken_us = self._time_us(self._waiting[0])
            odometry = self._waiting[0].odometry or self._track.at(taken_us)
            if odometry is None and taken_us > self._track.newest_us:
                break  # the odometry of that time is still to come
            report = self._waiting.popleft()
            if odometry is None:
                continue  # older than all odometry: far too late
            why = self._take(replace(report, odometry=odometry), taken_us, reckoned)
            if why:
                return why
        return self._age_fault()

    def age_s(self) -> float | None:
        """Return the age of the newest accepted pose by the car's clock, at its last report."""
        if not self._accepted:
            return None
        return max(self._track.newest_us - self._accepted[-1].taken_us, 0) * 1e-6

    def begin_anew(self) -> None:
        """Forget the last pose: a person who arms again has seen where the car is."""
        self.frame = self.newest = None
        self._waiting.clear()
        self._accepted.clear()

    def figures(self) -> Mapping[str, Any]:
        """Return the figures of the whole drive: what came, how old, and what it corrected."""
        newest = self._latest
        return {
            "source": self.title,
            "frame": newest.frame if newest else None,
            "std_m": newest.std_m if newest else None,
            "poses": self._count,
            "oldest_s": round(self._oldest_us * 1e-6, 3),
            "corrected_worst_m": round(self._corrected_m, 3),
        }

    def close(self) -> None:
        self._source.close()

    def _time_us(self, report: PoseReport) -> int:
        return self._track.car_us(report.taken_us, is_host_time=report.is_host_time)

    def _take(self, report: PoseReport, taken_us: int, reckoned: Pose) -> str:
        if report.is_lost or (report.std_m or 0.0) > APART_M:
            if self.frame is None:
                return ""  # it looks for the car, which stands
            lost = "has lost the car" if report.is_lost else f"is unsure by {report.std_m:.2f} m"
            return f"The {self.title} {lost}"
        if self.newest is not None and report.frame != self.newest.frame:
            return f"The {self.title}'s frame was {self.newest.frame}, now it is {report.frame}"
        assert report.odometry is not None, "the caller found it"
        frame = frame_transform(report.odometry, self._turning_point(report))
        accepted = _Accepted(taken_us, frame, self._track.driven_m)
        why = self._movement_fault(accepted, reckoned)
        if why:
            return why
        self.newest = self._latest = report
        self.frame = frame
        self._count += 1
        self._accepted.append(accepted)
        while taken_us - self._accepted[0].taken_us > WINDOW_S * 1e6:
            self._accepted.popleft()
        return ""

    def _turning_point(self, report: PoseReport) -> Pose:
        x, y, yaw = report.pose
        behind_m = self._behind_m if report.is_centre else 0.0
        return x - behind_m * cos(yaw), y - behind_m * sin(yaw), yaw

    def _movement_fault(self, new: _Accepted, reckoned: Pose) -> str:
        """Return why a pose is not where the ones before and the odometry have the car."""
        if not self._accepted:
            return ""
        apart_m, turned_rad = _apart(self._accepted[-1].frame, new.frame, reckoned)
        if apart_m > JUMP_M or turned_rad > JUMP_RAD:
            return f"The pose jumped by {apart_m:.2f} m and {turned_rad:.2f} rad"
        self._corrected_m = max(self._corrected_m, apart_m)
        first = self._accepted[0]
        apart_m, turned_rad = _apart(first.frame, new.frame, reckoned)
        driven_m = new.driven_m - first.driven_m
        if apart_m > JUMP_M + SLIP_SHARE * driven_m or turned_rad > JUMP_RAD:
            lasted_s = (new.taken_us - first.taken_us) * 1e-6
            return (
                f"Pose and odometry moved apart by {apart_m:.2f} m and {turned_rad:.2f} rad within "
                f"{lasted_s:.2f} s and {driven_m:.2f} m"
            )
        return ""

    def _age_fault(self) -> str:
        age_s = self.age_s()
        if age_s is None:
            return ""
        self._oldest_us = max(self._oldest_us, round(age_s * 1e6))
        if age_s > STALE_S:
            return f"The {self.title}'s pose is {age_s:.2f} s old, at most {STALE_S:g} s"
        return ""


def _apart(before: Frame, now: Frame, reckoned: Pose) -> tuple[float, float]:
    """Return how far two frames have the same reckoned pose apart: m, rad."""
    x0, y0, yaw0 = before(reckoned)
    x1, y1, yaw1 = now(reckoned)
    return hypot(x1 - x0, y1 - y0), abs(remainder(yaw1 - yaw0, tau))
