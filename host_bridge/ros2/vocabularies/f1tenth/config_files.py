"""Readers for f1tenth_system's own mux.yaml and vesc.yaml, unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from host_bridge.core.errors import DataFileFault
from host_bridge.core.files import finite, read_yaml
from host_bridge.ros2.node.vesc_scale import VescScale
from host_bridge.ros2.vocabularies.topics import MuxRow

_PARAMETERS = "ros__parameters"
_TIMEOUT_MAX_S = 60.0  # a longer one is in milliseconds
_YIELDS = "silence_yields"  # ours: their node passes over keys that it does not know
_PRIORITY_MAX = 255  # of topic_tools and twist_mux


# f1tenth_system's key -> field of VescScale
_VESC_KEYS = {
    "speed_to_erpm_gain": "erpm_per_mps",
    "speed_to_erpm_offset": "erpm_offset",
    "steering_angle_to_servo_gain": "servo_per_rad",
    "steering_angle_to_servo_offset": "servo_offset",
    "servo_min": "servo_min",
    "servo_max": "servo_max",
}


def read_mux(path: Path) -> tuple[tuple[MuxRow, ...], tuple[str, ...]]:
    """Return the rows of a mux.yaml, and sentences on what is done differently here.

    Raises errors.DataFileFault.
    """
    rows: list[MuxRow] = []
    notes: list[str] = []
    found = _merged(path)
    for name, table in _tables(found, "topics", path):
        topic = table.get("topic")
        if not isinstance(topic, str) or not topic:
            raise _fault(path, f"topics.{name}.topic", "the name of a topic", topic)
        timeout_s = _number(table, "timeout", path, f"topics.{name}.timeout")
        if not 0.0 < timeout_s <= _TIMEOUT_MAX_S:
            expected = f"seconds above 0, at most {_TIMEOUT_MAX_S:g}"
            raise _fault(path, f"topics.{name}.timeout", expected, timeout_s)
        priority = _number(table, "priority", path, f"topics.{name}.priority")
        if not (priority.is_integer() and 0 <= priority <= _PRIORITY_MAX):
            expected = f"a whole number from 0 to {_PRIORITY_MAX}"
            raise _fault(path, f"topics.{name}.priority", expected, priority)
        yields = table.get(_YIELDS, False)
        if not isinstance(yields, bool):
            raise _fault(path, f"topics.{name}.{_YIELDS}", "true or false", yields)
        rows.append(MuxRow(str(name), topic, int(priority), timeout_s, yields))
    if not rows:
        raise _fault(path, "topics", "at least one topic with its timeout and priority", None)
    best = max(rows, key=lambda row: row.priority)
    if len(rows) > 1 and not best.yields:
        notes.append(
            f"where {best.topic} falls silent a mux lets the next one drive; here nobody drives "
            f"until the cars are armed again, unless its row says {_YIELDS}: true"
        )
    notes += [
        f"the lock {name} is not obeyed: a mux takes its silence for unlocked; "
        "use the service ~/stop, or a runstop"
        for name, _ in _tables(found, "locks", path)
    ]
    return tuple(rows), tuple(notes)


def read_vesc(path: Path) -> tuple[VescScale, tuple[str, ...]]:
    """Return the scale factors of a vesc.yaml, and a sentence on those that it lacks.

    Raises errors.DataFileFault.
    """
    found = _merged(path)
    values = {
        ours: _number(found, theirs, path, theirs)
        for theirs, ours in _VESC_KEYS.items()
        if theirs in found
    }
    for theirs in ("speed_to_erpm_gain", "steering_angle_to_servo_gain"):
        if values.get(_VESC_KEYS[theirs]) == 0:
            raise _fault(path, theirs, "a number other than 0", 0)
    if not values:
        raise _fault(path, "/**", f"some of {', '.join(_VESC_KEYS)}", None)
    scale = VescScale(**values)
    lacking = [f"{name} = {getattr(scale, ours):g}" for name, ours in _VESC_KEYS.items()
               if name not in found]  # fmt: skip
    notes = (
        (f"{path} says nothing of {', '.join(lacking)}, f1tenth_system's own",) if lacking else ()
    )
    return scale, notes


def _merged(path: Path) -> dict[str, Any]:
    """Return the parameters of all nodes in the file, merged; their names do not overlap here."""
    merged: dict[str, Any] = {}
    for node in read_yaml(path).values.values():
        parameters = node.get(_PARAMETERS) if isinstance(node, Mapping) else None
        if isinstance(parameters, Mapping):
            merged.update(parameters)
    return merged


def _tables(
    found: Mapping[str, Any], key: str, path: Path
) -> Iterable[tuple[str, Mapping[str, Any]]]:
    tables = found.get(key) or {}
    if not isinstance(tables, Mapping):
        raise _fault(path, key, "tables by name", tables)
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            raise _fault(path, f"{key}.{name}", "topic, timeout and priority", table)
        yield name, table


def _number(table: Mapping[str, Any], key: str, path: Path, where: str) -> float:
    value = table.get(key)
    try:
        return finite(value)
    except ValueError:
        raise _fault(path, where, "a number", value) from None


def _fault(path: Path, where: str, expected: str, got: object) -> DataFileFault:
    return DataFileFault(
        f"{where} is not as in f1tenth_system's file",
        where=str(path),
        expected=expected,
        got="nothing" if got is None else repr(got),
        remedy="compare it with f1tenth_stack/config of f1tenth_system",
    )
