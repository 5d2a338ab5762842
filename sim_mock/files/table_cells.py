"""Parsing of a table's cells by the keys of its schema: type, range, decimal commas, gaps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sim_mock.files.keys import REQUIRED, Key, slip_of
from sim_mock.files.numbers import has_decimal_comma, is_not_finite, parse_number, parse_whole
from sim_mock.files.table_schema import TableSchema, table_fault
from sim_mock.files.text import FileFault

CELL_MAX = 1_000  # letters; a cell of ours has 20, a note of somebody else's some hundred
_SHOWN = 80  # letters of a cell in an error
_THOUSANDS = 3  # digits after the comma of 1,000


class CellReader:
    """The parser of one table's cells; it remembers whether its numbers have commas or points.

    ``gaps`` counts the missing values by column. ``is_between_commas`` is set once the separator
    is known.
    """

    def __init__(self, path: Path, schema: TableSchema) -> None:
        self._path, self._schema = path, schema
        self.gaps: dict[str, int] = {}
        self.is_between_commas = False
        self._comma_line = self._point_line = 0  # of the first number that is written so

    def value(self, line: int, key: Key, cell: str) -> Any:
        if len(cell) > CELL_MAX:
            raise self._fault(line, f"{key.name} is too long", f"at most {CELL_MAX} letters")
        if self._schema.has_gaps and key.default is not REQUIRED and _is_gap(cell):
            self.gaps[key.name] = self.gaps.get(key.name, 0) + 1
            return None
        if key.kind in ("number", "integer"):
            return self._number(line, key, cell)
        if key.kind == "flag":
            return self._flag(line, key, cell)
        if key.kind == "numbers":
            number_key = Key(key.name, "number", key.low, key.high)
            return [self._number(line, number_key, part) for part in cell.split()]
        if key.kind == "choice" and cell not in key.choices:
            what = f"unknown {key.name}"
            raise self._fault(line, what, " or ".join(key.choices), cell)
        return cell

    def _flag(self, line: int, key: Key, cell: str) -> bool:
        if cell.lower() in ("true", "1"):
            return True
        if cell.lower() in ("false", "0"):
            return False
        raise self._fault(line, f"{key.name} is neither true nor false", "True or False", cell)

    def _number(self, line: int, key: Key, cell: str) -> float | int:
        if is_not_finite(cell):
            what = f"{key.name} is out of range: not a finite number"
            raise self._fault(line, what, key.expected, cell)
        parse = parse_whole if key.kind == "integer" else parse_number
        text = self._with_point(line, key, cell)
        try:
            value = parse(text)
        except ValueError:
            what = f"{key.name} is not a number"
            raise self._fault(line, what, key.expected, repr(cell[:_SHOWN])) from None
        if not key.low <= value <= key.high:
            what = f"{key.name} is out of range"
            raise self._fault(line, what, key.expected, cell, slip_of(key, value))
        return value

    def _with_point(self, line: int, key: Key, cell: str) -> str:
        """Return the number's text with a decimal point; refuse a comma of thousands perhaps.

        Raises FileFault for that, and for a table that has decimal commas as well as points.
        """
        if has_decimal_comma(cell):
            self._comma_line = self._comma_line or line
            is_of_three = len(cell.strip().partition(",")[2]) == _THOUSANDS
            if is_of_three and self.is_between_commas:
                raise self._fault(
                    line,
                    f"{key.name} has a comma that may be of decimals or of thousands",
                    "a decimal point",
                    cell,
                )
            cell = cell.replace(",", ".")
        elif "." in cell:
            self._point_line = self._point_line or line
        if self._comma_line and self._point_line:
            raise self._fault(
                line,
                "decimal commas and decimal points are mixed",
                "one of them in all rows",
                f"a comma in line {self._comma_line}, a point in line {self._point_line}",
            )
        return cell

    def _fault(
        self, line: int, what: str, expected: str = "", got: str = "", remedy: str = ""
    ) -> FileFault:
        return table_fault(self._path, self._schema, line, what, expected, got, remedy)


def _is_gap(cell: str) -> bool:
    return not cell or cell.lower() in ("nan", "none", "null", "na", "n/a")
