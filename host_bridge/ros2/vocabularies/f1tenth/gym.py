"""The topics of f1tenth_gym_ros, whose poses and odometry are the simulator's true ones."""

from __future__ import annotations

from dataclasses import replace
from math import copysign, isfinite
from typing import Any

from host_bridge.core import Vehicle
from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.messages.conversions import yaw_of
from host_bridge.ros2.node.mux import MuxSource, StampedCommand
from host_bridge.ros2.node.vocabulary_adapter import NodeApi, VocabularyAdapter
from host_bridge.ros2.vocabularies.f1tenth.vocabulary import ACKERMANN
from host_bridge.ros2.vocabularies.topics import (
    ODOMETRY_TYPE,
    SCAN_HZ,
    SCAN_TYPE,
    STATE_HZ,
    TF_TYPE,
    Content,
    MuxRow,
    Publication,
    Subscription,
    UnsupportedTopic,
)
from host_bridge.ros2.vocabularies.vocabulary import Vocabulary

_MAP = "map"
_TWIST_RAD = 0.3  # f1tenth_gym_ros' own: the angle that a keyboard steers
_POSE = "geometry_msgs/msg/PoseWithCovarianceStamped"
_EGO, _OPPONENT = "ego_racecar", "opp_racecar"


class GymAdapter(VocabularyAdapter):
    """The adapter for f1tenth_gym_ros: a pose message teleports the car, a Twist drives it.

    A Twist steers by a fixed angle to the side of its turn, as their keyboard does.
    """

    def __init__(self) -> None:
        self._node: NodeApi

    def begin(self, bus: Bus, node: NodeApi, vehicle: Vehicle) -> None:
        self._node = node

    def on_message(
        self,
        subscription: Subscription,
        source: MuxSource,
        message: Any,
        heard_us: int,
        now_us: int,
    ) -> bool:
        if subscription.content is Content.TWIST:
            self._twist(source, message, heard_us, now_us)
        elif subscription.content is Content.POSE:
            self._put(source, message)
        else:
            return False
        return True

    def _twist(self, source: MuxSource, message: Any, heard_us: int, now_us: int) -> None:
        speed_mps, turn = float(message.linear.x), float(message.angular.z)
        if not (isfinite(speed_mps) and isfinite(turn)):
            source.refuse("it was not a number")
            return
        steer_rad = copysign(_TWIST_RAD, turn) if turn else 0.0
        source.take(StampedCommand(speed_mps, steer_rad, heard_us), now_us)

    def _put(self, source: MuxSource, message: Any) -> None:
        frame, posed = message.header.frame_id, message.pose
        pose = getattr(posed, "pose", posed)  # with covariance, or without
        place = pose.position.x, pose.position.y, yaw_of(pose.orientation)
        if frame not in ("", _MAP):
            source.refuse(f"a pose in {frame} is none in {_MAP}")
        elif not all(map(isfinite, place)):
            source.refuse("it was not a number")
        elif why := self._node.set_pose(place):
            source.refuse(why)


def _odom(topic: str) -> Publication:
    return Publication(topic, ODOMETRY_TYPE, Content.TRUTH, STATE_HZ, _MAP)


GYM = Vocabulary(
    name="f1tenth_gym",
    title="f1tenth_gym_ros: the bridge to the F1TENTH simulator",
    subscriptions=(
        Subscription("drive", ACKERMANN, Content.ACKERMANN, "navigation"),
        Subscription("cmd_vel", "geometry_msgs/msg/Twist", Content.TWIST, "keyboard"),
        Subscription("initialpose", _POSE, Content.POSE, "navigation"),
    ),
    publications=(
        _odom(f"{_EGO}/odom"),
        Publication("/tf", TF_TYPE, Content.TRANSFORM, STATE_HZ, _MAP),
        Publication("scan", SCAN_TYPE, Content.SCAN, SCAN_HZ, f"{_EGO}/laser"),
    ),
    mux=(MuxRow("navigation", "drive", 10, 0.2), MuxRow("keyboard", "cmd_vel", 5, 0.2)),
    odom_frame=_MAP,
    base_frame=f"{_EGO}/base_link",
    scan_frame=f"{_EGO}/laser",
    adapter=GymAdapter,
    unsupported=(
        UnsupportedTopic(
            "/clock", "rosgraph_msgs/msg/Clock", "tandem ros --clock says it, for every one"
        ),
        UnsupportedTopic(
            "/pause_sim", "of a development branch", "~/pause and ~/step, with --clock"
        ),
    ),
)
# With an opponent, each car also publishes its pose under the name that the other one reads
GYM_EGO = replace(
    GYM, name="f1tenth_gym_ego", publications=(*GYM.publications, _odom(f"{_OPPONENT}/opp_odom"))
)
GYM_OPPONENT = Vocabulary(
    name="f1tenth_gym_opponent",
    title="f1tenth_gym_ros: the other car in it",
    subscriptions=(
        Subscription("opp_drive", ACKERMANN, Content.ACKERMANN, "navigation"),
        Subscription("goal_pose", "geometry_msgs/msg/PoseStamped", Content.POSE, "navigation"),
    ),
    publications=(
        _odom(f"{_OPPONENT}/odom"),
        _odom(f"{_EGO}/opp_odom"),
        Publication("/tf", TF_TYPE, Content.TRANSFORM, STATE_HZ, _MAP),
        Publication("opp_scan", SCAN_TYPE, Content.SCAN, SCAN_HZ, f"{_OPPONENT}/laser"),
    ),
    mux=(MuxRow("navigation", "opp_drive", 10, 0.2),),
    odom_frame=_MAP,
    base_frame=f"{_OPPONENT}/base_link",
    scan_frame=f"{_OPPONENT}/laser",
    adapter=GymAdapter,
    node="tandem_opponent",
    prefix=f"{_OPPONENT}/",
)
