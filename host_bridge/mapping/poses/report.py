"""A pose with its time, covariance and frame, and the interface of what says one.

Kinds of pose source are found by the entry point ``tandem.pose_sources``: the entry's name is the
NAME of ``pose=NAME:REST``, its value a callable that makes the source of REST and a context.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import cos, sin
from typing import Protocol

from host_bridge.core import CarMotion, Vehicle, VirtualSensors

Pose = tuple[float, float, float]  # x and y in m, yaw in rad
Frame = Callable[[Pose], Pose]


@dataclass(frozen=True, slots=True)
class PoseReport:
    """One pose. Without ``odometry``, the car's own reckoning then, it is found by the time.

    ``is_centre``: of the centre of gravity; else of the point that the car turns about, as ROS's
    base_link. ``std_m`` is the standard deviation of the place; None if the source says none.
    """

    taken_us: int  # in the car's own time, or in the host's
    pose: Pose
    std_m: float | None
    frame: str
    is_centre: bool = True
    is_lost: bool = False
    is_host_time: bool = False
    odometry: Pose | None = None  # of the point that the car turns about


class PoseSource(Protocol):
    """Whoever says where a car is; ``title`` names it in a sentence: the TITLE's pose is old."""

    title: str

    def take(self, now_us: int, motion: CarMotion) -> Sequence[PoseReport | str]:
        """Return what came since the last call, never waiting; a text is why one is unusable."""

    def close(self) -> None: ...


class PoseContext(Protocol):
    """The context that a pose source is made in."""

    @property
    def vehicle(self) -> Vehicle: ...

    @property
    def start(self) -> Pose | None:
        """The pose of the centre of gravity at which the car was put; None if nobody said it."""

    def now_us(self) -> int:
        """Return the time of the host."""

    @property
    def sensors(self) -> VirtualSensors | None:
        """Those of a car in lockstep or of a script; None of a car that runs elsewhere."""


def frame_transform(begin: Pose, onto: Pose) -> Frame:
    """Return the rigid motion that maps ``begin`` onto another pose, for all poses of its frame."""
    x0, y0, yaw0 = onto
    turned = yaw0 - begin[2]
    c, s = cos(turned), sin(turned)

    def move(pose: Pose) -> Pose:
        dx, dy = pose[0] - begin[0], pose[1] - begin[1]
        return x0 + (c * dx - s * dy), y0 + (s * dx + c * dy), pose[2] + turned

    return move


def heard(sensors: VirtualSensors) -> list[PoseReport | str]:
    """Return the reports that have arrived, each with the pose that it arrived with."""
    return [replace(report, pose=pose) for pose, report in sensors.heard_poses()]
