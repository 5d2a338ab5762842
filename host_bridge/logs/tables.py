"""Conversion of a log to CSV files, for a spreadsheet and to be driven again.

Each kind of row of each car is a file, ``CAR_TOPIC.csv``, with the time since the log's beginning
in its first column. Two more are derived, in the columns that ``tandem replay`` and ``tandem drive
--input csv:`` read: ``CAR_commands.csv`` has the commands to the car's program, as fractions of
the top speed and of full lock, ``CAR_odometry.csv`` the car's dead reckoning.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host_bridge.core import Vehicle
from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bags.times import gaps
from host_bridge.logs.new_file import make_folder, open_new
from host_bridge.logs.reading import Record, read

COMMANDS = ("t_s", "channel", "value_norm")
ODOMETRY = ("t_s", "header_t_s", "x_m", "y_m", "yaw_rad", "yaw_rate_radps")
SAMPLES = Path(__file__).with_name("samples")
_WHAT = "the table"
_ROUNDED = 1e-3  # a report is in whole mm/s and 0.1 mrad: at its limit it may lie as far beyond
_DRIVEN = ("ACTIVE", "HOLD", "STOPPING")
_NAMED = "-_."  # the characters of a car's name that a file name keeps, besides letters and digits

Row = Mapping[str, Any]


@dataclass(frozen=True)
class RunFiles:
    """The files of one car's drive, with which it can be driven again.

    ``notes`` are sentences on times in the log that run back, and on pauses in it.
    """

    car: str
    commands: Path
    odometry: Path
    is_virtual: bool
    # By channel: how many commands lay beyond 1, and the farthest
    clipped: dict[str, tuple[int, float]]
    notes: tuple[str, ...] = ()


def write_tables(log: Path, folder: Path) -> list[Path]:
    """Write a file for each kind of row of each car; return them. Raises errors.DataFileFault."""
    columns: dict[tuple[str, str], dict[str, None]] = {}
    start_us = None
    for record in _rows(log):
        start_us = record.time_us if start_us is None else start_us
        columns.setdefault((record.car, record.topic), {}).update(dict.fromkeys(record.value))
    make_folder(folder)
    _refuse_any(_path(folder, *key) for key in columns)
    with ExitStack() as opened:
        tables = {
            key: opened.enter_context(_TableFile(_path(folder, *key), ("log_t_s", *names)))
            for key, names in sorted(columns.items())
        }
        for r in _rows(log):
            key = r.car, r.topic
            tables[key].write((_seconds(r, start_us), *_cells(r.value, columns[key])))
    return [table.path for table in tables.values()]


def copy_samples(folder: Path) -> list[Path]:
    """Copy the drive that Tandem brings along; return the files. Raises errors.DataFileFault."""
    make_folder(folder)
    return [_copied(path, folder / path.name) for path in sorted(SAMPLES.glob("*.csv"))]


def _copied(source: Path, path: Path) -> Path:
    with source.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return _write(path, header, rows)


def write_run(log: Path, folder: Path, car: str, vehicle: Vehicle) -> RunFiles | None:
    """Write the two files of a car that was driven; None if the log has no drive of it.

    Raises errors.DataFileFault.
    """
    found: dict[str, list[Any]] = {"identity": [], "status": [], "motion": []}
    for record in _rows(log):
        if record.car == car and record.topic in found:
            found[record.topic].append(record)
    notes: list[str] = []
    statuses, motions = (_forward(topic, found[topic], notes) for topic in ("status", "motion"))
    driven = [at for at, r in enumerate(statuses) if r.value.get("state") in _DRIVEN]
    if not driven or not motions:
        return None
    start_us = min(statuses[0].time_us, motions[0].time_us)
    first_us = max(statuses[driven[0]].time_us, motions[0].time_us + 1)
    last_us = statuses[driven[-1]].time_us
    make_folder(folder)
    asked = [
        (_seconds(r, start_us), channel, value)
        for r in statuses
        if first_us <= r.time_us <= last_us
        for channel, value in _commanded(r.value, vehicle)
    ]
    commands = (
        (t_s, channel, f"{min(max(value, -1.0), 1.0):.6f}") for t_s, channel, value in asked
    )
    odometry = (
        (_seconds(r, start_us), _seconds(r, start_us), *_cells(r.value, ODOMETRY[2:]))
        for r in motions
    )
    identity: Row = found["identity"][0].value if found["identity"] else {}
    return RunFiles(
        car,
        _write(_path(folder, car, "commands"), COMMANDS, commands),
        _write(_path(folder, car, "odometry"), ODOMETRY, odometry),
        bool(identity.get("is_virtual")),
        _clipped(asked),
        tuple(notes),
    )


def _clipped(asked: Iterable[tuple[str, str, float]]) -> dict[str, tuple[int, float]]:
    """Return what lay beyond the vehicle's limits: no command of the file can ask for more."""
    beyond: dict[str, list[float]] = {}
    for _, channel, value in asked:
        if abs(value) > 1.0 + _ROUNDED:
            beyond.setdefault(channel, []).append(abs(value))
    return {channel: (len(values), max(values)) for channel, values in beyond.items()}


def _forward(topic: str, records: Sequence[Any], notes: list[str]) -> list[Any]:
    """Return the records whose times do not run back; tell of those that do, and of a pause."""
    kept: list[Any] = []  # records whose values are rows, as of ``_rows``
    late: list[Any] = []
    for record in records:
        is_late = bool(kept) and record.time_us < kept[-1].time_us
        (late if is_late else kept).append(record)
    if late:
        at_s = (late[0].time_us - kept[0].time_us) * 1e-6
        notes.append(
            f"{topic}: the time of {len(late)} records runs back, the first to {at_s:.3f} s; "
            "they are left out"
        )
    begun_us = kept[0].time_us if kept else 0
    notes += gaps(topic, [(it.time_us - begun_us) * 1e-6 for it in kept])
    return kept


def _commanded(status: Row, vehicle: Vehicle) -> Iterator[tuple[str, float]]:
    yield "steering", status.get("steer_rad", 0.0) / vehicle.steer_max_rad
    yield "throttle", status.get("target_mps", 0.0) / vehicle.speed_max_mps


def _rows(log: Path) -> Iterator[Any]:
    return (it for it in read(log) if it.car and not isinstance(it.value, bytes))


def _seconds(record: Record, start_us: int | None) -> str:
    return f"{(record.time_us - (start_us or 0)) * 1e-6:.6f}"


def _cells(row: Row, names: Iterable[str]) -> Iterator[str]:
    return (_cell(row.get(name)) for name in names)


def _cell(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(_cell, value))
    return "" if value is None else str(value)


def _path(folder: Path, car: str, topic: str) -> Path:
    """Return the file's path.

    A car's name is arbitrary text, and must not lead out of the folder.
    """
    name = "".join(letter if letter.isalnum() or letter in _NAMED else "_" for letter in car)
    return folder / f"{name}_{topic}.csv"


def _refuse_any(paths: Iterable[Path]) -> None:
    """Refuse if any file exists, before the first is written: a part of the tables is of no use."""
    for path in paths:
        if path.exists():
            raise DataFileFault.in_the_way(path)


class _TableFile:
    """A new file, open until the end of ``with``; an existing one is never changed."""

    def __init__(self, path: Path, header: Iterable[str]) -> None:
        self.path = path
        self._file = open_new(path, _WHAT, "x", encoding="utf-8", newline="")
        self._rows = csv.writer(self._file, lineterminator="\n")
        self.write(header)

    def write(self, row: Iterable[str]) -> None:
        try:
            self._rows.writerow(row)
        except OSError as error:
            raise self._unwritable(error) from None

    def __enter__(self) -> _TableFile:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._file.close()
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> DataFileFault:
        return DataFileFault.unwritable(_WHAT, self.path, error)


def _write(path: Path, header: Iterable[str], rows: Iterable[Iterable[str]]) -> Path:
    with _TableFile(path, header) as table:
        for row in rows:
            table.write(row)
    return path
