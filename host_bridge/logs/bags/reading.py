"""Reader of ROS 1 and ROS 2 bags: a car's commands, its odometry, and what else tells of it.

A bag is a file (.bag, .mcap, .db3), or a folder as rosbag2 leaves it. ``/drive`` and ``/odom`` are
read unless other names are given, or what other vocabularies have (``commands``, ``messages``);
without commands of such a type, AutoDRIVE's ``throttle_command`` and ``steering_command`` of one
car are the commands, or AutoRally's chassis. A replay needs commands and poses, or what a way is
reckoned from; a calibration takes what there is. The library ``rosbags`` reads it, which needs no
ROS.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bags.bag import Bag, OdometrySample, Row, bag_path, sha256_of
from host_bridge.logs.bags.commands import (
    CHASSIS,
    COMMANDS,
    SHARE,
    STEERING,
    THROTTLE,
    USUAL_COMMANDS,
    chassis,
    chassis_drive,
    is_whole,
    messages,
    share_commands,
    share_topics,
    speed_commands,
)
from host_bridge.logs.bags.messages import (
    ENCODERS,
    INERTIAL,
    MOTOR,
    POINTS,
    POSES,
    SPEEDS,
    USUAL_POSES,
    in_si,
    unused_topics,
)
from host_bridge.logs.bags.ros_types import library, typestore
from host_bridge.logs.bags.times import Timed, gaps, in_time_order

ODOM = "/odom"
ODOMETRY = ("nav_msgs/msg/Odometry",)
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
            bag.commands = list(speed_commands(reader, topic, reader.start_time))
        elif len(shared) == 2:  # AutoDRIVE's: throttle and steering
            bag.shares = list(share_commands(reader, shared, reader.start_time))
        else:
            bag.shares, bag.brakes = chassis_drive(
                ((time_ns - reader.start_time) * 1e-9, chassis(message))
                for time_ns, message in messages(reader, topic)
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


def _timed(reader: Any, topic: str, reads: _Reads, least: int | None) -> Iterator[Timed]:
    """Yield a topic's messages with their times, if their first ``least`` columns are numbers."""
    read, start_ns = reads[reader.topics[topic].msgtype], reader.start_time
    for time_ns, message in messages(reader, topic):
        stamp = getattr(getattr(message, "header", None), "stamp", None)
        stamp_ns = int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec) if stamp else 0
        content = read(message)
        if is_whole(content[:least]):
            stamp_s = (stamp_ns - start_ns) * 1e-9 if stamp_ns else None
            yield Timed((time_ns - start_ns) * 1e-9, stamp_s, content)
