"""Pose sources of ROS 2: a topic, a chain of transforms, a motion capture behind ``vrpn_mocap``.

They listen on this machine as every node of Tandem does, and never wait. A pose is as old as its
stamp says, by ROS time; an unstamped or post-dated one is as old as its way here.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from math import cos, isfinite, sin, sqrt
from typing import Any

from host_bridge.core import CarMotion
from host_bridge.core.errors import UsageFault
from host_bridge.mapping.poses.report import Pose, PoseContext, PoseReport
from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.bus.discovery_range import stay_on_this_machine
from host_bridge.ros2.messages.conversions import stamp_ns, yaw_of
from host_bridge.ros2.messages.pose_topic import POSE_TYPES

_LOOK_US = 100_000  # between two looks for a topic that nobody publishes yet
_DEPTH = 20  # messages between two ticks of a host that stood still for a moment
_KEPT = 100  # of one transform: a second of the fastest
_VAR_X, _VAR_Y = 0, 7  # of a covariance of 6 by 6


class TopicPoses:
    """The poses of one topic, of whichever type it has once somebody publishes it."""

    def __init__(self, topic: str, context: PoseContext) -> None:
        self.title = f"topic {topic}"
        self._topic, self._context = topic, context
        self._bus = make_bus(context)
        self._new: list[PoseReport | str] = []
        self._look_us: int | None = context.now_us()

    def take(self, now_us: int, motion: CarMotion) -> Sequence[PoseReport | str]:
        """Return the poses that have come, and subscribe once there is a publisher."""
        if self._look_us is not None and now_us >= self._look_us:
            self._look_us = now_us + _LOOK_US
            self._subscribe()
        self._bus.step()
        new, self._new = self._new, []
        return new

    def close(self) -> None:
        self._bus.close()

    def _subscribe(self) -> None:
        types = self._bus.types_of(self._topic)
        known = [it for it in POSE_TYPES if it in types]
        if known:
            self._look_us = None
            self._bus.subscribe(self._topic, known[0], self._hear, depth=_DEPTH)
        elif types:
            self._new.append(f"says no poses but {', '.join(types)}")

    def _hear(self, message: Any, received_us: int) -> None:
        held = getattr(message.pose, "pose", message.pose)
        pose = float(held.position.x), float(held.position.y), yaw_of(held.orientation)
        if not all(map(isfinite, pose)):
            self._new.append("says a pose that is no number")
            return
        taken_us = _taken_us(self._bus, stamp_ns(message), received_us, self._context)
        std_m = _std_m(getattr(message.pose, "covariance", None))
        report = PoseReport(
            taken_us, pose, std_m, message.header.frame_id, is_centre=False, is_host_time=True
        )
        self._new.append(report)


class TransformPoses:
    """The pose of one frame in another, by the chain of transforms between them.

    Its time is that of the link that was renewed least recently: a localiser that falls silent is
    noticed although the odometry of the same chain goes on.
    """

    def __init__(self, parent: str, child: str, context: PoseContext) -> None:
        self.title = f"transform {parent}>{child}"
        self._ends, self._context = (parent, child), context
        self._bus = make_bus(context)
        self._links: dict[str, _Link] = {}
        self._noted_us: int | None = None
        self._new: list[PoseReport | str] = []
        kind = "tf2_msgs/msg/TFMessage"
        self._bus.subscribe("/tf", kind, self._hear, depth=_KEPT)
        self._bus.subscribe("/tf_static", kind, self._hear_fixed, depth=_KEPT, is_latched=True)

    def take(self, now_us: int, motion: CarMotion) -> Sequence[PoseReport | str]:
        """Return the poses that the transforms since the last call make."""
        self._bus.step()
        new, self._new = self._new, []
        return new

    def close(self) -> None:
        self._bus.close()

    def _hear_fixed(self, message: Any, received_us: int) -> None:
        for it in message.transforms:
            self._link(it).fix(_pose_of(it.transform))

    def _hear(self, message: Any, received_us: int) -> None:
        for it in message.transforms:
            taken_us = _taken_us(self._bus, stamp_ns(it), received_us, self._context)
            self._link(it).add(taken_us, _pose_of(it.transform))
        self._compose()

    def _link(self, transform: Any) -> _Link:
        child, parent = transform.child_frame_id, transform.header.frame_id
        link = self._links.get(child)
        if link is None or link.parent != parent:
            link = self._links[child] = _Link(parent)
        return link

    def _chain(self) -> list[_Link]:
        """Return the links from the child up to the parent; none if they are not joined."""
        parent, name = self._ends
        found: list[_Link] = []
        while name != parent:
            link = self._links.get(name)
            if link is None or link in found:
                return []
            found.append(link)
            name = link.parent
        return found

    def _compose(self) -> None:
        chain = self._chain()
        moving = [it for it in chain if not it.is_fixed]
        if not moving:
            return
        taken_us = min(it.newest_us for it in moving)
        if self._noted_us is not None and taken_us <= self._noted_us:
            return
        self._noted_us, pose = taken_us, (0.0, 0.0, 0.0)
        for link in chain:
            pose = _composed(link.at(taken_us), pose)
        if not all(map(isfinite, pose)):
            self._new.append("says a pose that is no number")
            return
        parent = self._ends[0]
        report = PoseReport(taken_us, pose, None, parent, is_centre=False, is_host_time=True)
        self._new.append(report)


class _Link:
    """The newest transforms of one frame in its parent."""

    def __init__(self, parent: str) -> None:
        self.parent = parent
        self.is_fixed = False
        self._times_us: deque[int] = deque(maxlen=_KEPT)
        self._poses: deque[Pose] = deque(maxlen=_KEPT)

    @property
    def newest_us(self) -> int:
        return self._times_us[-1]

    def fix(self, pose: Pose) -> None:
        self.is_fixed = True
        self._put(0, pose)

    def add(self, taken_us: int, pose: Pose) -> None:
        if not self.is_fixed and (not self._times_us or taken_us > self._times_us[-1]):
            self._put(taken_us, pose)

    def _put(self, taken_us: int, pose: Pose) -> None:
        self._times_us.append(taken_us)
        self._poses.append(pose)

    def at(self, taken_us: int) -> Pose:
        """Return the transform nearest to this time; its rate is far above a localiser's."""
        if self.is_fixed:
            return self._poses[-1]
        times = list(self._times_us)
        after = min(bisect_left(times, taken_us), len(times) - 1)
        before = max(after - 1, 0)
        is_before = abs(times[before] - taken_us) < abs(times[after] - taken_us)
        return self._poses[before if is_before else after]


def make_bus(context: PoseContext) -> Bus:
    """Return a node of its own, which hears this machine only. Raises errors.DeviceFault."""
    stay_on_this_machine(os.environ)
    return Bus("tandem_pose", "", context.now_us)


def make_topic(rest: str, context: PoseContext) -> TopicPoses:
    """Make the source of ``pose=ros:TOPIC``. Raises errors.UsageFault, errors.DeviceFault."""
    if not rest.startswith("/"):
        raise UsageFault("which topic?", expected="pose=ros:/pf/pose/odom", got=f"ros:{rest}")
    return TopicPoses(rest, context)


def make_transform(rest: str, context: PoseContext) -> TransformPoses:
    """Make the source of ``pose=tf:PARENT>CHILD``. Raises errors.UsageFault, errors.DeviceFault."""
    parent, _, child = rest.partition(">")
    if not parent or not child or parent == child:
        raise UsageFault("which transform?", expected="pose=tf:map>base_link", got=f"tf:{rest}")
    return TransformPoses(parent, child, context)


def make_mocap(rest: str, context: PoseContext) -> TopicPoses:
    """Make the source of ``pose=mocap:BODY``: a rigid body as the node ``vrpn_mocap`` says it.

    Raises errors.UsageFault, errors.DeviceFault.
    """
    if not rest.isidentifier():
        raise UsageFault(
            "which rigid body of the motion capture?", expected="pose=mocap:car1", got=rest
        )
    return TopicPoses(f"/vrpn_mocap/{rest}/pose", context)


def _taken_us(bus: Bus, made_ns: int, received_us: int, context: PoseContext) -> int:
    """Return when a message was made, in the host's time."""
    if not made_ns:
        return received_us
    age_us = (bus.ros_ns() - made_ns) // 1000
    return min(context.now_us() - age_us, received_us)


def _std_m(covariance: Sequence[float] | None) -> float | None:
    """Return the standard deviation of the place; None where all of them are 0: not said."""
    if covariance is None:
        return None
    variance = float(covariance[_VAR_X]) + float(covariance[_VAR_Y])
    return sqrt(variance) if variance > 0.0 else None


def _pose_of(transform: Any) -> Pose:
    place = transform.translation
    return float(place.x), float(place.y), yaw_of(transform.rotation)


def _composed(outer: Pose, inner: Pose) -> Pose:
    x, y, yaw = outer
    return (
        x + cos(yaw) * inner[0] - sin(yaw) * inner[1],
        y + sin(yaw) * inner[0] + cos(yaw) * inner[1],
        yaw + inner[2],
    )
