"""A vehicle file and its bases as one file, and where each of its values is from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from host_bridge.domain import FileValue

_OF_THE_FILE = ("base", "without")  # how it was put together, and nothing of the car
_WIDTH = 44  # to the left of where a value is from


def bases(values: Iterable[FileValue], own: str) -> list[str]:
    """The other files that it takes values from."""
    return sorted({value.file for value in values if value.file != own and value.line})


def merged(values: Sequence[FileValue], with_origin: bool = True) -> Iterator[str]:
    """The lines of one TOML file that needs no base; a comment says file and line of each value."""
    tables: dict[str, list[FileValue]] = {"": []}  # what is in none comes first
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
