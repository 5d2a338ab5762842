"""The one reader of documents: TOML and JSON here, YAML in ``yaml_document``; bounded, and strict.

Beyond what the formats say themselves these are refused: a key that is written twice (the last one
would win), depth and counts beyond any file of ours, halves of surrogate pairs, which cannot be
printed, and JSON's NaN.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from sim_mock.files.keys import Key
from sim_mock.files.reading import joined, read_key
from sim_mock.files.text import KIB, MIB, FileFault, decoded, read_text

# Imported by name, as a type checker may run on a Python that has only one of the two libraries.
_toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

# The largest of ours are 10 kB (a vehicle file) and 60 kB (a backup)
TOML_BYTES, JSON_BYTES = 512 * KIB, 8 * MIB
# Letters, of TOML: a row of a covariance has 200, and tomllib's time grows with the square of a
# dotted key
_LONGEST_LINE = 20_000
DEPTH_MAX = 32
# What a format looks like, for those who meet it the first time
_LOOKS = {
    "TOML": "tables as [name], values as key = value, text in quotes, true or false",
    "YAML": "key: value, what belongs together indented alike",
    "JSON": '{"key": value, ...}, text in double quotes',
}
VALUES_MAX = 200_000
_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.\-]+)\s*\]")
_ASSIGNMENT = re.compile(r"\s*(\"[^\"]+\"|[A-Za-z0-9_.\-]+)\s*=")
_LINE = re.compile(r"line (\d+)")
_COMMA = re.compile(r"[=:]\s*[-+]?\d+,\d+\s*(?:[,}#]|$)")  # wheelbase_m = 0,32


@dataclass(frozen=True)
class Document:
    """A parsed file; ``lines`` has the line of each key by its path, as far as it is known."""

    path: Path
    values: dict[str, Any]
    lines: Mapping[str, int] = field(default_factory=dict)

    def where(self, key: str) -> str:
        """Return ``path:line, key``; for a missing key the line of its table."""
        place = key
        while place and place not in self.lines:
            place = place.rpartition(".")[0]
        line = f":{self.lines[place]}" if place else ""
        return f"{self.path}{line}, {key}"

    def fault(
        self, key: str, what: str, expected: str = "", got: str = "", remedy: str = ""
    ) -> FileFault:
        """Return an error at a key, to be raised (a ``reading.TableSource``)."""
        return FileFault(what, where=self.where(key), expected=expected, got=got, remedy=remedy)


def read_toml(path: Path) -> Document:
    """Read a TOML file. Raises FileFault."""
    text = read_text(path, TOML_BYTES)
    return Document(path, toml_values(path, text), key_lines(text))


def toml_values(path: Path, text: str) -> dict[str, Any]:
    """Return the values of TOML text; ``path`` is named in errors. Raises FileFault."""
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > _LONGEST_LINE:
            raise not_a(path, "TOML", f"a line of {len(line)} letters", number)
    try:
        values: dict[str, Any] = _toml.loads(text)
    except ValueError as error:
        found = _LINE.search(str(error))
        at = int(found[1]) if found else 0
        raise not_a(path, "TOML", _with_hint(str(error), text, at), at) from None
    except RecursionError:
        raise too_deep(path) from None
    refuse_excess(path, values)
    return values


def read_json(path: Path) -> Document:
    """Read a JSON file whose top is an object. Raises FileFault."""
    return Document(path, mapping_of(path, "JSON", json_value(path, read_text(path, JSON_BYTES))))


def json_value(path: Path, text: str, line: int = 0) -> Any:
    """Return the value of JSON text; errors name ``path`` and ``line``. Raises FileFault."""
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except json.JSONDecodeError as error:
        told = _with_hint(error.msg, text, error.lineno)
        raise not_a(path, "JSON", told, line or error.lineno) from None
    except RecursionError:
        raise too_deep(path) from None
    except ValueError as error:
        raise not_a(path, "JSON", str(error), line) from None
    refuse_excess(path, value)
    return value


def read_json_lines(path: Path, begin: bytes, limit: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects on the lines that begin so, with their numbers; others are skipped.

    A last line without its end is left out: it is being written, or a kill cut it. Raises
    FileFault.
    """
    size = 0
    try:
        with path.open("rb") as file:
            if not path.is_file():
                raise FileFault("cannot be read", where=str(path), expected="an ordinary file")
            for number, line in enumerate(file, 1):
                size += len(line)
                if size > limit:
                    raise FileFault("is too large to be read", where=str(path))
                if line.startswith(begin) and line.endswith(b"\n"):
                    value = json_value(path, decoded(path, line), number)
                    yield number, mapping_of(path, "JSON", value, number)
    except OSError as error:
        raise FileFault("cannot be read", where=str(path), got=error.strerror or "") from None


def line_values(
    path: Path, line: int, row: Mapping[str, Any], keys: Iterable[Key]
) -> dict[str, Any]:
    """Return the values of some keys of one line, which may have others too. Raises FileFault."""
    source = _JsonLine(path, line)
    return {key.name: read_key(source, key.name, row, key) for key in keys}


@dataclass(frozen=True)
class _JsonLine:
    """One line of JSON as the source of a table (``reading.TableSource``)."""

    path: Path
    line: int

    def fault(
        self, key: str, what: str, expected: str = "", got: str = "", remedy: str = ""
    ) -> FileFault:
        where = f"{self.path}:{self.line}, {key}"
        return FileFault(what, where=where, expected=expected, got=got, remedy=remedy)


def key_lines(text: str) -> dict[str, int]:
    """Return line numbers of TOML by path (``sources.seat.lease_s``, ``channels.2.kind``).

    TOML parsers do not report them.
    """
    lines: dict[str, int] = {}
    seen: Counter[str] = Counter()
    table = ""
    for at, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = header[2]
            if header[1] == "[[":
                table = f"{header[2]}.{seen[header[2]]}"
                seen[header[2]] += 1
            lines.setdefault(header[2], at)
            lines.setdefault(table, at)
        elif assignment := _ASSIGNMENT.match(line):
            lines.setdefault(joined(table, assignment[1].strip('"')), at)
    return lines


def _with_hint(told: str, text: str, line: int) -> str:
    """Return what a parser told, and first that a decimal comma may be why."""
    bad = text.split("\n")[line - 1] if line else ""
    return f"a decimal comma; numbers have a point: {told}" if _COMMA.search(bad) else told


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return found


def _constant(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


def refuse_excess(path: Path, top: object) -> None:
    """Refuse more values or depth than a file of ours has, and halves of surrogate pairs.

    Aliases of YAML count as often as they are used, so that a few lines cannot stand for billions.
    """
    waiting: list[tuple[object, int]] = [(top, 0)]
    count = 0
    while waiting:
        value, depth = waiting.pop()
        count += 1
        if depth > DEPTH_MAX:
            raise too_deep(path)
        if count > VALUES_MAX:
            raise FileFault(
                "has too many values", where=str(path), expected=f"at most {VALUES_MAX}"
            )
        if isinstance(value, dict):
            waiting += ((it, depth + 1) for pair in value.items() for it in pair)
        elif isinstance(value, list | tuple | set):
            waiting += ((it, depth + 1) for it in value)
        elif isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise FileFault("holds half of a surrogate pair, which is no letter", where=str(path))


def mapping_of(path: Path, kind: str, value: object, line: int = 0) -> dict[str, Any]:
    """Return the value if it is a mapping. Raises FileFault."""
    if isinstance(value, dict):
        return value
    if value is None:
        got = "nothing"
    else:
        got = "a list" if isinstance(value, list) else f"one value, {value}"
    raise not_a(path, kind, got, line, "names with values")


def too_deep(path: Path) -> FileFault:
    """Return the error for a document that is nested too deeply."""
    return FileFault(
        "is nested too deeply", where=str(path), expected=f"at most {DEPTH_MAX} levels"
    )


def not_a(path: Path, kind: str, got: str, line: int = 0, expected: str = "") -> FileFault:
    """Return the error for text that is not of the format ``kind``; line 0 is the whole file."""
    where = f"{path}:{line}" if line else str(path)
    return FileFault(
        f"is not {kind} as it is read here" if expected else f"is not {kind}",
        where=where,
        expected=expected or _LOOKS.get(kind, ""),
        got=got[:200],
        remedy="correct that line" if line else "",
    )
