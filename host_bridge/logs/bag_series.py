"""Reader of a bag's series for calibration: commands, odometry, IMU, motor controller.

``bags.read_bag`` reads the two topics of a replay, and fails without them; here each topic may be
missing, for a calibration takes what there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import hypot, isfinite, radians
from pathlib import Path
from typing import Any

from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bag_messages import (
    COMMANDS,
    POSES,
    USUAL_COMMANDS,
    USUAL_POSES,
    Timed,
    in_time_order,
)
from host_bridge.logs.bags import (
    DAMAGES,
    ODOMETRY,
    bag_path,
    sha256_of,
    unreadable_bag,
)
from host_bridge.logs.ros_types import library, typestore

IMU, CORE = "/sensors/imu/raw", "/sensors/core"
_IMU = ("sensor_msgs/msg/Imu",)
_VESC = ("vesc_msgs/msg/VescStateStamped", "vesc_msgs/msg/VescState")
_G_MPS2 = 9.81  # standard gravity
_NEAR_ONE_G = (0.7, 1.3)  # the size of gravity from a sensor that reports in g

Row = tuple[float, ...]


@dataclass
class BagSeries:
    """The rows of a bag by time in s since its beginning; SI units, forward and left positive.

    ``commands``: speed, steering angle. ``odometry``: speed, yaw rate, x, y. ``inertial``: yaw
    rate, forward and left acceleration. ``motor``: electrical turns a minute, duty, volts.
    ``places``: x, y, yaw of the topic that was named for it. ``topics``: the topic that was read
    for each of these. ``notes`` are sentences, also on times that jump, stand or run back.
    """

    file: str
    sha256: str
    commands: list[Row] = field(default_factory=list)
    odometry: list[Row] = field(default_factory=list)
    inertial: list[Row] = field(default_factory=list)
    motor: list[Row] = field(default_factory=list)
    places: list[Row] = field(default_factory=list)
    topics: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_bag_series(path: Path, named: dict[str, str]) -> BagSeries:
    """Read the series of a ROS bag that calibration needs, by time from its beginning.

    ``named``: topics by what they are (commands, odometry, inertial, motor, places), where they are
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
    for what, (usual, makes) in _KINDS.items():
        topic = _topic(path, reader, named.get(what, ""), usual, tuple(makes))
        if not topic:
            continue
        found.topics[what] = topic
        make = makes[reader.topics[topic].msgtype]
        timed, notes = in_time_order(topic, list(_timed(reader, topic, make)))
        getattr(found, what).extend((time_s, *content) for time_s, content in timed)
        found.notes += notes
    _in_si(found)
    return found


def _topic(path: Path, reader: Any, name: str, usual: Sequence[str], types: Sequence[str]) -> str:
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
    known = [name] if name else [topic for topic in usual if topic in fitting]
    if known:
        return known[0]
    return str(fitting[0]) if usual and len(fitting) == 1 else ""


def _timed(reader: Any, topic: str, make: _Make) -> Iterator[Timed]:
    """Yield the messages that are all numbers."""
    for connection, time_ns, data in reader.messages(connections=reader.topics[topic].connections):
        message = reader.deserialize(data, connection.msgtype)
        content = make(message)
        if not all(map(isfinite, content)):
            continue
        stamp = getattr(getattr(message, "header", None), "stamp", None)
        stamp_ns = int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec) if stamp else 0
        stamp_s = (stamp_ns - reader.start_time) * 1e-9 if stamp_ns else None
        yield Timed((time_ns - reader.start_time) * 1e-9, stamp_s, content)


def _odometry(message: Any) -> Row:
    x, y, _, speed, rate = POSES[ODOMETRY[0]](message)
    return speed, rate, x, y


def _inertial(message: Any) -> Row:
    turn, force = message.angular_velocity, message.linear_acceleration
    return float(turn.z), float(force.x), float(force.y), float(force.z)


def _motor(message: Any) -> Row:
    state = getattr(message, "state", message)
    return float(state.speed), float(state.duty_cycle), float(state.voltage_input)


def _place_of(read: Callable[[Any], Row]) -> _Make:
    return lambda message: read(message)[:3]


# What is read: its usual topics, the first that there is; and how, by the type of its messages
_KINDS: dict[str, tuple[Sequence[str], Mapping[str, _Make]]] = {
    "commands": (USUAL_COMMANDS, COMMANDS),
    "odometry": (USUAL_POSES, dict.fromkeys(ODOMETRY, _odometry)),
    "inertial": ((IMU,), dict.fromkeys(_IMU, _inertial)),
    "motor": ((CORE,), dict.fromkeys(_VESC, _motor)),
    "places": ((), {kind: _place_of(read) for kind, read in POSES.items()}),
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
