"""A car's commands in a bag: speed and steering, or shares of its actuators.

Speed and steering come from f1tenth_system's Ackermann messages and from Autoware's control
commands of both generations; shares from AutoDRIVE's throttle and steering and from AutoRally's
chassis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from host_bridge.core.errors import DataFileFault

SpeedAndSteer = tuple[float, float]  # m/s, rad to the left

SHARE = "std_msgs/msg/Float32"  # AutoDRIVE's commands, a topic for each: from -1 to 1
THROTTLE, STEERING = "throttle_command", "steering_command"  # the last parts of their names


class CommandSample(NamedTuple):
    """A command: its arrival in seconds since the bag's beginning, m/s, rad to the left."""

    t_s: float
    speed_mps: float
    steer_rad: float


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


def share_topics(path: Path, reader: Any, drive_topic: str = "") -> Sequence[str]:
    """Return the topics whose commands are shares of the actuators, if the bag is driven by them.

    They are AutoDRIVE's throttle and steering of one car, or one of AutoRally's chassis: where the
    bag has no other command, or where ``drive_topic`` is one of them. Raises errors.DataFileFault
    for the commands of several cars or commanders of which none is named.
    """
    topics = {name: info.msgtype for name, info in reader.topics.items()}
    ends = [name.removesuffix(THROTTLE) for name in topics if name.endswith(THROTTLE)]
    found: list[tuple[str, ...]] = [
        (end + THROTTLE, end + STEERING)
        for end in sorted(ends)
        if topics[end + THROTTLE] == topics.get(end + STEERING) == SHARE
    ]
    found += [(name,) for kind in CHASSIS for name in sorted(topics) if topics[name] == kind]
    if drive_topic:
        return next((it for it in found if drive_topic in it), ())
    if any(kind in COMMANDS for kind in topics.values()) or not found:
        return ()
    if len(found) == 1 or topics[found[0][0]] in CHASSIS[:2]:
        return found[0]
    raise DataFileFault(
        "the bag has the commands of several cars",
        where=str(path),
        expected="one of them, named by --drive-topic",
        got=", ".join(it[0] for it in found),
        remedy=f"--drive-topic {found[0][0]}",
    )


def messages(reader: Any, topic: str) -> Iterator[tuple[int, Any]]:
    """Yield a topic's messages with their times of receipt in ns."""
    for connection, time_ns, data in reader.messages(connections=reader.topics[topic].connections):
        yield time_ns, reader.deserialize(data, connection.msgtype)


def speed_commands(reader: Any, topic: str, start_ns: int) -> Iterator[CommandSample]:
    """Yield a topic's commands of speed and steering that are numbers."""
    read = COMMANDS[reader.topics[topic].msgtype]
    for time_ns, message in messages(reader, topic):
        row = CommandSample((time_ns - start_ns) * 1e-9, *read(message))
        if is_whole((row.speed_mps, row.steer_rad)):
            yield row


def share_commands(reader: Any, pair: Sequence[str], start_ns: int) -> Iterator[ShareSample]:
    """Yield the shares of throttle and steering that are numbers, in order of time."""
    found = [
        ShareSample((time_ns - start_ns) * 1e-9, is_steering, float(message.data))
        for topic, is_steering in zip(pair, (False, True), strict=True)
        for time_ns, message in messages(reader, topic)
    ]
    for row in sorted(found, key=lambda it: it.t_s):
        if isfinite(row.value_norm):
            yield row


def is_whole(numbers: Iterable[float]) -> bool:
    """Return whether all are finite numbers."""
    return all(map(isfinite, numbers))
