"""The topics of Nav2, teleop_twist_keyboard and most robots: a twist in, odometry out.

The page of the vocabularies has this very text, as the example of an own one.
"""

from __future__ import annotations

from dataclasses import replace
from math import atan, isfinite
from typing import Any

from host_bridge.core import Vehicle
from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.node.mux import MuxSource, StampedCommand
from host_bridge.ros2.node.vocabulary_adapter import NodeApi, VocabularyAdapter
from host_bridge.ros2.vocabularies.topics import Content, MuxRow, Publication, Subscription
from host_bridge.ros2.vocabularies.vocabulary import Vocabulary


class CmdVelAdapter(VocabularyAdapter):
    """A twist of a base that turns while it rolls: speed forward, and yaw rate to the left."""

    def __init__(self) -> None:
        self._turns_m = 0.0  # a wheel angle of 45 degrees makes a circle of this radius
        self._cannot = ""

    def begin(self, bus: Bus, node: NodeApi, vehicle: Vehicle) -> None:
        self._turns_m = vehicle.wheelbase_m - vehicle.turns_ahead_m

    def on_message(
        self,
        subscription: Subscription,
        source: MuxSource,
        message: Any,
        heard_us: int,
        now_us: int,
    ) -> bool:
        twist = getattr(message, "twist", message)  # TwistStamped, or Twist
        speed_mps, yaw_rate_radps = float(twist.linear.x), float(twist.angular.z)
        self._cannot = ""
        if not (isfinite(speed_mps) and isfinite(yaw_rate_radps)):
            source.refuse("it was not a number")
        elif twist.linear.y:
            source.refuse("a car does not go sideways")
        else:
            if yaw_rate_radps and not speed_mps:
                self._cannot = "It is told to turn on the spot, which a car cannot: it stands."
            slope = self._turns_m * yaw_rate_radps / speed_mps if speed_mps else 0.0
            source.take(StampedCommand(speed_mps, atan(slope), heard_us), now_us)
        return True

    def words(self) -> str:
        return self._cannot


CMD_VEL = Vocabulary(
    name="cmd_vel",
    title="cmd_vel and odom: Nav2, teleop_twist_keyboard, most robots",
    subscriptions=(Subscription("cmd_vel", "geometry_msgs/msg/Twist", Content.TWIST, "cmd_vel"),),
    publications=(
        Publication("odom", "nav_msgs/msg/Odometry", Content.ODOMETRY, 50.0, "odom"),
        Publication("/tf", "tf2_msgs/msg/TFMessage", Content.TRANSFORM, 50.0, "odom"),
        Publication("scan", "sensor_msgs/msg/LaserScan", Content.SCAN, 40.0, "laser"),
    ),
    mux=(MuxRow("cmd_vel", "cmd_vel", 10, 0.2),),
    odom_frame="odom",
    base_frame="base_link",
    scan_frame="laser",
    adapter=CmdVelAdapter,
)
_STAMPED = Subscription(
    "cmd_vel", "geometry_msgs/msg/TwistStamped", Content.TWIST_STAMPED, "cmd_vel"
)
CMD_VEL_STAMPED = replace(CMD_VEL, name="cmd_vel_stamped", subscriptions=(_STAMPED,))
