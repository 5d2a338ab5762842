"""A table of constants as a board has room for it: names, and the numbers of all rows in one text.

What ``tandem flash`` makes of the table of parameters; the sources have tuples.
"""

from firmware.compat import TYPE_CHECKING, array

if TYPE_CHECKING:
    from collections.abc import Iterator


class Rows:
    """To be walked, at start-up: a row is a name, a unit that nobody needs, and numbers."""

    def __init__(self, names: "tuple[str, ...]", numbers: bytes) -> None:
        self._names = names
        self._numbers = numbers

    def __iter__(self) -> "Iterator[tuple[str | int, ...]]":
        return iter(self._make_rows())

    def _make_rows(self) -> "list[tuple[str | int, ...]]":
        names, numbers = self._names, array("i", self._numbers)
        wide = len(numbers) // len(names)
        return [
            (names[i], "") + tuple(numbers[wide * i : wide * i + wide]) for i in range(len(names))
        ]
