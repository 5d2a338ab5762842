"""Flattening of the car's program: on a board no file lies deeper than ``firmware/core/guard.py``.

A room such as ``firmware/core/stops`` is for readers. A board would keep a module for each, and the
letters of its name in that of every module in it, on a heap that is short.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from host_bridge.deploy.flash.program.program import ROOT

_DEPTH = 3  # firmware, core, guard.py


def flattened(sources: Mapping[str, str]) -> dict[str, str]:
    """Return path -> text with the deeper files moved up, and their modules' names to match.

    Raises ValueError for a room that is more than a room (its ``__init__.py`` has a text), and for
    two files that would get one path.
    """
    found: dict[str, str] = {}
    rooms = _rooms(sources)
    for path, text in sources.items():
        room, _, file = path.rpartition("/")
        if room not in rooms:
            found[path] = _renamed(text, rooms)
        elif file != "__init__.py":
            higher = f"{_above(room)}/{file}"
            if higher in sources or higher in found:
                raise ValueError(f"{path}: a board has {higher} already")
            found[higher] = _renamed(text, rooms)
        elif text.strip():
            raise ValueError(f"{path}: a room of a board's program has nothing of its own")
    return found


def text_for_board(text: str) -> str:
    """Return a program for a board's raw REPL whose imports name the modules that a board has."""
    files = ROOT.joinpath("firmware").rglob("*.py")
    return _renamed(text, _rooms(file.relative_to(ROOT).as_posix() for file in files))


def _rooms(paths: Iterable[str]) -> set[str]:
    return {path.rpartition("/")[0] for path in paths if path.count("/") >= _DEPTH}


def _above(room: str) -> str:
    return "/".join(room.split("/")[: _DEPTH - 1])


def _renamed(text: str, rooms: set[str]) -> str:
    """Replace the names of rooms by those of the folders above, in imports and in texts."""
    if not rooms:
        return text
    names = {room.replace("/", "."): _above(room).replace("/", ".") for room in rooms}
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    return re.sub(rf"\b(?:{'|'.join(longest_first)})\b", lambda it: names[it[0]], text)
