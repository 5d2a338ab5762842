"""The topics of AutoRally's chassis, and its commanders by priority."""

from __future__ import annotations

from collections.abc import Mapping

from host_bridge.ros2.vocabularies.autorally.adapter import RC, AutorallyAdapter
from host_bridge.ros2.vocabularies.topics import (
    STATE_HZ,
    Content,
    MuxRow,
    Publication,
    Subscription,
)
from host_bridge.ros2.vocabularies.vocabulary import Vocabulary

COMMAND = "autorally_msgs/msg/ChassisCommand"
COMMAND_MAX_AGE_S = 0.2  # AutoRally's own
# AutoRally's chassisCommandPriorities.yaml: the lowest number wins. RC is the board's own receiver
PRIORITIES = {
    "mppi_controller": 1,
    "constantSpeedController": 2,
    "waypointFollower": 3,
    "joystick": 4,
    "OCS": 5,
    "RC": 7,
}


def rows_of(priorities: Mapping[str, int]) -> tuple[MuxRow, ...]:
    """Return the mux rows of the commanders, without RC.

    In AutoRally the lowest number wins, in a mux the highest priority: the sign is changed.
    """
    return tuple(
        MuxRow(name, f"{name}/chassisCommand", -number, COMMAND_MAX_AGE_S)
        for name, number in priorities.items()
        if name != RC
    )


AUTORALLY = Vocabulary(
    name="autorally",
    title="AutoRally's chassis",
    subscriptions=tuple(
        Subscription(row.topic, COMMAND, Content.CHASSIS, row.name) for row in rows_of(PRIORITIES)
    ),
    publications=(
        Publication("chassisState", "autorally_msgs/msg/ChassisState", Content.CHASSIS, STATE_HZ),
        Publication(
            "wheelSpeeds", "autorally_msgs/msg/WheelSpeeds", Content.WHEEL_SPEEDS, STATE_HZ
        ),
        Publication(f"{RC}/chassisCommand", COMMAND, Content.RC, STATE_HZ),
    ),
    mux=rows_of(PRIORITIES),
    odom_frame="odom",
    base_frame="base_link",
    scan_frame="",
    adapter=AutorallyAdapter,
)
