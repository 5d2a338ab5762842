"""Positions of a car as tracked from outside: by cameras over the floor, a tracker, or SLAM.

A file is CSV with the columns t_s, x_m, y_m and perhaps yaw_rad, or lines of JSON as a virtual
car's ``sensors=FILE`` writes them; of those the sensor ``position`` is used. The file has its own
clock: it is shifted so that the speeds of both agree, and finely by the paths
(calibration.regression.counts_per_metre).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from calibration.arrays import Floats
from calibration.logs.trace import DriveTrace, Series, series
from host_bridge.core.errors import DataFileFault
from host_bridge.core.files import TableSchema, begins_with, number, read_samples, read_table

_APART_M = 1e6  # from the origin of whatever tracks it
SCHEMA = TableSchema(
    "table of places",
    (
        number("t_s", -1e10, 1e10),
        number("x_m", -_APART_M, _APART_M),
        number("y_m", -_APART_M, _APART_M),
        number("yaw_rad", -1e4, 1e4, None, "the heading"),
    ),
    rows="places",
    rising="t_s",
    example="t_s,x_m,y_m / 0.0,0.0,0.0",
)
COLUMNS = ("t_s", "x_m", "y_m")
_KEYS = (number("taken_s", 0.0, 1e10), *SCHEMA.columns[1:3])
GRID_S = 0.05  # chosen: a small car's path between two of these is straight
_SMOOTH_S = 0.4  # chosen: longer would round bends off, shorter would leave the noise
_LEAST = 20  # positions of a drive: fewer are no track


def with_tracked_positions(trace: DriveTrace, path: Path) -> DriveTrace:
    """Return the drive with its tracked positions on its clock. Raises errors.DataFileFault."""
    seen = read_tracked_positions(path)
    if not trace.travel.is_present:
        return replace(trace, places=seen)
    own_s = np.arange(trace.travel.t_s[0], trace.travel.t_s[-1], GRID_S)
    return replace(trace, places=shifted(own_s, np.abs(trace.speed_mps(own_s)), seen))


def read_tracked_positions(path: Path) -> Series:
    """Read tracked positions, on the file's own clock. Raises errors.DataFileFault."""
    if begins_with(path, b"{"):
        samples = read_samples(path, "position", _KEYS)
        found = [tuple(row[key.name] for key in _KEYS) for row in samples]
    else:
        table = read_table(path, SCHEMA)
        names = (*COLUMNS, "yaw_rad") if "yaw_rad" in table.names else COLUMNS
        found = [tuple(row.values[name] for name in names) for row in table.rows]
    if len(found) < _LEAST:
        raise _strange(path, f"{len(found)} places")
    return series(found)


def _strange(path: Path, got: str) -> DataFileFault:
    return DataFileFault(
        "these are no places of a car",
        where=str(path),
        expected=f"CSV with the columns {', '.join(COLUMNS)}, or a virtual car's lines of sensors; "
        f"{_LEAST} places or more",
        got=got,
        remedy="a virtual car writes such a file: sim://f1tenth?sensors=FILE",
    )


def shifted(own_s: Floats, own: Floats, seen: Series) -> Series:
    """Return the positions shifted in time to where the two speeds correlate best.

    ``own`` are the car's speeds in m/s at ``own_s``, which are GRID_S apart.
    """
    their_s = np.arange(seen.t_s[0], seen.t_s[-1], GRID_S)
    x_m, y_m = (smooth(np.interp(their_s, seen.t_s, column)) for column in seen.values[:2])
    theirs = np.hypot(np.gradient(x_m, GRID_S), np.gradient(y_m, GRID_S))
    alike = np.correlate(own - own.mean(), theirs - theirs.mean(), "full")
    at = int(np.argmax(alike)) - (len(theirs) - 1)
    shift_s = own_s[0] + at * GRID_S - their_s[0]
    return Series(seen.t_s + shift_s, seen.values)


def smooth(values: Floats) -> Floats:
    """Return values on the grid, averaged over 0.4 s."""
    width = int(_SMOOTH_S / GRID_S)
    padded = np.pad(values, width // 2, mode="edge")
    return np.asarray(
        np.convolve(padded, np.ones(width) / width, "same")[width // 2 : -(width // 2)]
    )
