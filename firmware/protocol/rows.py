"""A table of constants in little memory: names, and the numbers of all rows in one text.

``tandem flash`` makes it of the table of parameters; the sources have tuples.
"""

from firmware.compat import array


class Rows:
    """The rows of such a table, for one loop at a time.

    A row is a name, a unit that nobody needs, and numbers. Each is made when the loop comes to it,
    for all of them take more room than the car has besides.
    """

    def __init__(self, names: "tuple[str, ...]", numbers: bytes) -> None:
        self._names = names
        self._numbers = numbers
        self._at = 0

    def __iter__(self) -> "Rows":
        self._at = 0
        return self

    def __next__(self) -> "tuple[str | int, ...]":
        at, names, numbers = self._at, self._names, self._numbers
        if at == len(names):
            raise StopIteration
        self._at = at + 1
        size = len(numbers) // len(names)
        return (names[at], "") + tuple(array("i", numbers[size * at : size * at + size]))
