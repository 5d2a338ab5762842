"""Messages to and from a page over its sockets: JSON, never queued behind what it has not read."""

from __future__ import annotations

import json
from contextlib import suppress

from websockets.asyncio.server import ServerConnection, broadcast

_POLICY = 1008  # of WebSocket's close codes


async def refuse(connection: ServerConnection, why: str) -> None:
    """Tell the page why it is refused, and close its socket."""
    await connection.send(json.dumps({"is_granted": False, "why": why}))
    await connection.close(_POLICY, "refused")


def has_read_all(connection: ServerConnection) -> bool:
    """Return whether all that was sent before is taken: nothing waits in front of news."""
    return connection.transport.get_write_buffer_size() == 0


def send(connection: ServerConnection, row: dict[str, object]) -> None:
    """Send at once, or drop the row where earlier ones wait."""
    if has_read_all(connection):
        broadcast([connection], json.dumps(row))


def end(connection: ServerConnection, why: str) -> None:
    """Tell the page that its drive is over, and why; the socket stays open."""
    broadcast([connection], json.dumps({"is_over": True, "why": why}))


def read_object(message: str | bytes) -> dict[str, object]:
    """Read JSON that is text all through; empty for anything else, and for one nested too deep."""
    with suppress(ValueError, RecursionError):
        found = json.loads(message)
        json.dumps(found, ensure_ascii=False).encode()  # half a character can be no name of a car
        if isinstance(found, dict):
            return found
    return {}
