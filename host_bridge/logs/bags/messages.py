"""Poses and readings in a bag, by the message types of the vocabularies that write them.

Poses come from odometry, from a localiser and from motion capture; how far the wheels rolled from
encoders, a VESC's state and reported speeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import atan2, hypot, nan, radians
from typing import Any

from host_bridge.logs.bags.commands import CHASSIS, COMMANDS, SHARE

PoseAndTwist = tuple[float, float, float, float, float]  # x, y in m, yaw in rad, m/s, rad/s


def _yaw(q: Any) -> float:
    return atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z))


def _odometry(message: Any) -> PoseAndTwist:
    twist = message.twist.twist
    x, y, yaw = _place(message.pose.pose.position, message.pose.pose.orientation)
    return x, y, yaw, float(twist.linear.x), float(twist.angular.z)


def _posed(message: Any) -> PoseAndTwist:
    pose = getattr(message.pose, "pose", message.pose)
    return (*_place(pose.position, pose.orientation), 0.0, 0.0)


def _transform(message: Any) -> PoseAndTwist:
    moved = message.transform
    return (*_place(moved.translation, moved.rotation), 0.0, 0.0)


def _place(position: Any, orientation: Any) -> tuple[float, float, float]:
    return float(position.x), float(position.y), _yaw(orientation)


POSES: dict[str, Callable[[Any], PoseAndTwist]] = {
    "nav_msgs/msg/Odometry": _odometry,
    "geometry_msgs/msg/PoseStamped": _posed,
    "geometry_msgs/msg/PoseWithCovarianceStamped": _posed,
    "geometry_msgs/msg/TransformStamped": _transform,  # as Vicon's bridge publishes a body
}


def _inertial(message: Any) -> tuple[float, ...]:
    turn, force = message.angular_velocity, message.linear_acceleration
    return float(turn.z), float(force.x), float(force.y), float(force.z)


def _motor(message: Any) -> tuple[float, ...]:
    state = getattr(message, "state", message)
    return float(state.speed), float(state.duty_cycle), float(state.voltage_input)


def _point(message: Any) -> PoseAndTwist:
    return float(message.x), float(message.y), 0.0, 0.0, 0.0


def _encoder(message: Any) -> tuple[float, ...]:
    return (float(message.position[0]) if len(message.position) else nan,)


def _velocity(message: Any) -> tuple[float, ...]:
    return float(message.longitudinal_velocity), float(message.heading_rate)


def _wheel_speeds(message: Any) -> tuple[float, ...]:
    back = (
        (message.lbSpeed, message.rbSpeed)
        if hasattr(message, "lbSpeed")
        else (message.lb_speed, message.rb_speed)
    )
    return sum(map(float, back)) / len(back), nan


# Where a car was, without where it pointed: AutoDRIVE's positioning
POINTS = {"geometry_msgs/msg/Point": _point}
# What tells how far the wheels rolled: an angle in rad of one wheel, or m/s and perhaps rad/s
ENCODERS = {"sensor_msgs/msg/JointState": _encoder}
SPEEDS = {
    **dict.fromkeys(
        (
            "autoware_vehicle_msgs/msg/VelocityReport",
            "autoware_auto_vehicle_msgs/msg/VelocityReport",
        ),
        _velocity,
    ),
    **dict.fromkeys(
        ("autorally_msgs/msg/wheelSpeeds", "autorally_msgs/msg/WheelSpeeds"), _wheel_speeds
    ),
}
INERTIAL = {"sensor_msgs/msg/Imu": _inertial}
MOTOR = dict.fromkeys(("vesc_msgs/msg/VescStateStamped", "vesc_msgs/msg/VescState"), _motor)
_G_MPS2 = 9.81  # standard gravity
_NEAR_ONE_G = (0.7, 1.3)  # the size of gravity from a sensor that reports in g


def in_si(
    topic: str, rows: Sequence[tuple[float, ...]]
) -> tuple[list[tuple[float, ...]], list[str]]:
    """Return rows of time, yaw rate, acceleration forward and left; and a note of their units.

    ``rows`` have the acceleration up, too. A VESC's raw samples are in g and degrees, which is seen
    by the size of gravity.
    """
    sizes = sorted(hypot(*row[2:5]) for row in rows)
    middle = sizes[len(sizes) // 2] if sizes else 0.0
    low, high = _NEAR_ONE_G
    if not low < middle < high:
        return [row[:4] for row in rows], []
    turn = radians(1.0)
    return [(t, turn * z, _G_MPS2 * x, _G_MPS2 * y) for t, z, x, y, _ in rows], [
        f"{topic} tells gravity as {middle:.2f}: g and degrees are taken"
    ]


USUAL_POSES = ("/odom", "/localization/kinematic_state", "/pose_estimate")

# What would use a topic of this type that was not read: by a replay, by a calibration
_TAKES = "{topic} takes it for"
_COMMANDED = {
    **dict.fromkeys((*COMMANDS, *CHASSIS), f"--drive-topic {_TAKES} the commands"),
    SHARE: "--drive-topic {topic}, where it is a throttle_command",
}
_FOR_REPLAY = {
    **_COMMANDED,
    **dict.fromkeys(POSES, f"--odom-topic {_TAKES} the car's poses"),
    **dict.fromkeys(POINTS, "tandem calibrate --pose-topic {topic} takes it"),
    **dict.fromkeys((*INERTIAL, *MOTOR, *SPEEDS), "tandem calibrate reads it"),
}
_FOR_CALIBRATION = {
    **_COMMANDED,
    **dict.fromkeys((*POSES, *POINTS), f"--pose-topic {_TAKES} where the car was seen"),
    **dict.fromkeys(INERTIAL, f"--imu-topic {_TAKES} its inertial sensor"),
    **dict.fromkeys(MOTOR, f"--core-topic {_TAKES} the VESC's state"),
}


def unused_topics(
    topics: Mapping[str, str], used: Sequence[str], *, for_replay: bool = True
) -> list[str]:
    """Return a sentence for each topic that was not used, with the option that would use it.

    ``topics`` are types by name. Those that no option uses share one sentence.
    """
    would_use = _FOR_REPLAY if for_replay else _FOR_CALIBRATION
    left = {name: kind for name, kind in sorted(topics.items()) if name not in used}
    notes = [
        f"{name} was not used: {would_use[kind].format(topic=name)}"
        for name, kind in left.items()
        if kind in would_use
    ]
    others = [name for name, kind in left.items() if kind not in would_use]
    if others:
        notes.append(f"not used, and used by no option: {', '.join(others)}")
    return notes
