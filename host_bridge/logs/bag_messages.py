"""Commands and poses in a bag, by the message types of the vocabularies that write them.

Speed and steering come from f1tenth_system's Ackermann messages and from Autoware's control
commands of both generations, shares of the actuators from AutoRally's chassis; poses from odometry,
from a localiser and from motion capture. Stamps that jump, stand or run back are named with their
place, and the time of receipt stands in for them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import atan2, hypot, nan, radians
from statistics import median
from typing import Any, NamedTuple

SpeedAndSteer = tuple[float, float]  # m/s, rad to the left
PoseAndTwist = tuple[float, float, float, float, float]  # x, y in m, yaw in rad, m/s, rad/s

_OTHER_CLOCK_S = 10.0  # a stamp farther from its receipt comes from another clock
_STEPPED_S = 0.5  # a stamp that is so far off the others' lag was set, or stood
_GAP_S, _GAP_PERIODS = 1.0, 10.0  # a longer pause of both is told


def _ackermann(message: Any) -> SpeedAndSteer:
    drive = getattr(message, "drive", message)
    return float(drive.speed), float(drive.steering_angle)


def _autoware(message: Any) -> SpeedAndSteer:
    along = message.longitudinal
    speed = along.velocity if hasattr(along, "velocity") else along.speed
    return float(speed), float(message.lateral.steering_tire_angle)


COMMANDS: dict[str, Callable[[Any], SpeedAndSteer]] = {
    "ackermann_msgs/msg/AckermannDriveStamped": _ackermann,
    "ackermann_msgs/msg/AckermannDrive": _ackermann,
    "autoware_control_msgs/msg/Control": _autoware,
    "autoware_auto_control_msgs/msg/AckermannControlCommand": _autoware,
}
# The topics that are taken unless one is named, the first that there is
USUAL_COMMANDS = ("/drive", "/ackermann_cmd", "/control/command/control_cmd")

# AutoRally's commands, by ROS 1's names and by those that ROS 2 allows. What the chassis put out
# comes first: it is whoever won, where several commanders speak.
CHASSIS = (
    "autorally_msgs/msg/chassisState",
    "autorally_msgs/msg/ChassisState",
    "autorally_msgs/msg/chassisCommand",
    "autorally_msgs/msg/ChassisCommand",
)
_BRAKES = 0.5  # of the full brake: a lesser one is a throttle of 0, which slows the car, too
_CLAIMED = 1.0  # an actuator's share beyond it says that the commander leaves that actuator alone


@dataclass(frozen=True, slots=True)
class ShareSample:
    """A command of throttle or of steering as a share of all there is, left and ahead positive.

    ``t_s`` is its arrival in seconds since the bag's beginning.
    """

    t_s: float
    is_steering: bool
    value_norm: float


class ActuatorShares(NamedTuple):
    """Shares of throttle and steering, -1 to 1, left and ahead positive, and of the brake, 0 to 1.

    None: the message leaves that actuator to others.
    """

    throttle: float | None
    steering: float | None
    brake: float | None


def chassis(message: Any) -> ActuatorShares:
    """Return what AutoRally's message asks of each actuator; below 0 its throttle brakes."""
    brake = getattr(message, "front_brake", getattr(message, "frontBrake", None))
    throttle, steering, brake = map(_claimed, (message.throttle, message.steering, brake))
    if throttle is not None and throttle < 0.0:
        throttle, brake = 0.0, max(brake or 0.0, -throttle)
    return ActuatorShares(throttle, None if steering is None else -steering, brake)


def chassis_drive(
    rows: Iterable[tuple[float, ActuatorShares]],
) -> tuple[list[ShareSample], list[tuple[float, float]]]:
    """Return throttle and steering of messages by their times, and from when to when they brake."""
    shares: list[ShareSample] = []
    brakes: list[tuple[float, float]] = []
    begun_s: float | None = None
    time_s = 0.0
    for time_s, asked in rows:
        for is_steering, value in ((False, asked.throttle), (True, asked.steering)):
            if value is not None:
                shares.append(ShareSample(time_s, is_steering, value))
        is_braking = asked.brake is not None and asked.brake >= _BRAKES
        if is_braking and begun_s is None:
            begun_s = time_s
        elif not is_braking and begun_s is not None:
            brakes.append((begun_s, time_s))
            begun_s = None
    return shares, brakes if begun_s is None else [*brakes, (begun_s, time_s)]


def _claimed(share: Any) -> float | None:
    return float(share) if share is not None and abs(share) <= _CLAIMED else None


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
    "std_msgs/msg/Float32": "--drive-topic {topic}, where it is a throttle_command",
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


class Timed(NamedTuple):
    """A message's times in s since the bag's beginning, and its content; None: it has no stamp."""

    received_s: float
    stamp_s: float | None
    content: tuple[float, ...]


def in_time_order(
    topic: str, rows: Sequence[Timed]
) -> tuple[list[tuple[float, tuple[float, ...]]], list[str]]:
    """Return times and contents in rising order, and a sentence for each fault of the times.

    A stamp counts while it keeps the lag behind its receipt that the others have. One that was set,
    or stands, is replaced by the receipt less that lag. What is then no later than the row before
    it is left out. A long pause is told.
    """
    lags = [row.received_s - row.stamp_s for row in rows if row.stamp_s is not None]
    lag_s = median(lags) if lags else 0.0
    if abs(lag_s) > _OTHER_CLOCK_S:  # the whole topic is of another clock
        return _rising(topic, [(row.received_s, row.content) for row in rows], [])
    timed, wrong = [], []
    for row in rows:
        off_s = 0.0 if row.stamp_s is None else row.received_s - row.stamp_s - lag_s
        if row.stamp_s is None or abs(off_s) > _STEPPED_S:
            timed.append((row.received_s - lag_s, row.content))
            wrong += [(row.received_s, off_s)] if row.stamp_s is not None else []
        else:
            timed.append((row.stamp_s, row.content))
    notes = []
    if wrong:
        most_s = max(abs(off_s) for _, off_s in wrong)
        notes.append(
            f"{topic}: {len(wrong)} stamps jump or stand, by up to {most_s:.1f} s, the first at "
            f"{wrong[0][0]:.3f} s; the time of receipt stands in"
        )
    return _rising(topic, timed, notes)


def _rising(
    topic: str, timed: Sequence[tuple[float, tuple[float, ...]]], notes: list[str]
) -> tuple[list[tuple[float, tuple[float, ...]]], list[str]]:
    kept: list[tuple[float, tuple[float, ...]]] = []
    late: list[float] = []
    for time_s, content in timed:
        if kept and time_s <= kept[-1][0]:
            late.append(time_s)
        else:
            kept.append((time_s, content))
    if late:
        notes.append(
            f"{topic}: {len(late)} messages are no later than the one before them, the first at "
            f"{late[0]:.3f} s; they are left out"
        )
    return kept, [*notes, *gaps(topic, [time_s for time_s, _ in kept])]


def gaps(name: str, times_s: Sequence[float]) -> Iterator[str]:
    """Yield a sentence on the longest pause of a series, if it is long for it."""
    steps = [(b - a, a) for a, b in itertools.pairwise(times_s)]
    if not steps:
        return
    longest_s, at_s = max(steps)
    if longest_s > max(_GAP_S, _GAP_PERIODS * median(step for step, _ in steps)):
        yield f"{name}: nothing came for {longest_s:.1f} s from {at_s:.3f} s on"
