"""The text of a vehicle file: its values, and the line of each key for the people who err."""

from __future__ import annotations

import re
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

from host_bridge.errors import VehicleFileFault

# By name: the type checker looks at the code of one Python, and has the library of another.
_toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.\-]+)\s*\]")
_LINE = re.compile(r"line (\d+)")
_ASSIGNMENT = re.compile(r"\s*(\"[^\"]+\"|[A-Za-z0-9_.\-]+)\s*=")


def key_lines(text: str) -> dict[str, int]:
    """Line numbers by path (``sources.seat.lease_s``, ``channels.2.kind``); parsers give none."""
    lines: dict[str, int] = {}
    seen: Counter[str] = Counter()
    table = ""
    for at, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = header[2]
            if header[1] == "[[":
                table = f"{header[2]}.{seen[header[2]]}"
                seen[header[2]] += 1
            lines.setdefault(table, at)
        elif assignment := _ASSIGNMENT.match(line):
            lines.setdefault(joined(table, assignment[1].strip('"')), at)
    return lines


def joined(*parts: str) -> str:
    """A path out of its parts; an empty one is the top of the file."""
    return ".".join(part for part in parts if part)


class Document:
    """A parsed file and the places of its keys. Raises VehicleFileFault if it is not TOML."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines: dict[str, int] = {}
        try:
            text = path.read_text(encoding="utf-8")
            self.values: dict[str, Any] = _toml.loads(text)
        except ValueError as error:  # of the text's encoding, or of the parser
            raise self._not_toml(str(error)) from error
        self._lines = key_lines(text)

    def _not_toml(self, reason: str) -> VehicleFileFault:
        line = _LINE.search(reason)
        return VehicleFileFault(
            "this is not TOML",
            where=f"{self.path}:{line[1]}" if line else str(self.path),
            expected="tables as [name], values as key = value, text in quotes, true or false",
            got=reason,
            remedy="correct that line",
        )

    def fault(
        self, key: str, what: str, expected: str = "", got: str = "", remedy: str = ""
    ) -> VehicleFileFault:
        """An error at a key, to be raised; the line is the key's or that of the table it misses."""
        return VehicleFileFault(
            what=what, where=self.where(key), expected=expected, got=got, remedy=remedy
        )

    def where(self, key: str) -> str:
        """``path:line, key``, with the line of the nearest table if the key has none."""
        place = key
        while place and place not in self._lines:
            place = place.rpartition(".")[0]
        line = f":{self._lines[place]}" if place else ""
        return f"{self.path}{line}, {key}"
