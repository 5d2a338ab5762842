"""The parsed text of a vehicle file, with the line of each key for error messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host_bridge.core.errors import VehicleFileFault
from host_bridge.core.files import raised_as
from sim_mock.files.documents import TOML_BYTES, key_lines, toml_values
from sim_mock.files.reading import joined
from sim_mock.files.text import read_text


@dataclass(frozen=True)
class SourceLocation:
    """The place where a value is written: its file, and its line or its table's; 0 if unknown."""

    path: Path
    line: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.line else str(self.path)


class VehicleDocument:
    """A parsed file and the places of its keys. Raises VehicleFileFault if it is not TOML."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with raised_as(VehicleFileFault):
            text = read_text(path, TOML_BYTES)
            self.values: dict[str, Any] = toml_values(path, text)
        self._own = {key: SourceLocation(path, line) for key, line in key_lines(text).items()}
        self._places = {key: self._nearest(key) for key in paths_in(self.values)}

    def fault(
        self, key: str, what: str, expected: str = "", got: str = "", remedy: str = ""
    ) -> VehicleFileFault:
        """Return an error at a key, to be raised.

        Its line is the key's, or that of the key's table.
        """
        return VehicleFileFault(
            what=what, where=self.where(key), expected=expected, got=got, remedy=remedy
        )

    def where(self, key: str) -> str:
        """Return ``path:line, key``; for a missing key, the line of its table in this file."""
        return f"{self._places.get(key) or self._nearest(key)}, {key}"

    def _nearest(self, key: str) -> SourceLocation:
        place = key
        while place and place not in self._own:
            place = place.rpartition(".")[0]
        return self._own[place] if place else SourceLocation(self.path)

    def keys(self) -> tuple[str, ...]:
        """Return the paths of all tables and values."""
        return tuple(self._places)

    def leaves(self) -> Iterator[tuple[str, Any, SourceLocation]]:
        """Yield each value with its path and the place where it is written."""
        for key, value in _walked(self.values):
            if not _is_branch(value):
                yield key, value, self._places[key]

    def lay_over(self, base: VehicleDocument) -> None:
        """Take over from a base what is not set here: tables key by key, all else whole."""
        self.values = _merged(base.values, self.values)
        places = {**base._places, **self._places}
        self._places = {key: places[key] for key in paths_in(self.values)}

    def drop(self, key: str) -> bool:
        """Remove a table or a value; return False if there is none."""
        *tables, name = key.split(".")
        table: Any = self.values
        for each in tables:
            table = table.get(each) if isinstance(table, dict) else None
        if not isinstance(table, dict) or name not in table:
            return False
        del table[name]
        return True

    def change(self, key: str, value: object) -> None:
        """Replace a value of the file. Raises VehicleFileFault if its table does not exist."""
        *tables, name = key.split(".")
        table: Any = self.values
        for each in tables:
            table = table.get(each) if isinstance(table, dict) else None
        if not isinstance(table, dict):
            raise self.fault(key, "there is no such table", ", ".join(sorted(self.values)), key)
        table[name] = value
        self._places[key] = SourceLocation(Path("asked for"))


def paths_in(values: Mapping[str, Any]) -> Iterator[str]:
    """Return the paths of all tables and values."""
    return (key for key, _ in _walked(values))


def _walked(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if path:
        yield path, value
    if _is_branch(value):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for name, each in inner:
            yield from _walked(each, joined(path, str(name)))


def _is_branch(value: object) -> bool:
    """Return whether the value is a table or a list of tables."""
    is_list = isinstance(value, list) and value != [] and all(isinstance(x, dict) for x in value)
    return is_list or isinstance(value, dict)


def _merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two tables. A value of ``own`` wins; tables that are in both are merged in turn."""
    both = {
        name: _merged(base[name], value)
        for name, value in own.items()
        if isinstance(value, dict) and isinstance(base.get(name), dict)
    }
    return {**base, **own, **both}
