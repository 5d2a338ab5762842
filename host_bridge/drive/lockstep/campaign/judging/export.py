"""The rows of a campaign as one table: CSV, or Parquet with the unit of each column.

A row is a case; nested figures become dotted columns: ``levels.speed_mps``, ``oracles.no_stop``,
``ran.cpu_s``. The spec is a column of JSON.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.core.system.atomic_file import write_atomically
from host_bridge.drive.lockstep.campaign.spec import canonical

CSV, PARQUET = "rows.csv", "rows.parquet"
_NESTED = ("levels", "sample", "oracles", "ran")
_FIRST = ("case_id", "code", "index", "repetition", "outcome", "why")
_UNITS = {  # by the last part of a column's name
    "m": "m",
    "s": "s",
    "ms": "ms",
    "mps": "m/s",
    "rad": "rad",
    "deg": "deg",
    "kg": "kg",
    "mb": "MB",
}

Row = Mapping[str, Any]
Cell = str | int | float | bool | None


def table_of(rows: Sequence[Row]) -> dict[str, list[Cell]]:
    """Return the columns by name, each with one value for each row, sorted by index."""
    flat = [_flat(row) for row in sorted(rows, key=lambda row: row["index"])]
    names = list(dict.fromkeys([*_FIRST, *(name for row in flat for name in row)]))
    return {name: [row.get(name) for row in flat] for name in names}


def _flat(row: Row) -> dict[str, Cell]:
    found: dict[str, Cell] = {}
    for key, value in row.items():
        if key in _NESTED:
            found |= {f"{key}.{name}": _plain(each) for name, each in value.items()}
        else:
            found[key] = canonical(value) if key == "spec" else _plain(value)
    return found


def _plain(value: Any) -> Cell:
    return value if value is None or isinstance(value, (str, int, float)) else canonical(value)


def unit_of(name: str) -> str:
    """Return the unit in a column's name; "" if it has none."""
    return _UNITS.get(name.rpartition("_")[2], "")


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """Write a table for spreadsheets; an empty cell is a figure that there is none of.

    Raises errors.DataFileFault.
    """
    table = table_of(rows)
    text = io.StringIO(newline="")
    out = csv.writer(text)
    out.writerow(table)
    out.writerows(zip(*table.values(), strict=True))
    try:
        write_atomically(path, text.getvalue())
    except OSError as error:
        raise DataFileFault.unwritable("the table", path, error) from None


def write_parquet(rows: Sequence[Row], path: Path, facts: Mapping[str, str]) -> None:
    """Write a table for programs; ``facts`` go into its metadata, units into its fields'.

    Raises errors.UsageFault without pyarrow, errors.DataFileFault.
    """
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise UsageFault(
            "Parquet needs pyarrow, which is not installed here",
            remedy="pip install 'tandem-cars[campaign]', or --csv",
        ) from None
    table = table_of(rows)
    arrays = [arrow.array(_one_type(column)) for column in table.values()]
    fields = [
        arrow.field(name, array.type, metadata={"unit": unit_of(name)} if unit_of(name) else None)
        for name, array in zip(table, arrays, strict=True)
    ]
    made = arrow.Table.from_arrays(arrays, schema=arrow.schema(fields, metadata=dict(facts)))
    written = io.BytesIO()
    parquet.write_table(made, written)
    try:
        write_atomically(path, written.getvalue())
    except OSError as error:
        raise DataFileFault.unwritable("the table", path, error) from None


def _one_type(column: Sequence[Cell]) -> Sequence[Cell]:
    """Return a column of one type: whole numbers among others are floats, a mixture is text."""
    kinds = {type(value) for value in column if value is not None}
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in column]
    if len(kinds) > 1:
        return [None if value is None else str(value) for value in column]
    return column
