"""Reading of tables with errors that are ValueErrors of one line.

A virtual car does not import the host's errors, which have more parts.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sim_mock.files import reading
from sim_mock.files.keys import Key, number


class _ValueErrors:
    """A ``TableSource`` whose errors are ValueErrors."""

    def fault(
        self, key: str, what: str, expected: str = "", got: str = "", remedy: str = ""
    ) -> ValueError:
        parts = (what, f"expected {expected}, got {got}", remedy)
        return ValueError(f"{key}: {'; '.join(filter(None, parts))}")


_ERRORS = _ValueErrors()


def refuse(path: str, expected: str, got: object) -> ValueError:
    """Return the error for a value that is not allowed."""
    return ValueError(f"{path}: expected {expected}, got {got!r}")


def read_by(path: str, keys: Iterable[Key], given: object) -> dict[str, Any]:
    """Return the values of a table, defaults filled in, by these keys.

    Raises ValueError that names the key that is unknown, missing, of a wrong type or out of range.
    """
    return reading.read_table(_ERRORS, path, as_mapping(path, given), keys)


def as_mapping(path: str, given: object) -> Mapping[str, Any]:
    """Return ``given`` if it is a table. Raises ValueError."""
    table: Mapping[str, Any] = reading.read_value(_ERRORS, path, given, Key(_last(path), "table"))
    return table


def as_list(path: str, given: object) -> Sequence[Any]:
    """Return ``given`` if it is a list. Raises ValueError."""
    some: Sequence[Any] = reading.read_value(_ERRORS, path, given, Key(_last(path), "list"))
    return some


def refuse_unknown(path: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise ValueError naming the first key that is not among the known."""
    reading.refuse_unknown(_ERRORS, path, given, known)


def as_number(path: str, given: object, low: float, high: float) -> float:
    """Return ``given`` if it is a number in the range (a bool is none, nor is nan).

    Raises ValueError.
    """
    return float(reading.read_value(_ERRORS, path, given, number(_last(path), low, high)))


def _last(path: str) -> str:
    return path.rpartition(".")[2]
