"""Reader of a bag's series for calibration: commands, odometry, IMU, motor controller.

``bags.read_bag`` reads the two topics of a replay, and fails without them; here each topic may be
missing, for a calibration takes what there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import hypot, isfinite, radians
from pathlib import Path
from typing import Any

from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bags import (
    ACKERMANN,
    DAMAGES,
    DRIVE,
    ODOM,
    ODOMETRY,
    bag_path,
    sha256_of,
    unreadable_bag,
)
from host_bridge.logs.ros_types import library, typestore

IMU, CORE = "/sensors/imu/raw", "/sensors/core"
_IMU = ("sensor_msgs/msg/Imu",)
_VESC = ("vesc_msgs/msg/VescStateStamped", "vesc_msgs/msg/VescState")
_COVARIED = "geometry_msgs/msg/PoseWithCovarianceStamped"
_SAME_CLOCK_S = 10.0  # a stamp farther from its receipt comes from another clock
_G_MPS2 = 9.81  # standard gravity
_NEAR_ONE_G = (0.7, 1.3)  # the size of gravity from a sensor that reports in g

Row = tuple[float, ...]


@dataclass
class BagSeries:
    """The rows of a bag by time in s since its beginning; SI units, forward and left positive.

    ``told``: speed, steering angle. ``odometry``: speed, yaw rate, x, y. ``inertial``: yaw rate,
    forward and left acceleration. ``motor``: electrical turns a minute, duty, volts. ``places``:
    x, y of the topic that was named for it. ``topics``: the topic that was read for each of these.
    """

    file: str
    sha256: str
    told: list[Row] = field(default_factory=list)
    odometry: list[Row] = field(default_factory=list)
    inertial: list[Row] = field(default_factory=list)
    motor: list[Row] = field(default_factory=list)
    places: list[Row] = field(default_factory=list)
    topics: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_bag_series(path: Path, named: dict[str, str]) -> BagSeries:
    """Read the series of a ROS bag that calibration needs, by time from its beginning.

    ``named``: topics by what they are (told, odometry, inertial, motor, places), where they are
    not the usual ones. Raises errors.DataFileFault for a file that is no bag, or a topic that it
    lacks.
    """
    highlevel, readers = library("highlevel"), library("highlevel.anyreader")
    try:
        with highlevel.AnyReader([bag_path(path)], default_typestore=typestore()) as reader:
            return _read(path, reader, named)
    except OSError as error:
        raise DataFileFault.unreadable(path, error) from None
    except (readers.AnyReaderError, *readers.ReaderErrors, *DAMAGES) as error:
        raise unreadable_bag(path, error) from None


_Make = Callable[[Any], Row]


def _read(path: Path, reader: Any, named: dict[str, str]) -> BagSeries:
    found = BagSeries(path.name, sha256_of(path))
    for what, (usual, types, make) in _KINDS.items():
        topic = _topic(path, reader, named.get(what, ""), usual, types)
        if not topic:
            continue
        found.topics[what] = topic
        rows = getattr(found, what)
        for time_s, message in _messages(reader, topic):
            row = (time_s, *make(message))
            if all(map(isfinite, row)):
                rows.append(row)
        rows.sort(key=lambda row: row[0])
    _in_si(found)
    return found


def _topic(path: Path, reader: Any, name: str, usual: str, types: tuple[str, ...]) -> str:
    """Return the named topic, the usual one, or the only one of its type; "" if there is none."""
    fitting = [topic for topic, info in reader.topics.items() if info.msgtype in types]
    if name and name not in fitting:
        raise DataFileFault(
            f"the bag has no {name} to read",
            where=str(path),
            expected=f"a topic of {types[0]}",
            got=", ".join(sorted(fitting)) or "none of that type",
            remedy=f"it has {', '.join(sorted(reader.topics))}",
        )
    if name or usual in fitting:
        return name or usual
    return str(fitting[0]) if usual and len(fitting) == 1 else ""


def _messages(reader: Any, topic: str) -> Iterator[tuple[float, Any]]:
    for connection, time_ns, data in reader.messages(connections=reader.topics[topic].connections):
        message = reader.deserialize(data, connection.msgtype)
        at_ns = time_ns
        stamp = getattr(getattr(message, "header", None), "stamp", None)
        if stamp is not None:
            stamp_ns = int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
            if abs(stamp_ns - time_ns) < _SAME_CLOCK_S * 1e9:
                at_ns = stamp_ns
        yield (at_ns - reader.start_time) * 1e-9, message


def _told(message: Any) -> Row:
    drive = getattr(message, "drive", message)
    return float(drive.speed), float(drive.steering_angle)


def _odometry(message: Any) -> Row:
    pose, twist = message.pose.pose.position, message.twist.twist
    return float(twist.linear.x), float(twist.angular.z), float(pose.x), float(pose.y)


def _inertial(message: Any) -> Row:
    turn, force = message.angular_velocity, message.linear_acceleration
    return float(turn.z), float(force.x), float(force.y), float(force.z)


def _motor(message: Any) -> Row:
    state = getattr(message, "state", message)
    return float(state.speed), float(state.duty_cycle), float(state.voltage_input)


def _places(message: Any) -> Row:
    place = getattr(message.pose, "pose", message.pose).position
    return float(place.x), float(place.y)


_KINDS: dict[str, tuple[str, tuple[str, ...], _Make]] = {
    "told": (DRIVE, ACKERMANN, _told),
    "odometry": (ODOM, ODOMETRY, _odometry),
    "inertial": (IMU, _IMU, _inertial),
    "motor": (CORE, _VESC, _motor),
    "places": ("", (*ODOMETRY, "geometry_msgs/msg/PoseStamped", _COVARIED), _places),
}


def _in_si(found: BagSeries) -> None:
    """Convert a VESC's raw samples, in g and degrees, if their gravity is about one."""
    if not found.inertial:
        return
    sizes = sorted(hypot(*row[2:5]) for row in found.inertial)
    middle = sizes[len(sizes) // 2]
    low, high = _NEAR_ONE_G
    if low < middle < high:
        turn = radians(1.0)
        found.inertial = [
            (t, turn * z, _G_MPS2 * x, _G_MPS2 * y) for t, z, x, y, _ in found.inertial
        ]
        found.notes.append(
            f"{found.topics['inertial']} tells gravity as {middle:.2f}: g and degrees are taken"
        )
    else:
        found.inertial = [row[:4] for row in found.inertial]
