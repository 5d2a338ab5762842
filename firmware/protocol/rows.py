"""A table of constants in little memory: names, and the numbers of its rows in texts.

``tandem flash`` makes it of the table of parameters; the sources have tuples.
"""

from firmware.compat import TYPE_CHECKING, array, micropython

if TYPE_CHECKING:
    from typing import Any

const = micropython.const
# So that no text takes more than some hundred bytes: a car that loads the table while it is parked
# has no large block free
ROWS_A_TEXT = const(16)


class Rows:
    """The rows of such a table, for one loop at a time.

    A row is a name, a unit that nobody needs, and numbers. Each is made when the loop comes to it,
    for all of them take more room than the car has besides.
    """

    def __init__(self, names: "tuple[str, ...]", numbers: "tuple[bytes, ...]") -> None:
        self.names = names
        self._numbers = numbers
        self._size = len(numbers[0]) // min(len(names), ROWS_A_TEXT)  # bytes of a row
        self._at = 0

    def __iter__(self) -> "Rows":
        self._at = 0
        return self

    def __next__(self) -> "tuple[str | int, ...]":
        at, names, size = self._at, self.names, self._size
        if at == len(names):
            raise StopIteration
        self._at = at + 1
        begin = size * (at % ROWS_A_TEXT)
        numbers = self._numbers[at // ROWS_A_TEXT][begin : begin + size]
        return (names[at], "") + tuple(array("i", numbers))


def make_names(table: "Rows | tuple[tuple[Any, ...], ...]") -> "tuple[str, ...]":
    """Return the names of a table's rows, in order; a board has made them already."""
    return table.names if isinstance(table, Rows) else tuple([row[0] for row in table])
