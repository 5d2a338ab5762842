"""Reader of ROS 1 and ROS 2 bags: a car's commands, its odometry, and what else tells of it.

A bag is a file (.bag, .mcap, .db3), or a folder as rosbag2 leaves it. ``/drive`` and ``/odom`` are
read unless other names are given, or what other vocabularies have (``bag_messages``); without
commands of such a type, AutoDRIVE's ``throttle_command`` and ``steering_command`` of one car are
the commands, or AutoRally's chassis. A replay needs commands and poses, or what a way is reckoned
from; a calibration takes what there is. The library ``rosbags`` reads it, which needs no ROS.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bag_messages import (
    CHASSIS,
    COMMANDS,
    ENCODERS,
    INERTIAL,
    MOTOR,
    POINTS,
    POSES,
    SPEEDS,
    USUAL_COMMANDS,
    USUAL_POSES,
    ShareSample,
    Timed,
    chassis,
    chassis_drive,
    gaps,
    in_si,
    in_time_order,
    unused_topics,
)
from host_bridge.logs.ros_types import library, typestore

ODOM = "/odom"
ODOMETRY = ("nav_msgs/msg/Odometry",)
SHARE = "std_msgs/msg/Float32"  # AutoDRIVE's commands, a topic for each: from -1 to 1
THROTTLE, STEERING = "throttle_command", "steering_command"  # the last parts of their names
_ENCODERS = ("left_encoder", "right_encoder")  # and those of its wheels' angles

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


IMU, CORE = "/sensors/imu/raw", "/sensors/core"
Row = tuple[float, ...]
# Kinds of series besides commands, by their key: usual topics, the first that there is, and how a
# message is read, by its type. Places have no usual topic: only one that is named is read.
_Reads = Mapping[str, Callable[[Any], Row]]
_SERIES: dict[str, tuple[Sequence[str], _Reads]] = {
    "odometry": (USUAL_POSES, POSES),
    "inertial": ((IMU,), INERTIAL),
    "motor": ((CORE,), MOTOR),
    "speeds": (("/vehicle/status/velocity_status", "/wheelSpeeds"), SPEEDS),
    "places": ((), {**POSES, **POINTS}),
}
# Columns that have to be numbers, where not all: no heading, no yaw rate
_LEAST = {"odometry": 3, "places": 3, "speeds": 1}
_COMMANDED = (
    f"commands ({', '.join(COMMANDS)}, or {THROTTLE} and {STEERING} of {SHARE}, "
    f"or {', '.join(CHASSIS)})"
)
_ROLLING = ("motor", "speeds", "wheels")  # any of which tells how far the wheels rolled


class CommandSample(NamedTuple):
    """A command: its arrival in seconds since the bag's beginning, m/s, rad to the left."""

    t_s: float
    speed_mps: float
    steer_rad: float


class OdometrySample(NamedTuple):
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


@dataclass
class Bag:
    """A drive read from a bag; all lists are in the order of their times, in SI units.

    A bag has its commands either as ``commands`` or as ``shares``, with ``brakes`` as from when to
    when the brake was on by half or more. ``inertial``: time, yaw rate, acceleration forward and to
    the left. ``motor``: time, electrical turns a minute, duty, volts. ``speeds``: time, m/s, and
    the rad/s that the same reports say, or nan. ``wheels``: time, angle in rad, the mean of both
    sides. ``places``: time, x, y, yaw of the topic that was named for it. ``topics``: the topic
    that was read for each of these; of shares that of the throttle. ``notes`` are sentences on
    times that cannot be right, and on topics that were not used.
    """

    file: str
    sha256: str
    topics: dict[str, str] = field(default_factory=dict)
    commands: list[CommandSample] = field(default_factory=list)
    odometry: list[OdometrySample] = field(default_factory=list)
    shares: list[ShareSample] = field(default_factory=list)
    brakes: list[tuple[float, float]] = field(default_factory=list)
    inertial: list[Row] = field(default_factory=list)
    motor: list[Row] = field(default_factory=list)
    speeds: list[Row] = field(default_factory=list)
    wheels: list[Row] = field(default_factory=list)
    places: list[Row] = field(default_factory=list)
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


def read_bag(
    path: Path, named: Mapping[str, str] | None = None, *, for_replay: bool = False
) -> Bag:
    """Read all series of a bag that tell of a car, by time from its beginning.

    ``named``: topics by what they are (commands, odometry, inertial, motor, places), where they are
    neither the usual ones nor the only one of their type. ``for_replay``: commands are needed, and
    poses of any kind, or else what a way can be reckoned from; no more is read. Raises
    errors.DataFileFault for a file that is no bag, or lacks a topic that was named or is needed;
    DeviceFault without rosbags.
    """
    highlevel, readers = library("highlevel"), library("highlevel.anyreader")
    try:
        with highlevel.AnyReader([bag_path(path)], default_typestore=typestore()) as reader:
            return _BagReading(path, reader, named or {}, for_replay).bag
    except OSError as error:
        raise DataFileFault.unreadable(path, error) from None
    except (readers.AnyReaderError, *readers.ReaderErrors, *DAMAGES) as error:
        raise _unreadable_bag(path, error) from None


def _unreadable_bag(path: Path, error: Exception) -> DataFileFault:
    """Return the fault for a bag that the library cannot read."""
    return DataFileFault(
        "this is no bag that can be read",
        where=str(path),
        expected="a .bag, .mcap or .db3 of ROS, or the folder of one, in cdr",
        got=str(error) or "damaged data",
        remedy="for a bag that was cut short: ros2 bag reindex FOLDER, or mcap recover FILE",
    )


class _BagReading:
    """One reading of an open bag."""

    def __init__(self, path: Path, reader: Any, named: Mapping[str, str], for_replay: bool) -> None:
        self._path, self._reader, self._named = path, reader, named
        self._for_replay = for_replay
        self.bag = Bag(path.name, sha256_of(path))
        used = [*self._read_commands(), *self._read_series()]
        if not (for_replay and self.bag.odometry):
            used += self._read_wheels()
        if for_replay:
            self._refuse_unreckonable()
        types = {name: str(info.msgtype) for name, info in reader.topics.items()}
        self.bag.notes += unused_topics(types, used, for_replay=for_replay)

    def _read_commands(self) -> Sequence[str]:
        """Read the commands, or the shares that stand for them; return their topics."""
        reader, bag = self._reader, self.bag
        named = self._named.get("commands", "")
        shared = share_topics(self._path, reader, named)
        topic = shared[0] if shared else self._topic("commands", USUAL_COMMANDS, COMMANDS)
        if not topic and self._for_replay:
            there = self._there()
            raise self._lacking("nothing in this bag commands a car", _COMMANDED, there)
        if not topic:
            return ()
        bag.topics["commands"] = topic
        if not shared:
            bag.commands = list(_commands(reader, topic, reader.start_time))
        elif len(shared) == 2:  # AutoDRIVE's: throttle and steering
            bag.shares = list(_shares(reader, shared, reader.start_time))
        else:
            bag.shares, bag.brakes = chassis_drive(
                ((time_ns - reader.start_time) * 1e-9, chassis(message))
                for time_ns, message in _messages(reader, topic)
            )
        found = bag.commands or bag.shares
        self._refuse_empty(topic, found)
        bag.notes += gaps(topic, [it.t_s for it in found])
        return shared or (topic,)

    def _read_series(self) -> Iterator[str]:
        """Read each other series that there is; yield its topic."""
        bag = self.bag
        for what, (usual, reads) in _SERIES.items():
            if self._for_replay and (bag.odometry or what == "places"):
                return
            # only an odometry tells the speed of the wheels; a replay takes any pose
            any_pose = self._for_replay or what != "odometry"
            topic = self._topic(what, usual, reads if any_pose else ODOMETRY)
            if not topic:
                continue
            bag.topics[what] = topic
            # of a pose, what it says besides of speeds may be missing
            least = _LEAST.get(what) if any_pose else None
            rows = self._rows(topic, reads, least)
            if what == "odometry":
                self._refuse_empty(topic, rows)
            self._keep(what, rows)
            yield topic

    def _rows(self, topic: str, reads: _Reads, least: int | None = None) -> list[Row]:
        """Return a topic's messages in order of time; note what is wrong with their times."""
        rows, notes = in_time_order(topic, list(_timed(self._reader, topic, reads, least)))
        self.bag.notes += notes
        return [(time_s, *content) for time_s, content in rows]

    def _read_wheels(self) -> Sequence[str]:
        """Read the angle of the wheels, the mean of a car's encoders; return their topics."""
        topics = self._near(ENCODERS)
        found = [name for end in _ENCODERS for name in topics if name.rpartition("/")[2] == end]
        sides = [rows for name in found if (rows := self._rows(name, ENCODERS))]
        if not 0 < len(found) == len(sides) <= len(_ENCODERS):
            return ()
        times_s = [time_s for time_s, _ in sides[0]]
        angles = [np.interp(times_s, *np.array(rows).T) for rows in sides]
        self.bag.wheels = list(zip(times_s, np.mean(angles, axis=0).tolist(), strict=True))
        self.bag.topics["wheels"] = ", ".join(found)
        return found

    def _of_types(self, types: Sequence[str]) -> list[str]:
        return sorted(it for it, info in self._reader.topics.items() if info.msgtype in types)

    def _near(self, types: Iterable[str]) -> list[str]:
        """Return the topics of such types: of the car that is commanded, if it names its topics."""
        topics = self._of_types(tuple(types))
        commands = self.bag.topics.get("commands", "")
        its = commands.removesuffix(THROTTLE)
        near = [it for it in topics if its != commands and it.startswith(its)]
        return near or topics

    def _refuse_unreckonable(self) -> None:
        """Refuse a bag without poses that does not hold what a way is reckoned from, either."""
        bag = self.bag
        rolled = next((bag.topics[it] for it in _ROLLING if getattr(bag, it)), "")
        turned = bag.topics["inertial"] if bag.inertial else ""
        if not turned and any(isfinite(row[2]) for row in bag.speeds):
            turned = bag.topics["speeds"]
        if bag.odometry or (rolled and turned):
            return
        raise self._lacking(
            "nothing in this bag tells where the car was",
            f"poses ({', '.join(POSES)}), or how far the wheels rolled "
            f"({', '.join((*MOTOR, *SPEEDS, *ENCODERS))}) and how the car turned "
            f"({', '.join(INERTIAL)})",
            f"no poses; how far it rolled: {rolled or 'nothing'}; how it turned: "
            f"{turned or 'nothing'}",
        )

    def _there(self) -> str:
        return ", ".join(sorted(self._reader.topics)) or "no topic"

    def _keep(self, what: str, rows: list[Row]) -> None:
        bag = self.bag
        if what == "odometry":
            bag.odometry = [OdometrySample(*row) for row in rows]
        elif what == "inertial":
            bag.inertial, notes = in_si(bag.topics[what], rows)
            bag.notes += notes
        elif what == "places":
            bag.places = [row[:4] for row in rows]
        else:
            setattr(bag, what, rows)

    def _topic(self, what: str, usual: Sequence[str], types: Iterable[str]) -> str:
        """Return the named topic, the first usual one, or the only one of such a type, or "".

        Of several cars it is the one of the car that is commanded, if topics bear its name. Raises
        errors.DataFileFault where a topic that was named or is needed is not there.
        """
        types, named = tuple(types), self._named.get(what, "")
        fitting = self._of_types(types) if named else self._near(types)
        wanted = [named] if named else usual
        found = [topic for topic in wanted if topic in fitting]
        if not (found or named) and usual and len(fitting) == 1:
            found = fitting
        is_doubtful = self._for_replay and len(fitting) > 1
        if not found and (named or is_doubtful):
            expected = _COMMANDED if what == "commands" else ", ".join(types)
            got = f"{', '.join(fitting) or 'none'} of its types"
            raise self._lacking(f"the bag has no {named or usual[0]} to read", expected, got)
        return found[0] if found else ""

    def _refuse_empty(self, topic: str, found: Sequence[object]) -> None:
        if self._for_replay and not found:
            what = f"the bag has no {topic} to read"
            raise self._lacking(what, "numbers in its messages", "none that is all numbers")

    def _lacking(self, what: str, expected: str, got: str) -> DataFileFault:
        return DataFileFault(
            what,
            where=str(self._path),
            expected=expected,
            got=got,
            remedy="record it, too, or name the topics: --drive-topic, --odom-topic; it has "
            f"{self._there()}",
        )


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


def _timed(reader: Any, topic: str, reads: _Reads, least: int | None) -> Iterator[Timed]:
    """Yield a topic's messages with their times, if their first ``least`` columns are numbers."""
    read, start_ns = reads[reader.topics[topic].msgtype], reader.start_time
    for time_ns, message in _messages(reader, topic):
        stamp = getattr(getattr(message, "header", None), "stamp", None)
        stamp_ns = int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec) if stamp else 0
        content = read(message)
        if _is_whole(content[:least]):
            stamp_s = (stamp_ns - start_ns) * 1e-9 if stamp_ns else None
            yield Timed((time_ns - start_ns) * 1e-9, stamp_s, content)


def _is_whole(numbers: Iterable[float]) -> bool:
    return all(map(isfinite, numbers))


def sha256_of(path: Path) -> str:
    """Return the hash of a file's bytes, or of a folder's files in the order of their names."""
    files = sorted(it for it in path.iterdir() if it.is_file()) if path.is_dir() else [path]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()
