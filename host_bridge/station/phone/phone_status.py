"""The cars as a phone shows them, and the event stream for browsers without a socket."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

from websockets.asyncio.server import ServerConnection

from host_bridge.station.server.page_messages import has_read_all
from host_bridge.station.server.server import StationBackend

STATE_S = 0.05  # s: 20 Hz
_SHOWN = ("name", "number", "board", "vehicle", "is_virtual", "is_known", "state", "word", "why",
          "is_armed", "is_locked", "speed_mps", "target_mps", "steer_deg", "driver", "age_ms",
          "blind_m", "battery_percent")  # fmt: skip
# An event stream ends before a handshake may take no longer; its browser opens the next at once
_STREAM_S = 8.0
_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
    b"X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\nretry: 100\n\n"
)


def phone_state(backend: StationBackend, seat: dict[str, object] | None) -> dict[str, object]:
    """Return what a phone shows: each car's few values, and who drives by a phone."""
    rows = [{name: row.get(name) for name in _SHOWN} for row in backend.car_rows()]
    return {"cars": rows, "seat": seat}


async def stream(connection: ServerConnection, state: Callable[[], dict[str, object]]) -> None:
    """Say the state as events for some seconds. What the browser did not read yet waits for it."""
    transport = connection.transport
    transport.write(_HEAD)
    ends_s = time.monotonic() + _STREAM_S
    while time.monotonic() < ends_s and not transport.is_closing():
        if has_read_all(connection):
            transport.write(f"data: {json.dumps(state())}\n\n".encode())
        await asyncio.sleep(STATE_S)
    transport.close()
