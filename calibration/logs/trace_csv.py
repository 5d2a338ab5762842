"""A CSV file of any origin as a trace: columns by name, all optional but the time."""

from __future__ import annotations

import csv
from math import isfinite
from pathlib import Path

import numpy as np

from calibration.logs.trace import Series, Trace, series
from host_bridge.core import Vehicle
from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bags import sha256_of

TIME = "t_s"
# column -> its meaning; a row may leave any of them empty
COLUMNS = {
    "steer_rad": "steering that was commanded, left positive",
    "target_mps": "speed that was commanded",
    "effort": "what the drive is given, 1 is all it has",
    "counts": "of the wheel sensors, or",
    "travel_m": "metres that the wheels rolled, or",
    "speed_mps": "their speed",
    "yaw_rate_radps": "of a gyro, left positive",
    "accel_x_mps2": "forward",
    "accel_y_mps2": "to the left",
    "x_m": "where cameras or SLAM saw it",
    "y_m": "",
    "battery_v": "",
}


def read_trace_csv(path: Path, vehicle: Vehicle) -> Trace:
    """Read such a table. Raises errors.DataFileFault for what is none."""
    rows, strange = _rows(path)
    columns = {name: _column(rows, name) for name in COLUMNS}
    per_m = 1e9 / vehicle.parameters["nm_per_count"][0]
    target = columns["target_mps"]
    if target.is_present:
        moving = np.where(target.values != 0.0, target.values, np.nan)
        target = Series(target.t_s, moving)
    return Trace(
        path.name,
        sha256_of(path),
        "CSV",
        vehicle.name,
        steering=columns["steer_rad"],
        target=target,
        effort=columns["effort"],
        travel=_travel(columns, per_m),
        inertial=_joined(rows, ("yaw_rate_radps", "accel_x_mps2", "accel_y_mps2")),
        places=_joined(rows, ("x_m", "y_m")),
        battery=columns["battery_v"],
        counts_per_m=per_m,
        notes=(f"of no meaning here: {', '.join(strange)}",) if strange else (),
    )


def _rows(path: Path) -> tuple[list[dict[str, float]], list[str]]:
    """Read the known columns; return also the names of the unknown ones."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataFileFault.unreadable(path, error) from None
    except UnicodeDecodeError:
        raise _strange(path, 0, "binary data") from None
    table = csv.DictReader(text.splitlines())
    names = [name for name in table.fieldnames or () if name in COLUMNS]
    if TIME not in (table.fieldnames or ()) or not names:
        raise _strange(path, 1, text.partition("\n")[0])
    found = []
    for line, row in enumerate(table, 2):
        try:
            numbers = {name: float(row[name]) for name in (TIME, *names) if row[name]}
        except ValueError as error:
            raise _strange(path, line, str(error)) from None
        if TIME in numbers and all(map(isfinite, numbers.values())):
            found.append(numbers)
    if len(found) < 2:
        raise _strange(path, 1, f"{len(found)} rows of numbers")
    return found, [name for name in table.fieldnames or () if name not in (TIME, *COLUMNS)]


def _strange(path: Path, line: int, got: str) -> DataFileFault:
    return DataFileFault(
        "this is no table of a drive",
        where=f"{path}:{line}" if line else str(path),
        expected=f"a column {TIME} and some of {', '.join(COLUMNS)}",
        got=got,
        remedy="a folder that tandem log FILE --csv FOLDER wrote is read as it is",
    )


def _column(rows: list[dict[str, float]], name: str) -> Series:
    return series([(row[TIME], row[name]) for row in rows if name in row])


def _joined(rows: list[dict[str, float]], names: tuple[str, ...]) -> Series:
    """Return several columns as one series; missing values are 0, except in the first column."""
    there = [row for row in rows if names[0] in row]
    return series([(row[TIME], *(row.get(name, 0.0) for name in names)) for row in there])


def _travel(columns: dict[str, Series], per_m: float) -> Series:
    if columns["counts"].is_present:
        counts = columns["counts"]
        return Series(counts.t_s, counts.values / per_m)
    if columns["travel_m"].is_present:
        return columns["travel_m"]
    speed = columns["speed_mps"]
    if not speed.is_present:
        return Series()
    steps = np.diff(speed.t_s, prepend=speed.t_s[0])
    return Series(speed.t_s, np.cumsum(steps * speed.values[0])[None, :])
