"""The one reader of tables: CSV, TSV and their kin, by a schema of named columns.

A table is rows of text cells below a row of names. Separators are commas, semicolons, tabs or
spaces; cells may be in quotes; lines that begin with ``#`` are comments, one of which may have the
names. Decimal commas are read where the separator is not a comma. What is not as the schema says
is refused with its line, and nothing is replaced or left out. A table that is too large to be kept
is read row by row.
"""

from __future__ import annotations

import csv
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from sim_mock.files.keys import Key, stem_of, unit_of
from sim_mock.files.numbers import has_decimal_comma, parse_number
from sim_mock.files.table_cells import CellReader
from sim_mock.files.table_schema import Table, TableRow, TableSchema, table_fault
from sim_mock.files.text import MIB, FileFault, lines_of, read_lines, read_text

# An hour of status of one car, 100 a second, is 90 MB; a table of ten hours is read in parts
BYTES_MAX = 256 * MIB
ROWS_MAX = 2_000_000
# A minute of a logic analyser, a line for each of a million samples a second, is just over that
STREAM_BYTES_MAX = 1024 * MIB
COLUMNS_MAX = 256
_SEPARATORS = ((";", "semicolons"), ("\t", "tabs"), (",", "commas"), (" ", "spaces"))
_MARK = "sep="  # Excel's first line, which names the separator
_UNNAMED = "one without a name"  # as pandas writes its index
_SHOWN = 80  # letters of a line in an error
_LINE_MAX = 100_000  # letters; 256 columns of numbers are 10,000


def read_table(path: Path, schema: TableSchema, columns: Mapping[str, str] | None = None) -> Table:
    """Read a table. ``columns`` says by which other names a file has the schema's columns.

    Raises FileFault, with the line, for what is none of this kind.
    """
    reader = _Reader(path, schema, dict(columns or {}))
    lines = lines_of(read_text(path, BYTES_MAX))
    table = reader.begin(lines)
    for row in reader.rows(table, lines):
        if len(table.rows) >= ROWS_MAX:
            raise table.fault(row.line, "too many rows", f"at most {ROWS_MAX}", "more")
        table.rows.append(row)
    return table


def stream_table(
    path: Path,
    schema: TableSchema,
    columns: Mapping[str, str] | None = None,
    told: Callable[[int, int], None] | None = None,
) -> tuple[Table, Iterator[TableRow]]:
    """Return a table without its rows, and these one by one, as ``read_table`` would have them.

    ``told`` is called with the bytes that were read, and those of the file. Raises FileFault, the
    iterator too.
    """
    reader = _Reader(path, schema, dict(columns or {}))
    lines = read_lines(path, STREAM_BYTES_MAX, told)
    table = reader.begin(lines)
    return table, reader.rows(table, lines)


def read_rows(path: Path, limit: int = MIB) -> list[tuple[int, list[str]]]:
    """Return the lines of a table without names, each with its number and its cells.

    The separator is the one that parts the first line into most cells. Decimal commas become points
    where the separator is not a comma. Raises FileFault.
    """
    separator, found = "", []
    for line, text in lines_of(read_text(path, limit)):
        bare = text.strip()
        if _is_blank(bare) or bare.startswith("#"):
            continue
        if not separator:
            separator = max(_SEPARATORS, key=lambda it: len(_cells(bare, it[0]) or ()))[0]
        cells = _cells(bare, separator)
        if cells is None:
            raise FileFault("a quote is opened and not closed", where=f"{path}:{line}")
        if separator != ",":
            cells = [cell.replace(",", ".") if has_decimal_comma(cell) else cell for cell in cells]
        found.append((line, cells))
    return found


class _Reader:
    """The state of reading one table: first its names are looked for, then rows are read."""

    def __init__(self, path: Path, schema: TableSchema, columns: dict[str, str]) -> None:
        self._path, self._schema = path, schema
        strange = [ours for ours in columns if ours not in schema.names()]
        if strange:
            raise self._fault(
                0, f"{strange[0]} is no column of a {schema.title}", ", ".join(schema.names())
            )
        self._theirs = columns
        self._ours = {theirs: ours for ours, theirs in columns.items()}
        self._separator = ""  # "" until it is known
        self._has_separator_line = False  # by Excel's sep=
        self._table: Table | None = None
        self._width = 0
        self._keys: list[Key | None] = []  # by place; None: a column that is not of the schema
        self._comments: list[str] = []
        self._cell_reader = CellReader(path, schema)
        self._has_rows = False
        self._last: Any = None

    def begin(self, lines: Iterator[tuple[int, str]]) -> Table:
        """Take lines up to the names of the columns; return the table, without its rows.

        Raises FileFault.
        """
        for line, bare in self._stripped(lines):
            if line == 1 and bare.lower().startswith(_MARK) and len(bare) == len(_MARK) + 1:
                self._separator, self._has_separator_line = bare[-1], True
            elif bare.startswith(self._schema.remarks):
                self._take_comment(line, bare.lstrip("#;").strip())
            elif not _is_blank(bare):
                self._take_names(line, bare)
            if self._table is not None:
                return self._table
        raise self._no_names(1, "")

    def rows(self, table: Table, lines: Iterator[tuple[int, str]]) -> Iterator[TableRow]:
        """Yield the rows of the lines that follow the names. Raises FileFault, also without any."""
        for line, bare in self._stripped(lines):
            if bare.startswith(self._schema.remarks):
                self._comments.append(bare.lstrip("#;").strip())
            elif not _is_blank(bare):
                yield self._row(line, bare)
                self._has_rows = True
        if not self._has_rows:
            what = f"no {self._schema.rows} in it"
            raise self._fault(table.header_line, what, "at least one row", "none")

    def _stripped(self, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        for line, text in lines:
            if len(text) > _LINE_MAX:
                raise self._fault(line, "a line is too long", f"at most {_LINE_MAX} letters")
            yield line, text.strip()

    def _take_comment(self, line: int, text: str) -> None:
        self._comments.append(text)
        if self._schema.first:
            return
        separator, names = self._best_names(text)
        if set(self._schema.required()) <= set(self._our_names(names)):
            self._begin(line, separator, names)

    def _take_names(self, line: int, text: str) -> None:
        separator, names = self._best_names(text)
        if "\0" in text or _are_numbers(text) or not (self._likeness(names) or self._ours):
            raise self._no_names(line, text)
        self._refuse_absent(line, names)
        ours = self._our_names(names)
        missing = [name for name in self._schema.required() if name not in ours]
        if missing:
            raise self._missing(line, missing[0], names)
        self._begin(line, separator, names)

    def _best_names(self, text: str) -> tuple[str, list[str]]:
        """Return the separator by which the line has the most names of columns, and its cells."""
        tried = [self._separator] if self._has_separator_line else [sign for sign, _ in _SEPARATORS]
        best: tuple[int, str, list[str]] = (-1, tried[0], [text])
        for sign in tried:
            names = _cells(text, sign)
            if names is not None:
                while names and not names[-1]:
                    names.pop()  # empty columns at a spreadsheet's right side
                likeness = self._likeness(names)
                if likeness > best[0]:
                    best = (likeness, sign, names)
        return best[1], best[2]

    def _likeness(self, names: Sequence[str]) -> int:
        """Return how much these are the schema's names; of another unit or case they count less."""
        wanted = [name for name in self._schema.names() if name != self._schema.first]
        ours = set(map(self._our_name, names))
        stems = {stem_of(name.lower()) for name in ours if name}
        return 2 * len(ours & set(wanted)) + len(stems & set(map(stem_of, wanted)))

    def _our_name(self, name: str) -> str:
        if name in self._ours:
            return self._ours[name]
        return "" if name in self._theirs else name  # ours, but another column is meant

    def _our_names(self, names: Sequence[str]) -> list[str]:
        ours = [self._our_name(name) for name in names]
        return [self._schema.first, *ours[1:]] if self._schema.first else ours

    def _begin(self, line: int, separator: str, names: list[str]) -> None:
        if len(names) > COLUMNS_MAX:
            raise self._fault(line, "too many columns", f"at most {COLUMNS_MAX}", str(len(names)))
        twice = [name for at, name in enumerate(names) if name in names[:at]]
        if twice:
            raise self._fault(line, f"the column {twice[0]!r} is there twice", "each once")
        self._refuse_near(line, names)
        by_name = {key.name: key for key in self._schema.columns}
        self._keys = [by_name.get(name) for name in self._our_names(names)]
        self._refuse_absent(line, names)
        self._use(separator)
        self._width = len(names)
        self._table = Table(
            self._path,
            self._schema,
            tuple(key.name for key in self._keys if key),
            tuple(name or _UNNAMED for name, key in zip(names, self._keys, strict=True) if not key),
            line,
            comments=self._comments,
            gaps=self._cell_reader.gaps,
            heading=names[0],
        )

    def _refuse_absent(self, line: int, names: Sequence[str]) -> None:
        """Refuse a column that was named, and that is not there."""
        absent = [theirs for theirs in self._ours if theirs not in names]
        if absent:
            known = ", ".join(names)
            raise self._fault(line, f"there is no column {absent[0]!r}", f"of {known}", absent[0])

    def _refuse_near(self, line: int, names: Sequence[str]) -> None:
        """Refuse a column that is one of ours but for its unit or its case: it would not be read.

        A column that has to be there was looked for before.
        """
        ours, known = self._our_names(names), self._schema.names()
        for name in known:
            near = [it for it in _alike(name, names) if it not in (*known, *self._ours)]
            if name not in ours and near:
                what = f"the column {near[0]} would not be read"
                raise self._fault(line, what, name, near[0], _other_name(name, near[0]))

    def _use(self, separator: str) -> None:
        self._separator = separator
        self._cell_reader.is_between_commas = separator == ","

    def _row(self, line: int, text: str) -> TableRow:
        cells = self._split(line, text)
        values: dict[str, Any] = dict.fromkeys(self._schema.names())
        for key, cell in zip(self._keys, cells, strict=False):
            if key:
                values[key.name] = self._cell_reader.value(line, key, cell)
        self._refuse_fall(line, values)
        return TableRow(line, values)

    def _split(self, line: int, text: str) -> list[str]:
        cells = _cells(text, self._separator)
        if not self._has_rows and not self._fits(cells) and not self._has_separator_line:
            self._use(self._other_separator(text) or self._separator)
            cells = _cells(text, self._separator)
        if cells is None:
            raise self._fault(
                line, "a quote is opened and not closed", "cells in quotes or without", text
            )
        if not self._fits(cells):
            raise self._wrong_count(line, text, cells)
        return cells

    def _other_separator(self, text: str) -> str:
        """Return the separator of rows whose names, in a comment, had another one."""
        return next((sign for sign, _ in _SEPARATORS if self._fits(_cells(text, sign))), "")

    def _fits(self, cells: Sequence[str] | None) -> bool:
        return cells is not None and len(cells) >= self._width and not any(cells[self._width :])

    def _refuse_fall(self, line: int, values: Mapping[str, Any]) -> None:
        name = self._schema.rising
        value = values.get(name) if name else None
        if value is None:
            return
        if self._last is not None and value < self._last:
            what = f"{name} is out of range: time runs backward"
            raise self._fault(line, what, f"{self._last:g} or later", f"{value:g}")
        self._last = value

    def _wrong_count(self, line: int, text: str, cells: Sequence[str]) -> FileFault:
        what, remedy = "wrong number of values", ""
        is_doubled = self._separator == "," and len(cells) > self._width
        if is_doubled and any(has_decimal_comma(f"{a},{b}") for a, b in pairwise(cells)):
            what = "wrong number of values: are these decimal commas, between commas?"
            remedy = "save it with semicolons between the values, or with decimal points"
        return self._fault(line, what, str(self._width), f"{len(cells)}", remedy)

    def _no_names(self, line: int, text: str) -> FileFault:
        what = f"is no {self._schema.title}: no names of its columns"
        if "\0" in text:
            what = f"is no {self._schema.title}: it holds zero bytes and is not text"
        remedy = ""
        if _are_numbers(text):
            remedy = "write their names above the numbers, as a line of its own"
        elif text.strip():
            remedy = f"--columns {self._schema.required()[0]}=NAME says which one it is"
        return self._fault(line, what, ",".join(self._schema.names()), repr(text[:_SHOWN]), remedy)

    def _missing(self, line: int, name: str, names: Sequence[str]) -> FileFault:
        what = f"is no {self._schema.title}: the column {name} is missing"
        near = _alike(name, names) or difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        remedy = f"--columns {name}=NAME says which one it is"
        if near:
            remedy = _other_name(name, near[0])
        return self._fault(line, what, ",".join(self._schema.required()), ",".join(names), remedy)

    def _fault(
        self, line: int, what: str, expected: str = "", got: str = "", remedy: str = ""
    ) -> FileFault:
        return table_fault(self._path, self._schema, line, what, expected, got, remedy)


def _alike(name: str, names: Iterable[str]) -> list[str]:
    """Return the names that are this one but for its unit or its case."""
    return [it for it in names if stem_of(it.lower()) == stem_of(name) and it != name]


def _other_name(name: str, theirs: str) -> str:
    """Return what to do about a column of ours that is called otherwise."""
    lower = theirs.lower()
    if stem_of(lower) == stem_of(name) and lower not in (name, stem_of(lower)):
        return f"{theirs} is in another unit: {name} is in {unit_of(name)}"
    return f"is it {theirs}? --columns {name}={theirs}"


def _is_blank(text: str) -> bool:
    """Return whether a row is empty, as spreadsheets leave them below a table."""
    return not text.strip(';,\t "')


def _are_numbers(text: str) -> bool:
    """Return whether a line has numbers only, and so no names."""
    words = text.replace('"', " ").replace(";", " ").replace("\t", " ").replace(",", " ").split()
    return bool(words) and all(_is_number(word) for word in words)


def _is_number(text: str) -> bool:
    try:
        parse_number(text)
    except ValueError:
        return False
    return True


def _cells(text: str, separator: str) -> list[str] | None:
    """Return the cells of a line; None where a quote is not closed or stands within a cell."""
    if separator == " ":
        text = text.replace("\t", " ")
    try:
        rows: Iterator[list[str]] = csv.reader(
            [text], delimiter=separator, skipinitialspace=True, strict=True
        )
        cells: Iterable[str] = next(rows, [])
    except csv.Error:
        return None
    return [cell.strip() for cell in cells]
