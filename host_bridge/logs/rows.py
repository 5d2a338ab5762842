"""Dataclasses and mappings as JSON rows with a JSON Schema, in the subset that Foxglove plots.

That subset has one type per field, so a None is left out of the row, and no field is required by
the schema. Enumerations go by name, bytes as hexadecimal digits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from host_bridge.core import commands, reports
from host_bridge.link.protocol import events

Schema = dict[str, Any]
_Kind = TypeVar("_Kind")

# bool before int, because a bool is an int
_JSON_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (Enum, "string"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (bytes, "string"),
    (bytearray, "string"),
)


# The topic of each class in a log, in `tandem monitor --json` and in Foxglove. These names are part
# of the log's format: a class may be renamed here, a topic may not.
TOPICS: dict[type, str] = {
    commands.Claim: "claim",
    reports.CarIdentity: "identity",
    reports.CarStatus: "status",
    reports.CarMotion: "motion",
    reports.CarEvent: "event",
    reports.EventsLost: "events_lost",
    reports.StopSeen: "stop_seen",
    reports.ClockReport: "clock_report",
    reports.SessionBound: "session_bound",
    reports.ActionReply: "action_reply",
    reports.LinkCounters: "link_counters",
    reports.Inputs: "inputs",
    reports.Power: "power",
    reports.Outputs: "outputs",
    reports.OwnClaim: "own_claim",
    reports.Second: "second",
    reports.VescState: "vesc_state",
    reports.ParameterReply: "parameter_reply",
    reports.Committed: "committed",
    events.LinkIdentified: "link_identified",
    events.LinkMismatched: "link_mismatched",
    events.LinkStranger: "link_stranger",
    events.LinkBound: "link_bound",
    events.LinkRefused: "link_refused",
    events.LinkLost: "link_lost",
    events.LinkNoisy: "link_noisy",
    events.CarRestarted: "restarted",
}


def topic_of(kind: type) -> str:
    """Return a class's topic by ``TOPICS``. Raises TypeError for a class without one."""
    topic = TOPICS.get(kind)
    if topic is None:
        raise TypeError(f"{kind.__name__} has no topic in a log; give it a row in rows.TOPICS")
    return topic


def row_of(value: object) -> dict[str, Any]:
    """Return a dataclass as a row."""
    found = ((name, getattr(value, name)) for name in _names(type(value)))
    return {name: _plain(part) for name, part in found if part is not None}


def schema_of(kind: type) -> Schema:
    """Return the schema of a dataclass's rows."""
    hints = get_type_hints(kind)
    return _object({name: _hint_schema(hints[name]) for name in _names(kind)})


def plain_row(row: Mapping[str, object]) -> dict[str, Any]:
    """Return a mapping as a row."""
    return {name: _plain(part) for name, part in row.items() if part is not None}


def schema_of_row(row: Mapping[str, object]) -> Schema:
    """Return the schema that a first row suggests."""
    return _object({name: _value_schema(part) for name, part in row.items() if part is not None})


def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, (tuple, list)):
        return [_plain(part) for part in value]
    if isinstance(value, Mapping):
        return plain_row(value)
    return row_of(value) if dataclasses.is_dataclass(value) else value


def _object(properties: Mapping[str, Schema]) -> Schema:
    return {"type": "object", "properties": dict(properties)}


def _hint_schema(hint: Any) -> Schema:
    parts = [part for part in get_args(hint) if part not in (type(None), Ellipsis)]
    if get_origin(hint) in (tuple, list):
        return {"type": "array", "items": _hint_schema(parts[0])}
    if parts:  # a union with None
        return _hint_schema(parts[0])
    return _kind_schema(hint)


def _value_schema(value: object) -> Schema:
    if isinstance(value, (tuple, list)):
        items = _value_schema(value[0]) if value else {"type": "number"}
        return {"type": "array", "items": items}
    if isinstance(value, Mapping):
        return schema_of_row(value)
    return _kind_schema(type(value))


def _kind_schema(kind: type) -> Schema:
    if dataclasses.is_dataclass(kind):
        return schema_of(kind)
    for known, name in _JSON_TYPES:
        if issubclass(kind, known):
            return {"type": name}
    raise TypeError(f"{kind.__name__} has no place in a log; numbers, texts, lists and rows have")


def from_row(kind: type[_Kind], row: Mapping[str, Any]) -> _Kind:
    """Return the dataclass that a row was made of; what is not in the row is None.

    Raises ValueError, KeyError or TypeError for a row of another kind.
    """
    hints = _hints_of(kind)  # type: ignore[arg-type]  # mypy takes a class for not hashable
    return kind(**{name: _of_row(hints[name], row.get(name)) for name in _names(kind)})


@cache  # one entry for each class of reports
def _hints_of(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _of_row(hint: Any, value: Any) -> Any:
    parts = [part for part in get_args(hint) if part not in (type(None), Ellipsis)]
    if value is None:
        return None
    if get_origin(hint) is tuple:
        return tuple(_of_row(parts[0], part) for part in value)
    if parts:  # a union with None
        return _of_row(parts[0], value)
    if dataclasses.is_dataclass(hint):
        return from_row(hint, value)  # type: ignore[arg-type]
    if issubclass(hint, Enum):
        return hint[value]
    return bytes.fromhex(value) if hint is bytes else hint(value)
