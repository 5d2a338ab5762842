"""The reader of the tables of TOML files: it checks a table against its keys and fills in defaults.

The caller's ``TableSource.fault`` makes the error that is raised, and says how it names places.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import Any, Protocol

from sim_mock.files.keys import REQUIRED, Key, slip_of, stem_of, unit_of
from sim_mock.files.numbers import has_decimal_comma


class TableSource(Protocol):
    """The origin of a table, which makes the errors about its keys."""

    def fault(
        self, key: str, what: str, expected: str = "", got: str = "", remedy: str = ""
    ) -> Exception:
        """Return the error to be raised about a key, by its path: ``sources.seat.lease_s``."""


def joined(*parts: str) -> str:
    """Return a path from its parts; an empty part is the top of the file."""
    return ".".join(part for part in parts if part)


def read_table(
    source: TableSource, path: str, given: Mapping[str, Any], keys: Iterable[Key]
) -> dict[str, Any]:
    """Return the values of one table. Raises the source's fault at the first error."""
    keys = tuple(keys)
    refuse_unknown(source, path, given, tuple(key.name for key in keys))
    return {key.name: read_key(source, joined(path, key.name), given, key) for key in keys}


def read_key(source: TableSource, path: str, given: Mapping[str, Any], key: Key) -> Any:
    """Return the value of one key at ``path``, or its default. Raises the source's fault."""
    if key.name in given:
        return read_value(source, path, given[key.name], key)
    if key.default is not REQUIRED:
        return key.default
    table = path.rpartition(".")[0]
    raise source.fault(
        path,
        f"{key.name} is missing",
        expected=key.expected,
        got="nothing",
        remedy=f"add {key.name} = … to [{table}]" if table else f"add {key.name} = …",
    )


def read_value(source: TableSource, path: str, value: Any, key: Key) -> Any:
    """Return the value if the key allows it. Raises the source's fault."""
    if _FITS[key.kind](value, key):
        return float(value) if key.kind == "number" else value
    raise source.fault(
        path,
        f"{key.name} cannot be that",
        expected=key.expected,
        got=_shown(value),
        remedy=_remedy(value, key),
    )


def _remedy(value: object, key: Key) -> str:
    if key.kind in ("number", "integer"):
        if isinstance(value, str) and has_decimal_comma(value):
            return "numbers have a decimal point"
        if isinstance(value, int | float) and isfinite(value) and (slip := slip_of(key, value)):
            return slip
    return "mind the unit" if key.unit else ""


def refuse_unknown(
    source: TableSource, path: str, given: Iterable[str], known: Sequence[str]
) -> None:
    """Raise the source's fault for a key that is not known, with a suggestion."""
    for name in given:
        if name not in known:
            raise _unknown(source, joined(path, name), name, known)


def _unknown(source: TableSource, path: str, name: str, known: Sequence[str]) -> Exception:
    what = f"{name} is not a key of this table" if "." in path else f"{name} is not known here"
    for other in known:
        if stem_of(other) == stem_of(name):
            return source.fault(
                path,
                f"{name} has no unit" if stem_of(name) == name else f"{name} has the wrong unit",
                expected=f"{other}, in {unit_of(other)}",
                got=name,
                remedy=f"did you mean {other}?",
            )
    near = difflib.get_close_matches(name, known, n=1)
    return source.fault(
        path,
        what,
        expected=f"one of {', '.join(known)}" if known else "no key",
        got=name,
        remedy=f"did you mean {near[0]}?" if near else "take it out",
    )


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else f"{value}"


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object, key: Key) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return key.low <= value <= key.high


def _is_points(value: object, key: Key) -> bool:
    if not isinstance(value, list) or len(value) < 2 or not all(map(_is_pair, value)):
        return False
    angles, pulses = zip(*value, strict=True)
    return _rises(angles) and (_rises(pulses) or _rises(pulses[::-1]))


def _is_pair(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in value)
    )


def _rises(values: tuple[float, ...]) -> bool:
    return all(a < b for a, b in pairwise(values))


def _is_pulses(value: object, key: Key) -> bool:
    if not isinstance(value, list) or len(value) != 3:
        return False
    # us: what a servo pulse can be (firmware/core/arbitration/rc_receiver.py)
    if not all(isinstance(x, int) and 900 <= x <= 2100 for x in value):
        return False
    return _rises(tuple(value)) or _rises(tuple(value[::-1]))


def _are_names(value: object, key: Key) -> bool:
    is_list = isinstance(value, list) and all(x in key.choices for x in value)
    return is_list and (value != [] or key.low == 0.0)


_FITS: dict[str, Callable[[Any, Key], bool]] = {
    "number": _is_number,
    "integer": lambda value, key: _is_integer(value) and _is_number(value, key),
    "flag": lambda value, key: isinstance(value, bool),
    "text": lambda value, key: isinstance(value, str) and value != "",
    "choice": lambda value, key: value in key.choices,
    "names": _are_names,
    "points": _is_points,
    "pulses": _is_pulses,
    "table": lambda value, key: isinstance(value, Mapping),
    "list": lambda value, key: isinstance(value, Sequence) and not isinstance(value, str),
    "pin": lambda value, key: _is_integer(value) or (isinstance(value, str) and value != ""),
    "pins": lambda value, key: isinstance(value, str),
    "integers": lambda value, key: isinstance(value, list) and all(map(_is_integer, value)),
    "texts": lambda value, key: isinstance(value, list) and all(isinstance(x, str) for x in value),
}
