"""Reader of a run as two CSV files: a driver's commands, and the car's odometry."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from calibration.logs.run import Commands, PoseTrack, Run, require_start_pose
from host_bridge.core.errors import UsageFault
from host_bridge.core.files import read_table
from host_bridge.core.files.drive_tables import COMMANDS, ODOMETRY
from host_bridge.logs.bags.bag import sha256_of

COMMAND_COLUMNS = COMMANDS.names()
ODOMETRY_COLUMNS = ODOMETRY.names()  # further columns are ignored
Columns = Mapping[str, str]  # by our name of a column, the file's


def read_run_csv(commands: Path, odometry: Path, columns: Columns | None = None) -> Run:
    """Read the two files of one run; ``columns`` has other names of their columns by ours.

    Raises errors.DataFileFault for what is missing, or if there is no pose before the first
    command; UsageFault for a name that is none of ours.
    """
    known = (*COMMAND_COLUMNS, *ODOMETRY_COLUMNS)
    if strange := [name for name in columns or {} if name not in known]:
        raise UsageFault(f"--columns: {strange[0]} is none of ours", expected=", ".join(known))
    of_commands = _of(columns, COMMAND_COLUMNS)
    of_odometry = _of(columns, ODOMETRY_COLUMNS)
    run = Run(read_commands(commands, of_commands), read_odometry(odometry, of_odometry))
    return require_start_pose(run, odometry)


def read_commands(path: Path, columns: Columns | None = None) -> Commands:
    """Read rows of t_s, channel (throttle or steering), value_norm. Raises errors.DataFileFault."""
    table = read_table(path, COMMANDS, columns)
    is_steering = np.array([name == "steering" for name in table.column("channel")])
    times_s, values = (np.array(table.column(name), float) for name in ("t_s", "value_norm"))
    return Commands(path.name, sha256_of(path), times_s, is_steering, values)


def read_odometry(path: Path, columns: Columns | None = None) -> PoseTrack:
    """Read rows with header_t_s, x_m, y_m, yaw_rad. Raises errors.DataFileFault."""
    table = read_table(path, ODOMETRY, columns)
    times_s, x_m, y_m, yaw_rad = (np.array(table.column(n), float) for n in ODOMETRY_COLUMNS)
    return PoseTrack(path.name, sha256_of(path), times_s, x_m, y_m, np.unwrap(yaw_rad))


def _of(columns: Columns | None, names: tuple[str, ...]) -> Columns:
    return {ours: theirs for ours, theirs in (columns or {}).items() if ours in names}
