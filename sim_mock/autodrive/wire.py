"""The few packets of Engine.IO and Socket.IO that the simulator knows, as text.

Its client is of 2014: it asks for EIO=4, yet pings like EIO=3 (the client says "2", and is told
"3"), never connects to a namespace ("40"), and sends one event, ``42["Bridge",{...}]``. Current
Socket.IO servers drop its events without a word, so the framing is here.
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
    """What the simulator is greeted with."""
    return "0" + _json({"sid": sid, **_HELLO}), CONNECTED


def pong(text: str) -> str | None:
    """The answer to a ping, with what it carried; None for anything else."""
    return PONG + text[1:] if text.startswith(PING) else None


def is_bridge(text: str) -> bool:
    """Whether this is an event that the simulator waits for an answer to, whole or damaged."""
    return _EVENT.match(text) is not None


def read_bridge(text: str) -> Mapping[str, Any] | None:
    """The keys of a Bridge event; None if it is damaged."""
    try:
        event = json.loads(text[text.index("[") :])
    except (ValueError, RecursionError):
        return None
    return event[1] if len(event) > 1 and isinstance(event[1], dict) else None


def write_bridge(keys: Mapping[str, str]) -> str:
    """Two items and no more, the second an object: the simulator refuses anything else."""
    return "42" + _json(["Bridge", dict(keys)])


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
