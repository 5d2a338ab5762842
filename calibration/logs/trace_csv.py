"""A CSV file of any origin as a trace: columns by name, all optional but the time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from calibration.logs.trace import DriveTrace, Series, series
from host_bridge.config import vehicle_word
from host_bridge.core import Vehicle
from host_bridge.core.files import Key, Table, TableSchema, number, raised_as, read_table
from host_bridge.logs.bags.bag import sha256_of

TIME = "t_s"


def _any(name: str, most: float, meaning: str = "", least: float | None = None) -> Key:
    return number(name, -most if least is None else least, most, None, meaning)


SCHEMA = TableSchema(
    "table of a drive",
    (
        number(TIME, -1e10, 1e10),
        _any("steer_rad", 1.6, "steering that was commanded, left positive"),
        _any("target_mps", 60.0, "speed that was commanded"),
        _any("effort", 1.0, "what the drive is given, 1 is all it has"),
        _any("counts", 1e12, "of the wheel sensors, or"),
        _any("travel_m", 1e6, "metres that the wheels rolled, or"),
        _any("speed_mps", 60.0, "their speed"),
        _any("yaw_rate_radps", 50.0, "of a gyro, left positive"),
        _any("accel_x_mps2", 500.0, "forward"),
        _any("accel_y_mps2", 500.0, "to the left"),
        _any("x_m", 1e6, "where cameras or SLAM saw it"),
        _any("y_m", 1e6),
        _any("yaw_rad", 1e4, "its heading, as they saw it"),
        _any("battery_v", 100.0, least=0.0),
    ),
    rising=TIME,
    has_gaps=True,
    example="a folder that tandem log FILE --csv FOLDER wrote is read as it is",
)
# column -> its meaning; a row may leave any of them empty
COLUMNS = {key.name: key.meaning for key in SCHEMA.columns if key.name != TIME}


def read_trace_csv(
    path: Path, vehicle: Vehicle, other_names: Mapping[str, str] | None = None
) -> DriveTrace:
    """Read such a table; ``other_names`` has the file's names of columns by ours.

    Raises errors.DataFileFault for what is none.
    """
    table = _read(path, other_names)
    columns = {name: _column(table, name) for name in COLUMNS}
    per_m = 1e9 / vehicle.parameters["nm_per_count"][0]
    target = columns["target_mps"]
    if target.is_present:
        moving = np.where(target.values != 0.0, target.values, np.nan)
        target = Series(target.t_s, moving)
    return DriveTrace(
        path.name,
        sha256_of(path),
        "CSV",
        vehicle_word(vehicle),
        steering=columns["steer_rad"],
        target=target,
        effort=columns["effort"],
        travel=_travel(columns, per_m),
        inertial=_joined(table, ("yaw_rate_radps", "accel_x_mps2", "accel_y_mps2")),
        places=_places(table),
        battery=columns["battery_v"],
        counts_per_m=per_m,
        notes=_notes(table),
    )


def _read(path: Path, other_names: Mapping[str, str] | None) -> Table:
    table = read_table(path, SCHEMA, other_names)
    with raised_as():
        if len(table.names) < 2:
            some = f"a column {TIME} and some of {', '.join(COLUMNS)}"
            raise table.fault(table.header_line, "this is no table of a drive", some, TIME)
        if len(table.rows) < 2:
            raise table.fault(table.header_line, "too few rows", "two at least", "one")
    return table


def _notes(table: Table) -> tuple[str, ...]:
    """Say what is in the table and is not used."""
    times_s = table.column(TIME)
    repeated = len(times_s) - len(set(times_s))
    notes = (
        f"of no meaning here: {', '.join(table.others)}" if table.others else "",
        f"{repeated} rows have the time of another row, the first of which counts"
        if repeated
        else "",
        *(f"{name} is empty in {n} of {len(times_s)} rows" for name, n in table.gaps.items()),
    )
    return tuple(filter(None, notes))


def _column(table: Table, name: str) -> Series:
    rows = (row.values for row in table.rows)
    return series([(row[TIME], row[name]) for row in rows if row[name] is not None])


def _joined(table: Table, names: tuple[str, ...]) -> Series:
    """Return several columns as one series: the rows that have all of those that are there.

    A column that is missing is 0, but for the first one, without which there is no series.
    """
    there = [name for name in names if name in table.names]
    if names[0] not in there:
        return Series()
    rows = (row.values for row in table.rows)
    whole = (row for row in rows if all(row[name] is not None for name in there))
    return series([(row[TIME], *(row[name] or 0.0 for name in names)) for row in whole])


def _places(table: Table) -> Series:
    """Return the places, with the headings where there is a column of them."""
    names = ("x_m", "y_m", "yaw_rad") if "yaw_rad" in table.names else ("x_m", "y_m")
    return _joined(table, names) if "y_m" in table.names else Series()


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
