"""A table of constants as one text, for a board, where tuples of texts would take four times it.

What ``tandem flash`` makes of the tables of messages and parameters; the sources have tuples.
"""

from firmware.compat import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_INTEGER = "i"


class Rows:
    """To be walked, at start-up: a line is a row, tabs part its columns; ``kinds`` has a letter
    for each column."""

    def __init__(self, kinds: str, text: str) -> None:
        self._kinds = kinds
        self._text = text

    def __iter__(self) -> "Iterator[tuple[str | int, ...]]":
        return iter(self._make_rows())

    def _make_rows(self) -> "list[tuple[str | int, ...]]":
        return [self._make_row(line.split("\t")) for line in self._text.split("\n")]

    def _make_row(self, parts: "list[str]") -> "tuple[str | int, ...]":
        kinds = self._kinds
        return tuple(
            [int(parts[i]) if kinds[i] == _INTEGER else parts[i] for i in range(len(kinds))]
        )
