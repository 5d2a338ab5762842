"""Reader of ROS 1 and ROS 2 bags: a car's commands and its odometry.

A bag is a file (.bag, .mcap, .db3), or a folder as rosbag2 leaves it. ``/drive`` and ``/odom`` are
read unless other names are given, or what other vocabularies have (``bag_messages``); without
commands of such a type, AutoDRIVE's ``throttle_command`` and ``steering_command`` of one car are
the commands, or AutoRally's chassis. The library ``rosbags`` reads it, which needs no ROS.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bag_messages import (
    CHASSIS,
    COMMANDS,
    POSES,
    USUAL_COMMANDS,
    USUAL_POSES,
    ShareSample,
    Timed,
    chassis,
    chassis_drive,
    gaps,
    in_time_order,
    unused_topics,
)
from host_bridge.logs.ros_types import library, typestore

ODOM = "/odom"
ODOMETRY = ("nav_msgs/msg/Odometry",)
SHARE = "std_msgs/msg/Float32"  # AutoDRIVE's commands, a topic for each: from -1 to 1
THROTTLE, STEERING = "throttle_command", "steering_command"  # the last parts of their names
# What the library raises for damaged bytes, besides errors of its own
DAMAGES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
)


@dataclass(frozen=True, slots=True)
class CommandSample:
    """A command: its arrival in seconds since the bag's beginning, m/s, rad to the left."""

    t_s: float
    speed_mps: float
    steer_rad: float


@dataclass(frozen=True, slots=True)
class OdometrySample:
    """A pose and velocity of the odometry: m, rad, m/s, rad/s.

    ``t_s`` is its stamp in seconds since the bag's beginning, or its receipt if the stamps come
    from another clock.
    """

    t_s: float
    x_m: float
    y_m: float
    yaw_rad: float
    speed_mps: float
    yaw_rate_radps: float


@dataclass(frozen=True)
class Bag:
    """A drive read from a bag; all lists are in the order of their times.

    A bag has its commands either as ``commands`` or as ``shares``, with ``brakes`` as from when to
    when the brake was on by half or more. ``notes`` are sentences on times
    that cannot be right, and on topics that were not used.
    """

    file: str
    sha256: str
    drive_topic: str
    odom_topic: str
    commands: list[CommandSample] = field(default_factory=list)
    odometry: list[OdometrySample] = field(default_factory=list)
    shares: list[ShareSample] = field(default_factory=list)
    brakes: list[tuple[float, float]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def is_bag(path: Path) -> bool:
    """Return whether the name is that of a bag. An .mcap may be a log of Tandem, too."""
    return path.is_dir() or path.suffix in (".bag", ".db3", ".mcap")


def bag_path(path: Path) -> Path:
    """Return what the library opens: of a folder without metadata.yaml its only file.

    A recorder that lost its power leaves such a folder. Raises errors.DataFileFault if there are
    several files, or none.
    """
    if not path.is_dir() or (path / "metadata.yaml").exists():
        return path
    files = sorted(it for it in path.iterdir() if it.suffix in (".mcap", ".db3"))
    if len(files) == 1:
        return files[0]
    raise DataFileFault(
        "the folder of this bag has no metadata.yaml",
        where=str(path),
        expected="metadata.yaml, or one .mcap or .db3 alone",
        got=", ".join(it.name for it in files) or "none of them",
        remedy=f"ros2 bag reindex {path}",
    )


def read_bag(path: Path, drive_topic: str = "", odom_topic: str = "") -> Bag:
    """Read the two topics; "" is /drive and /odom or, if there is only one of its type, that one.

    Raises errors.DataFileFault for a file that is no bag or lacks them, DeviceFault without
    rosbags.
    """
    highlevel, readers = library("highlevel"), library("highlevel.anyreader")
    try:
        with highlevel.AnyReader([bag_path(path)], default_typestore=typestore()) as reader:
            return _read(path, reader, drive_topic, odom_topic)
    except OSError as error:
        raise DataFileFault.unreadable(path, error) from None
    except (readers.AnyReaderError, *readers.ReaderErrors, *DAMAGES) as error:
        raise unreadable_bag(path, error) from None


def unreadable_bag(path: Path, error: Exception) -> DataFileFault:
    """Return the fault for a bag that the library cannot read."""
    return DataFileFault(
        "this is no bag that can be read",
        where=str(path),
        expected="a .bag, .mcap or .db3 of ROS, or the folder of one, in cdr",
        got=str(error) or "damaged data",
        remedy="for a bag that was cut short: ros2 bag reindex FOLDER, or mcap recover FILE",
    )


def _read(path: Path, reader: Any, drive_topic: str, odom_topic: str) -> Bag:
    shared = share_topics(path, reader, drive_topic)
    drive = shared[0] if shared else _topic(path, reader, drive_topic, USUAL_COMMANDS, COMMANDS)
    odom = _topic(path, reader, odom_topic, USUAL_POSES, POSES)
    commands: list[CommandSample] = []
    shares: list[ShareSample] = []
    brakes: list[tuple[float, float]] = []
    if not shared:
        commands = list(_commands(reader, drive, reader.start_time))
    elif len(shared) == 2:  # AutoDRIVE's: throttle and steering
        shares = list(_shares(reader, shared, reader.start_time))
    else:
        shares, brakes = chassis_drive(
            ((time_ns - reader.start_time) * 1e-9, chassis(message))
            for time_ns, message in _messages(reader, drive)
        )
    odometry, notes = _poses(reader, odom)
    for topic, found in ((drive, commands or shares), (odom, odometry)):
        if not found:
            raise _lacking(path, reader, topic, "no message that is all numbers")
    notes += gaps(drive, [it.t_s for it in commands or shares])
    types = {name: str(info.msgtype) for name, info in reader.topics.items()}
    notes += unused_topics(types, (odom, *(shared or (drive,))))
    return Bag(path.name, sha256_of(path), drive, odom, commands, odometry, shares, brakes, notes)


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


def _topic(
    path: Path, reader: Any, named: str, usual: Sequence[str], types: Mapping[str, object]
) -> str:
    """Return the named topic, the first usual one that there is, or the only one of such a type."""
    fitting = [topic for topic, info in reader.topics.items() if info.msgtype in types]
    if named in fitting:
        return named
    if not named:
        found = [*(it for it in usual if it in fitting), *(fitting if len(fitting) == 1 else ())]
        if found:
            return str(found[0])
    got = ", ".join(sorted(fitting)) or "none of that type"
    raise _lacking(path, reader, named or usual[0], f"of {next(iter(types))}: {got}")


def _lacking(path: Path, reader: Any, topic: str, got: str) -> DataFileFault:
    return DataFileFault(
        f"the bag has no {topic} to read",
        where=str(path),
        expected=f"commands ({', '.join(COMMANDS)}, or {THROTTLE} and {STEERING} of {SHARE}, "
        f"or {CHASSIS[0]}) and poses ({', '.join(POSES)})",
        got=got,
        remedy=f"name the topics; it has {', '.join(sorted(reader.topics))}",
    )


def _messages(reader: Any, topic: str) -> Iterator[tuple[int, Any]]:
    for connection, time_ns, data in reader.messages(connections=reader.topics[topic].connections):
        yield time_ns, reader.deserialize(data, connection.msgtype)


def _commands(reader: Any, topic: str, start_ns: int) -> Iterator[CommandSample]:
    read = COMMANDS[reader.topics[topic].msgtype]
    for time_ns, message in _messages(reader, topic):
        row = CommandSample((time_ns - start_ns) * 1e-9, *read(message))
        if _is_whole((row.speed_mps, row.steer_rad)):
            yield row


def _shares(reader: Any, pair: Sequence[str], start_ns: int) -> Iterator[ShareSample]:
    found = [
        ShareSample((time_ns - start_ns) * 1e-9, is_steering, float(message.data))
        for topic, is_steering in zip(pair, (False, True), strict=True)
        for time_ns, message in _messages(reader, topic)
    ]
    for row in sorted(found, key=lambda it: it.t_s):
        if isfinite(row.value_norm):
            yield row


def _poses(reader: Any, topic: str) -> tuple[list[OdometrySample], list[str]]:
    """Return the poses of a topic by rising time, and what is wrong with their times."""
    read, start_ns = POSES[reader.topics[topic].msgtype], reader.start_time
    rows = []
    for time_ns, message in _messages(reader, topic):
        stamp = message.header.stamp
        stamp_ns = int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
        content = read(message)
        if _is_whole(content[:3]):
            stamp_s = (stamp_ns - start_ns) * 1e-9 if stamp_ns else None
            rows.append(Timed((time_ns - start_ns) * 1e-9, stamp_s, content))
    timed, notes = in_time_order(topic, rows)
    return [OdometrySample(time_s, *content) for time_s, content in timed], notes


def _is_whole(numbers: Iterable[float]) -> bool:
    return all(map(isfinite, numbers))


def sha256_of(path: Path) -> str:
    """Return the hash of a file's bytes, or of a folder's files in the order of their names."""
    files = sorted(it for it in path.iterdir() if it.is_file()) if path.is_dir() else [path]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()
