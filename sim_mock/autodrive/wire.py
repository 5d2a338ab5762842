"""The few packets of Engine.IO and Socket.IO that the simulator uses, as text.

Its client is of 2014: it asks for EIO=4, yet pings like EIO=3 (the client sends "2", and is
answered "3"), never connects to a namespace ("40"), and sends one event, ``42["Bridge",{...}]``.
Current Socket.IO servers drop its events silently, so the framing is here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

PING, PONG = "2", "3"
CONNECTED = "40"
PATH = "/socket.io/"
_EVENT = re.compile(r'42\d*\s*\[\s*"Bridge"\s*,')  # an acknowledgement's number may follow 42
_HELLO = {"upgrades": [], "pingInterval": 25_000, "pingTimeout": 60_000}  # ms, as the Devkit says


def opening(sid: str) -> tuple[str, str]:
    """Return the packets that open a connection."""
    return "0" + _json({"sid": sid, **_HELLO}), CONNECTED


def pong(text: str) -> str | None:
    """Return the answer to a ping, with its payload; None for anything else."""
    return PONG + text[1:] if text.startswith(PING) else None


def is_bridge(text: str) -> bool:
    """Return whether this is an event that the simulator awaits an answer to, even if damaged."""
    return _EVENT.match(text) is not None


def read_bridge(text: str) -> Mapping[str, Any] | None:
    """Return the keys of a Bridge event; None if it is damaged."""
    try:
        event = json.loads(text[text.index("[") :])
    except (ValueError, RecursionError):
        return None
    return event[1] if len(event) > 1 and isinstance(event[1], dict) else None


def write_bridge(keys: Mapping[str, str]) -> str:
    """Return a Bridge event: exactly two items, the second an object.

    The simulator refuses anything else.
    """
    return "42" + _json(["Bridge", dict(keys)])


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
