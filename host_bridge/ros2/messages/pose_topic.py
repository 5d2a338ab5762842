"""Reads the poses that a node publishes, live, until it is told to end."""

from __future__ import annotations

import time
from collections.abc import Callable, MutableMapping
from math import inf, isfinite
from typing import Any

from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.bus.discovery_range import stay_on_this_machine
from host_bridge.ros2.messages.conversions import stamp_ns

POSE_TYPES = (
    "nav_msgs/msg/Odometry",
    "geometry_msgs/msg/PoseStamped",
    "geometry_msgs/msg/PoseWithCovarianceStamped",
)
_FOUND_WITHIN_S = 10.0  # DDS takes a second or two to find another node
_LOOK_S = 0.1  # between two looks at whether it is over: Ctrl-C feels prompt

Row = tuple[float, float, float]


def record_poses(
    topic: str, environment: MutableMapping[str, str], seconds: float | None
) -> list[Row]:
    """Return rows of time in s, x and y in m, of what comes within so long, or until Ctrl-C.

    Raises errors.DeviceFault where nobody publishes it, errors.UsageFault for another type.
    """
    stay_on_this_machine(environment)
    bus = Bus("tandem_path", "", lambda: time.monotonic_ns() // 1000)
    rows: list[Row] = []
    until_s = time.monotonic() + seconds if seconds else inf

    def is_over() -> bool:
        return time.monotonic() >= until_s

    def hear(message: Any, received_us: int) -> None:
        place = getattr(message.pose, "pose", message.pose).position
        made_s = stamp_ns(message) * 1e-9 or received_us * 1e-6
        row = made_s, float(place.x), float(place.y)
        if all(map(isfinite, row)):
            rows.append(row)

    try:
        bus.subscribe(topic, _type_of(bus, topic, is_over), hear, depth=10)
        while not is_over():
            bus.wait(_LOOK_S)
    except KeyboardInterrupt:
        pass  # the end of the recording, as in `ros2 bag record`
    finally:
        bus.close()
    return rows


def _type_of(bus: Bus, topic: str, is_over: Callable[[], bool]) -> str:
    """Return the type under which somebody publishes the topic, once that is known."""
    until_s = time.monotonic() + _FOUND_WITHIN_S
    while not (types := bus.types_of(topic)):
        if is_over() or time.monotonic() > until_s:
            raise DeviceFault(
                "nobody publishes this topic",
                where=topic,
                expected="a node that says poses, on this machine",
                got=f"none within {_FOUND_WITHIN_S:.0f} s",
                remedy="ros2 topic list says what there is",
            )
        bus.wait(_LOOK_S)
    for known in POSE_TYPES:
        if known in types:
            return known
    raise UsageFault(
        "this topic says no poses",
        where=topic,
        expected=" or ".join(POSE_TYPES),
        got=", ".join(types),
    )
