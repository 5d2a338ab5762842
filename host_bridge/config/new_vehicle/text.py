"""The text of a new vehicle file: what it was told, what follows, and where each comes from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from host_bridge.config.new_vehicle.derived import lines_of, servo_line
from host_bridge.config.new_vehicle.questions import Answers, Tables

_WIDTH = 40  # of the column left of a reason
_RC = ("rc", "sources.rc", "stop.sources.rc")


def vehicle_text(answers: Answers, tables: Tables, wired_as: str) -> str:
    """Return the vehicle file as TOML. ``wired_as`` is its table in board files."""
    return "\n".join(_lines(answers, tables, wired_as)) + "\n"


def _lines(a: Answers, t: Tables, wired_as: str) -> Iterator[str]:
    yield f"# {a['title']}: written by `tandem vehicles new`. What is not here is as in its base."
    yield "# given: you said so. computed: it follows from that; measure it where you can."
    yield f"base = {json.dumps(a['like'], ensure_ascii=False)}"
    if not a.get("rc", True):
        yield f"without = {json.dumps([it for it in _RC if _has(t, it)])}"
    yield f"title = {json.dumps(a['title'], ensure_ascii=False)}"
    yield _commented("wired_as", wired_as, "[wiring.NAME] of the board file")
    channels, table = servo_line(a, t), ""
    for line in lines_of(a, t):
        if line.table.startswith("plant.") and channels is not None:
            yield from _channels(channels)
            channels = None
        if line.table != table:
            yield from ("", f"[{line.table}]")
            table = line.table
        yield _commented(line.key, line.value, line.reason)


def _has(t: Tables, path: str) -> bool:
    at: Any = t
    for name in path.split("."):
        at = at.get(name) if isinstance(at, Mapping) else None
    return bool(at)


def _channels(channels: list[dict[str, Any]]) -> Iterator[str]:
    yield from ("", "# All outputs, in the order of the board's: a list is taken whole.")
    for channel in channels:
        yield from ("", "[[channels]]")
        for key, value in channel.items():
            if key == "points":
                yield "# given: [angle of the wheel in rad, pulse in us], right, straight, left"
            yield f"{key} = {toml(value)}"


def _commented(key: str, value: Any, reason: str) -> str:
    return f"{f'{key} = {toml(value)}':{_WIDTH}} # {reason}"


def toml(value: Any) -> str:
    """Return a TOML value; tables are written inline."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e9:  # as people write it
        return f"{value:.1f}"
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
