"""Reader of a run as two CSV files: a driver's commands, and the car's odometry."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from math import isfinite
from pathlib import Path

import numpy as np

from calibration.arrays import Floats
from calibration.logs.run import Commands, PoseTrack, Run, require_start_pose, run_fault
from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bags import sha256_of

COMMAND_COLUMNS = ("t_s", "channel", "value_norm")
ODOMETRY_COLUMNS = ("header_t_s", "x_m", "y_m", "yaw_rad")  # further columns are ignored
CHANNELS = ("throttle", "steering")


def read_run_csv(commands: Path, odometry: Path) -> Run:
    """Read the two files of one run.

    Raises errors.DataFileFault for what is missing, or if there is no pose before the first
    command.
    """
    return require_start_pose(Run(read_commands(commands), read_odometry(odometry)), odometry)


def read_commands(path: Path) -> Commands:
    """Read rows of t_s, channel (throttle or steering), value_norm. Raises errors.DataFileFault."""
    rows = list(_rows(path, COMMAND_COLUMNS, "channel"))
    for line, (_, channel, value) in enumerate(rows, 2):
        if channel not in CHANNELS:
            raise run_fault(path, line, "unknown channel", " or ".join(CHANNELS), str(channel))
        if not -1.0 <= float(value) <= 1.0:
            raise run_fault(path, line, "value_norm out of range", "-1 to 1", str(value))
    times_s = np.array([row[0] for row in rows], float)
    _refuse_disorder(path, times_s)
    is_steering = np.array([row[1] == "steering" for row in rows])
    values = np.array([row[2] for row in rows], float)
    return Commands(path.name, sha256_of(path), times_s, is_steering, values)


def read_odometry(path: Path) -> PoseTrack:
    """Read rows with header_t_s, x_m, y_m, yaw_rad. Raises errors.DataFileFault."""
    columns = np.array(list(_rows(path, ODOMETRY_COLUMNS)), float).T
    _refuse_disorder(path, columns[0])
    times_s, x_m, y_m, yaw_rad = columns
    return PoseTrack(path.name, sha256_of(path), times_s, x_m, y_m, np.unwrap(yaw_rad))


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
        raise run_fault(path, 1, "columns are missing", ",".join(names), header)
    line = 1
    for line, row in enumerate(table, 2):
        yield [row[n] or "" if n == word else _number(path, line, n, row[n]) for n in names]
    if line == 1:
        raise run_fault(path, 2, "no rows", "at least one", "none")


def _number(path: Path, line: int, name: str, text: str | None) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise run_fault(path, line, f"{name} is not a number", "a number", repr(text))
    return value


def _refuse_disorder(path: Path, times_s: Floats) -> None:
    backward = np.flatnonzero(np.diff(times_s) < 0.0)
    if backward.size:
        at = int(backward[0]) + 1
        raise run_fault(path, at + 2, "time runs backward", "rising times", f"{times_s[at]:g} s")
