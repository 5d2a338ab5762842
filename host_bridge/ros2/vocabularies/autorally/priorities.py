"""A reader for AutoRally's chassisCommandPriorities.yaml, unchanged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from host_bridge.core.errors import DataFileFault
from host_bridge.core.files import read_yaml
from host_bridge.ros2.vocabularies.autorally.adapter import RC
from host_bridge.ros2.vocabularies.autorally.vocabulary import rows_of
from host_bridge.ros2.vocabularies.topics import MuxRow

# Names under which a launch file loads it; AutoRally's own is misspelt
_WRAPPINGS = ("chassisCommandProirities", "chassisCommandPriorities")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_OTHERWISE = (
    "a commander that falls silent is passed over there, and the next one drives; here nobody "
    "drives until the cars are armed again",
    "a runstop that falls silent is forgotten there after 2 s, and one that ends lets the car go "
    "on by itself; here both stop the car until it is armed again",
)


def read_priorities(path: Path) -> tuple[tuple[MuxRow, ...], tuple[str, ...]]:
    """Return the commanders' mux rows, and sentences on what is done differently here.

    Raises errors.DataFileFault.
    """
    found = _read(path)
    for wrapping in _WRAPPINGS:
        inner = found.get(wrapping)
        found = inner if isinstance(inner, Mapping) else found
    priorities: dict[str, int] = {}
    for name, number in found.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise _fault(path, str(name), "a commander's name, of letters, digits and _")
        if type(number) is not int or number < 0:
            raise _fault(path, name, f"a whole number from 0, got {number!r}")
        if number in priorities.values():
            raise _fault(path, name, f"a number of its own: another one has {number}")
        priorities[name] = number
    if not priorities.keys() - {RC}:
        raise _fault(path, "the file", "at least one commander with its priority")
    notes = list(_OTHERWISE)
    if RC in priorities:
        notes.append("RC is the car's own receiver: its place is that of the vehicle file")
    return rows_of(priorities), tuple(notes)


def _read(path: Path) -> Mapping[Any, Any]:
    return read_yaml(path).values


def _fault(path: Path, where: str, expected: str) -> DataFileFault:
    return DataFileFault(
        f"{where} is not as in AutoRally's chassisCommandPriorities.yaml",
        where=str(path),
        expected=expected,
        remedy="as in autorally_util/config: mppi_controller: 1",
    )
