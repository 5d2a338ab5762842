"""Measured runs: a driver's commands and the car's odometry, read from CSV files or a ROS bag."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from host_bridge.core import Vehicle
from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bags import read_bag, sha256_of

Floats: TypeAlias = npt.NDArray[np.float64]

COMMANDS = ("t_s", "channel", "value_norm")
ODOMETRY = ("header_t_s", "x_m", "y_m", "yaw_rad")  # further columns are ignored
CHANNELS = ("throttle", "steering")


@dataclass(frozen=True)
class Commands:
    """All messages of a driver in order of time; values from -1 to 1, positive is left."""

    file: str
    sha256: str
    t_s: Floats
    is_steering: npt.NDArray[np.bool_]
    value_norm: Floats


@dataclass(frozen=True)
class Odometry:
    """The car's poses by the time at which it was there; yaw without jumps of a whole turn."""

    file: str
    sha256: str
    t_s: Floats
    x_m: Floats
    y_m: Floats
    yaw_rad: Floats


@dataclass(frozen=True)
class Run:
    """One drive: the commands and the resulting motion, on one clock."""

    commands: Commands
    odometry: Odometry

    def start_pose(self) -> tuple[float, float, float]:
        """Return the mean of all poses before the first command: x_m, y_m, yaw_rad.

        There has to be at least one.
        """
        o = self.odometry
        count = int(np.searchsorted(o.t_s, self.commands.t_s[0]))
        return (
            float(np.mean(o.x_m[:count])),
            float(np.mean(o.y_m[:count])),
            float(np.mean(o.yaw_rad[:count])),
        )


def read_run(commands: Path, odometry: Path) -> Run:
    """Read the two files of one run.

    Raises errors.DataFileFault for what is missing, or if there is no pose before the first
    command.
    """
    return _begun(Run(read_commands(commands), read_odometry(odometry)), odometry)


def read_bag_run(path: Path, vehicle: Vehicle, drive_topic: str = "", odom_topic: str = "") -> Run:
    """Read a bag's odometry and commands, as shares of this vehicle's top speed and full lock.

    Commands before the first that asks for a speed are left out, as the car stands until then.
    Raises errors.DataFileFault as ``read_run`` and ``read_bag`` do, DeviceFault without rosbags.
    """
    bag = read_bag(path, drive_topic, odom_topic)
    rows = np.array([(it.t_s, it.speed_mps, it.steer_rad) for it in bag.told])
    moving = np.flatnonzero(rows[:, 1])
    if not moving.size:
        raise _fault(path, 0, "nobody drives in this bag", "a speed that is not 0", bag.drive_topic)
    rows = rows[moving[0] :]
    shares = rows[:, 1:] / (vehicle.speed_max_mps, vehicle.steer_max_rad)
    commands = Commands(
        bag.file,
        bag.sha256,
        np.repeat(rows[:, 0], 2),
        np.tile([False, True], len(rows)),
        np.clip(shares, -1.0, 1.0).ravel(),
    )
    places = np.array([(it.t_s, it.x_m, it.y_m, it.yaw_rad) for it in bag.places])
    times_s, x_m, y_m, yaw_rad = places.T
    odometry = Odometry(bag.file, bag.sha256, times_s, x_m, y_m, np.unwrap(yaw_rad))
    return _begun(Run(commands, odometry), path)


def _begun(run: Run, odometry: Path) -> Run:
    if run.odometry.t_s[0] >= run.commands.t_s[0]:
        raise DataFileFault(
            "begins after the first command",
            where=str(odometry),
            expected=f"a pose before {run.commands.t_s[0]:.3f} s, to start from",
            got=f"the first at {run.odometry.t_s[0]:.3f} s",
            remedy="give the two files of one run",
        )
    return run


def read_commands(path: Path) -> Commands:
    """Read rows of t_s, channel (throttle or steering), value_norm. Raises errors.DataFileFault."""
    rows = list(_rows(path, COMMANDS, "channel"))
    for line, (_, channel, value) in enumerate(rows, 2):
        if channel not in CHANNELS:
            raise _fault(path, line, "unknown channel", " or ".join(CHANNELS), str(channel))
        if not -1.0 <= float(value) <= 1.0:
            raise _fault(path, line, "value_norm out of range", "-1 to 1", str(value))
    times_s = np.array([row[0] for row in rows], float)
    _refuse_disorder(path, times_s)
    is_steering = np.array([row[1] == "steering" for row in rows])
    values = np.array([row[2] for row in rows], float)
    return Commands(path.name, sha256_of(path), times_s, is_steering, values)


def read_odometry(path: Path) -> Odometry:
    """Read rows with header_t_s, x_m, y_m, yaw_rad. Raises errors.DataFileFault."""
    columns = np.array(list(_rows(path, ODOMETRY)), float).T
    _refuse_disorder(path, columns[0])
    times_s, x_m, y_m, yaw_rad = columns
    return Odometry(path.name, sha256_of(path), times_s, x_m, y_m, np.unwrap(yaw_rad))


def _rows(path: Path, names: tuple[str, ...], word: str = "") -> Iterator[list[float | str]]:
    """Yield the named columns of each row, as numbers except for the column ``word``."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataFileFault.unreadable(path, error) from None
    except UnicodeDecodeError:
        raise DataFileFault(
            "is not text",
            where=str(path),
            expected="comma separated values",
            got="binary data",
            remedy="a log of Tandem is read as it is: tandem replay LOG",
        ) from None
    lines = text.splitlines()
    table, header = csv.DictReader(lines), "".join(lines[:1])
    missing = [name for name in names if name not in (table.fieldnames or ())]
    if missing:
        raise _fault(path, 1, "columns are missing", ",".join(names), header)
    line = 1
    for line, row in enumerate(table, 2):
        yield [row[n] or "" if n == word else _number(path, line, n, row[n]) for n in names]
    if line == 1:
        raise _fault(path, 2, "no rows", "at least one", "none")


def _number(path: Path, line: int, name: str, text: str | None) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise _fault(path, line, f"{name} is not a number", "a number", repr(text))
    return value


def _refuse_disorder(path: Path, times_s: Floats) -> None:
    backward = np.flatnonzero(np.diff(times_s) < 0.0)
    if backward.size:
        at = int(backward[0]) + 1
        raise _fault(path, at + 2, "time runs backward", "rising times", f"{times_s[at]:g} s")


def _fault(path: Path, line: int, what: str, expected: str, got: str) -> DataFileFault:
    where = f"{path}:{line}" if line else str(path)
    return DataFileFault(what, where=where, expected=expected, got=got, remedy="mend the file")
