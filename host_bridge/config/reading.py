"""Checks the tables of a document against the schema, and fills in what may be left out."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from host_bridge.config.document import Document, joined
from host_bridge.config.schema import (
    CHANNEL_COUNT,
    CHANNEL_KEYS,
    CHANNEL_KINDS,
    PROFILE_KEYS,
    PROFILES,
    RC_KEYS,
    REQUIRED,
    SOURCE_IDS,
    SOURCE_KEYS,
    STOP_SOURCE_KEYS,
    STOP_SOURCES,
    TABLES,
    UNITS,
    Key,
    choice,
)
from host_bridge.errors import VehicleFileFault

_TOP_TABLES = tuple(name for name in TABLES if name and "." not in name)
TOP_KEYS = (*(key.name for key in TABLES[""]), *_TOP_TABLES, "rc", "sources", "channels", "plant")


def read_vehicle(document: Document) -> dict[str, Any]:
    """All tables, checked: those of ``TABLES`` by name, ``sources``, ``channels``, ``plant``."""
    refuse_unknown(document, "", document.values, TOP_KEYS)
    values: dict[str, Any] = {
        **{key.name: read_key(document, key.name, document.values, key) for key in TABLES[""]},
        "plant": table_of(document, "plant"),
    }
    for name in _TOP_TABLES:
        values[name] = read_table(document, name, table_of(document, name))
    for name in ("policies", "fault_policies"):
        values["stop"][name] = read_table(document, f"stop.{name}", values["stop"][name])
    values["stop"]["sources"] = _read_each(
        document, "stop.sources", tuple(STOP_SOURCES), STOP_SOURCE_KEYS
    )
    values["profiles"] = _read_each(document, "profiles", PROFILES, PROFILE_KEYS)
    values["sources"] = _read_each(document, "sources", tuple(SOURCE_IDS), SOURCE_KEYS)
    given_rc = document.values.get("rc")
    values["rc"] = (
        read_table(document, "rc", table_of(document, "rc"), RC_KEYS) if given_rc else None
    )
    values["channels"] = _read_channels(document)
    return values


def read_table(
    document: Document, path: str, given: dict[str, Any], keys: Iterable[Key] | None = None
) -> dict[str, Any]:
    """The values of one table. Raises VehicleFileFault at the first thing that is wrong."""
    keys = tuple(TABLES[path] if keys is None else keys)
    refuse_unknown(document, path, given, tuple(key.name for key in keys))
    return {key.name: read_key(document, joined(path, key.name), given, key) for key in keys}


def _read_each(
    document: Document, path: str, known: tuple[str, ...], keys: tuple[Key, ...]
) -> dict[str, dict[str, Any]]:
    """The tables within a table, all alike."""
    given = table_of(document, path)
    refuse_unknown(document, path, given, known)
    return {
        name: read_table(document, f"{path}.{name}", table_of(document, f"{path}.{name}"), keys)
        for name in given
    }


def _read_channels(document: Document) -> list[dict[str, Any]]:
    given = document.values.get("channels")
    if not isinstance(given, list) or not 1 <= len(given) <= CHANNEL_COUNT:
        raise document.fault(
            "channels",
            "the output channels are missing or too many",
            expected=f"1 to {CHANNEL_COUNT} [[channels]] tables",
            got="nothing" if given is None else f"{len(given)}" if isinstance(given, list) else "",
            remedy="write one [[channels]] table per output of the board, in the order of its pins",
        )
    return [_read_channel(document, f"channels.{i}", table) for i, table in enumerate(given)]


def _read_channel(document: Document, path: str, given: object) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise document.fault(path, "this channel is not a table", expected="[[channels]]")
    kind_key = choice("kind", CHANNEL_KINDS)
    kind = read_key(document, joined(path, "kind"), given, kind_key)
    return read_table(document, path, given, (kind_key, *CHANNEL_KEYS[kind]))


def table_of(document: Document, path: str) -> dict[str, Any]:
    """The table at a path, which has to be there. Raises VehicleFileFault."""
    given: Any = document.values
    for name in path.split("."):
        given = given.get(name)
    if isinstance(given, dict):
        return given
    raise document.fault(
        path,
        f"the table [{path}] is missing" if given is None else f"{path} is not a table",
        expected=f"[{path}]",
        remedy="see hardware/vehicles/README.md for what belongs in it",
    )


def read_key(document: Document, path: str, given: dict[str, Any], key: Key) -> Any:
    """The value of one key at ``path``, or its default. Raises VehicleFileFault."""
    if key.name not in given:
        if key.default is not REQUIRED:
            return key.default
        table = path.rpartition(".")[0]
        raise document.fault(
            path,
            f"{key.name} is missing",
            expected=key.expected,
            got="nothing",
            remedy=f"add {key.name} = … to [{table}]" if table else f"add {key.name} = …",
        )
    value = given[key.name]
    if not _FITS[key.kind](value, key):
        raise document.fault(
            path,
            f"{key.name} cannot be that",
            expected=key.expected,
            got=_shown(value),
            remedy="mind the unit" if key.unit else "",
        )
    return float(value) if key.kind == "number" else value


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
    "table": lambda value, key: isinstance(value, dict),
    "pin": lambda value, key: _is_integer(value) or (isinstance(value, str) and value != ""),
    "pins": lambda value, key: isinstance(value, str),
    "integers": lambda value, key: isinstance(value, list) and all(map(_is_integer, value)),
    "texts": lambda value, key: isinstance(value, list) and all(isinstance(x, str) for x in value),
}


def refuse_unknown(
    document: Document, path: str, given: dict[str, Any], known: tuple[str, ...]
) -> None:
    """Raises VehicleFileFault for a key that is not known, with what may be meant."""
    for name in given:
        if name not in known:
            raise _unknown(document, joined(path, name), name, known)


def _unknown(document: Document, path: str, name: str, known: tuple[str, ...]) -> VehicleFileFault:
    what = f"{name} is not a key of this table" if "." in path else f"{name} is not known here"
    for other in known:
        if _stem(other) == _stem(name):
            return document.fault(
                path,
                f"{name} has no unit" if _stem(name) == name else f"{name} has the wrong unit",
                expected=f"{other}, in {_unit(other)}",
                got=name,
                remedy=f"did you mean {other}?",
            )
    near = difflib.get_close_matches(name, known, n=1)
    return document.fault(
        path,
        what,
        expected=f"one of {', '.join(known)}",
        got=name,
        remedy=f"did you mean {near[0]}?" if near else "take it out",
    )


# Endings that people write instead of ours, besides ours.
_FOREIGN_ENDINGS = ("mm", "cm", "ms", "deg", "degps", "mm_s", "mm_s2", "kmh", "ns", "mv")


def _unit(name: str) -> str:
    return Key(name, "number").unit


def _stem(name: str) -> str:
    for ending in sorted((*UNITS, *_FOREIGN_ENDINGS), key=len, reverse=True):
        if name.endswith("_" + ending):
            return name[: -len(ending) - 1]
    return name
