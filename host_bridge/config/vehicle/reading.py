"""Reader of a vehicle file's tables, checked against the schema."""

from __future__ import annotations

from typing import Any

from host_bridge.config.vehicle.document import VehicleDocument
from host_bridge.config.vehicle.schema import (
    ACCEPTED_COAST_KEYS,
    CHANNEL_COUNT,
    CHANNEL_KEYS,
    CHANNEL_KINDS,
    PROFILE_KEYS,
    PROFILES,
    RC_KEYS,
    SOURCE_IDS,
    SOURCE_KEYS,
    STOP_SOURCE_KEYS,
    STOP_SOURCES,
    TABLES,
)
from sim_mock.files.keys import Key, choice
from sim_mock.files.reading import joined, read_key, read_table, refuse_unknown

_TOP_TABLES = tuple(name for name in TABLES if name and "." not in name)
TOP_KEYS = (
    *(key.name for key in TABLES[""]),
    *_TOP_TABLES,
    "accepted_coast",
    "rc",
    "sources",
    "channels",
    "plant",
)

_OPTIONAL = {"rc": RC_KEYS, "accepted_coast": ACCEPTED_COAST_KEYS}


def read_vehicle(document: VehicleDocument) -> dict[str, Any]:
    """Return all tables, checked: those of ``TABLES`` by name, and sources, channels and plant."""
    refuse_unknown(document, "", document.values, TOP_KEYS)
    values: dict[str, Any] = {
        **{key.name: read_key(document, key.name, document.values, key) for key in TABLES[""]},
        "plant": table_of(document, "plant"),
    }
    for name in _TOP_TABLES:
        values[name] = _read_named(document, name, table_of(document, name))
    for name in ("policies", "fault_policies"):
        values["stop"][name] = _read_named(document, f"stop.{name}", values["stop"][name])
    values["stop"]["sources"] = _read_each(
        document, "stop.sources", tuple(STOP_SOURCES), STOP_SOURCE_KEYS
    )
    values["profiles"] = _read_each(document, "profiles", PROFILES, PROFILE_KEYS)
    values["sources"] = _read_each(document, "sources", tuple(SOURCE_IDS), SOURCE_KEYS)
    for name, keys in _OPTIONAL.items():
        is_there = bool(document.values.get(name))
        values[name] = (
            read_table(document, name, table_of(document, name), keys) if is_there else None
        )
    values["channels"] = _read_channels(document)
    return values


def _read_named(document: VehicleDocument, path: str, given: dict[str, Any]) -> dict[str, Any]:
    return read_table(document, path, given, TABLES[path])


def _read_each(
    document: VehicleDocument, path: str, known: tuple[str, ...], keys: tuple[Key, ...]
) -> dict[str, dict[str, Any]]:
    """Read the tables within a table, which all have the same keys."""
    given = table_of(document, path)
    refuse_unknown(document, path, given, known)
    return {
        name: read_table(document, f"{path}.{name}", table_of(document, f"{path}.{name}"), keys)
        for name in given
    }


def _read_channels(document: VehicleDocument) -> list[dict[str, Any]]:
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


def _read_channel(document: VehicleDocument, path: str, given: object) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise document.fault(path, "this channel is not a table", expected="[[channels]]")
    kind_key = choice("kind", CHANNEL_KINDS)
    kind = read_key(document, joined(path, "kind"), given, kind_key)
    return read_table(document, path, given, (kind_key, *CHANNEL_KEYS[kind]))


def table_of(document: VehicleDocument, path: str) -> dict[str, Any]:
    """Return the table at a path. Raises VehicleFileFault if it is not there."""
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
