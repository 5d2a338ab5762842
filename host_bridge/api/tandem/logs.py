"""Reads a log as arrays: one table for each kind of row of each car."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from host_bridge.logs import reading

Table = Mapping[str, "NDArray[Any]"]


class Log(Mapping[str, Mapping[str, Table]]):
    """A log's tables by car, kind of row and column: ``log["nigel"]["motion"]["x_m"]``.

    Each table has the column ``log_t_s``, the time of each row since the log's first. Numbers are
    float64 (NaN where a row has none), everything else is of dtype object. ``facts`` are the log's
    metadata by name, ``notes`` its remarks.
    """

    def __init__(
        self,
        tables: Mapping[str, Mapping[str, Table]],
        facts: Mapping[str, Mapping[str, str]],
        notes: tuple[str, ...],
    ) -> None:
        self._tables = tables
        self.facts = facts
        self.notes = notes

    def __getitem__(self, car: str) -> Mapping[str, Table]:
        return self._tables[car]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        cars = (
            f"{car} ({', '.join(f'{topic} {_rows(table)}' for topic, table in topics.items())})"
            for car, topics in self._tables.items()
        )
        return f"<tandem.Log of {'; '.join(cars) or 'no car'}; rows of each in brackets>"


def read_log(path: str | PathLike[str]) -> Log:
    """Read a log that ``tandem record`` or ``--record`` wrote.

    Raises TandemError for any other file.
    """
    rows: dict[str, dict[str, list[tuple[int, Mapping[str, Any]]]]] = {}
    notes: list[str] = []
    first_us: int | None = None
    for record in reading.read(Path(path)):
        first_us = record.time_us if first_us is None else first_us
        if isinstance(record.value, bytes):
            continue
        if not record.car:
            notes.append(str(record.value.get("text", "")))
            continue
        rows.setdefault(record.car, {}).setdefault(record.topic, []).append(
            (record.time_us - first_us, record.value)
        )
    tables = {
        car: {topic: _table(found) for topic, found in topics.items()}
        for car, topics in rows.items()
    }
    return Log(tables, reading.facts(Path(path)), tuple(notes))


def _rows(table: Table) -> int:
    return len(table["log_t_s"])


def _table(rows: list[tuple[int, Mapping[str, Any]]]) -> Table:
    names = dict.fromkeys(name for _, row in rows for name in row)
    columns: dict[str, NDArray[Any]] = {"log_t_s": np.array([us * 1e-6 for us, _ in rows])}
    for name in names:
        columns[name] = _column([row.get(name) for _, row in rows])
    return columns


def _column(values: list[Any]) -> NDArray[Any]:
    if all(value is None or isinstance(value, int | float) for value in values):
        return np.array([np.nan if value is None else float(value) for value in values])
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
