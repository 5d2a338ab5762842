"""Prints a vehicle file and its base files as one, with the origin of each value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from host_bridge.core import FileValue

_OF_THE_FILE = ("base", "without")  # keys on how files are combined, not on the car
_WIDTH = 44  # of the column left of the origin


def bases(values: Iterable[FileValue], own: str) -> list[str]:
    """Return the other files that it takes values from."""
    return sorted({value.file for value in values if value.file != own and value.line})


def merged_file(values: Sequence[FileValue], with_origin: bool = True) -> Iterator[str]:
    """Yield the lines of one TOML file that needs no base.

    A comment has each value's file and line.
    """
    tables: dict[str, list[FileValue]] = {"": []}  # keys outside any table come first
    for value in values:
        if value.key not in _OF_THE_FILE:
            tables.setdefault(value.key.rpartition(".")[0], []).append(value)
    for table, inside in tables.items():
        if table:
            yield from ("", _header(table))
        for value in inside:
            line = f"{value.key.rpartition('.')[2]} = {json.dumps(value.value, default=str)}"
            yield f"{line:{_WIDTH}} # {_origin(value)}" if with_origin else line


def _header(table: str) -> str:
    name, _, number = table.rpartition(".")
    return f"[[{name}]]" if number.isdigit() else f"[{table}]"


def _origin(value: FileValue) -> str:
    return f"{Path(value.file).name}:{value.line}" if value.line else value.file
