"""The schema of one kind of table, and the table that was read by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from sim_mock.files.keys import REQUIRED, Key
from sim_mock.files.text import FileFault


@dataclass(frozen=True)
class TableSchema:
    """The columns of one kind of table, and its words.

    A column with a default may be missing, and its cells may be empty if ``has_gaps``: such a cell
    is None, and so is one with nan. ``rows`` is what a row is called. The values of ``rising``
    never fall. The column ``first`` is the first one, whatever the file calls it, and its names
    are in no comment. Lines that begin with one of ``remarks`` are comments. ``example`` is shown
    with each error.
    """

    title: str
    columns: tuple[Key, ...]
    rows: str = "rows"
    rising: str = ""
    has_gaps: bool = False
    example: str = ""
    first: str = ""
    remarks: tuple[str, ...] = ("#",)

    def names(self) -> tuple[str, ...]:
        """Return the names of all columns."""
        return tuple(key.name for key in self.columns)

    def required(self) -> tuple[str, ...]:
        """Return the names of the columns that have to be there."""
        return tuple(key.name for key in self.columns if key.default is REQUIRED)


class TableRow(NamedTuple):
    """One row: its line in the file, and its values by the names of the schema."""

    line: int
    values: dict[str, Any]


@dataclass
class Table:
    """A table that was read. ``names`` are the columns of the schema that it has, ``others`` the
    names of its further ones, ``comments`` the texts of its comments, ``gaps`` the number of
    missing values by column, ``header_line`` the line of the names, ``heading`` the first of these
    as it stands there."""

    path: Path
    schema: TableSchema
    names: tuple[str, ...]
    others: tuple[str, ...]
    header_line: int = 1
    rows: list[TableRow] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    gaps: dict[str, int] = field(default_factory=dict)
    heading: str = ""

    def column(self, name: str) -> list[Any]:
        """Return the values of one column, row by row."""
        return [row.values[name] for row in self.rows]

    def fault(
        self, line: int, what: str, expected: str = "", got: str = "", remedy: str = ""
    ) -> FileFault:
        """Return an error of a line of this table, to be raised; line 0 is the whole file."""
        return table_fault(self.path, self.schema, line, what, expected, got, remedy)


def parse_columns(text: str) -> dict[str, str]:
    """Return the columns of ``OURS=THEIRS,OURS=THEIRS``: by our name, the name in the file.

    Raises ValueError.
    """
    found: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        ours, has_both, theirs = (it.strip() for it in part.partition("="))
        if not (ours and has_both and theirs) or ours in found:
            raise ValueError(f"{part!r}: expected OURS=THEIRS, as t_s=time, each of ours once")
        found[ours] = theirs
    return found


def format_columns(columns: Mapping[str, str]) -> str:
    """Return the text of which ``parse_columns`` makes these."""
    return ",".join(f"{ours}={theirs}" for ours, theirs in columns.items())


def table_fault(
    path: Path, schema: TableSchema, line: int, what: str, expected: str, got: str, remedy: str
) -> FileFault:
    """Return an error of a line of a table, to be raised; line 0 is the whole file."""
    where = f"{path}:{line}" if line else str(path)
    like = f"a file like: {schema.example}" if schema.example else ""
    remedy = "; ".join(filter(None, (remedy, like)))
    return FileFault(what, where=where, expected=expected, got=got[:300], remedy=remedy)
