"""The socket to a Devkit script: connects as the simulator does, and again when it is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Protocol

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from host_bridge.inputs.autodrive.exchange import URL, ScriptExchange

_TICK_S = 0.01  # a car reports no faster
_AGAIN_S = 0.2  # between two tries to connect: a person who starts a script notices no delay
_PATIENCE_S = 2.0
_BYTES_MAX = 1 << 20  # a command has about a kilobyte


class ScriptPeer(Protocol):
    """The script at ``place`` (HOST:PORT); ``exchange`` is set while it is connected."""

    place: str
    exchange: ScriptExchange | None
    fault: str  # why there is no connection


async def run_exchange(
    script: ScriptPeer, frame: Callable[[], Mapping[str, str]], now_us: Callable[[], int]
) -> None:
    """Keep up the exchange with a script until cancelled.

    Reconnect whenever there is no connection.
    """
    while True:
        try:
            async with connect(
                URL.format(script.place), compression=None, max_size=_BYTES_MAX, proxy=None,
                ping_interval=None, open_timeout=_PATIENCE_S, close_timeout=_AGAIN_S,
            ) as socket:  # fmt: skip
                script.exchange = ScriptExchange(now_us())
                await _serve(socket, script.exchange, frame, now_us)
        except (OSError, InvalidHandshake, InvalidMessage, ConnectionClosed) as error:
            script.fault = _reason(error)
        finally:
            script.exchange = None
        await asyncio.sleep(_AGAIN_S)


async def _serve(
    socket: ClientConnection,
    exchange: ScriptExchange,
    frame: Callable[[], Mapping[str, str]],
    now_us: Callable[[], int],
) -> None:
    sending = asyncio.ensure_future(_send(socket, exchange, frame, now_us))
    try:
        async for text in socket:
            answer = exchange.take(text, now_us()) if isinstance(text, str) else None
            if answer:
                await socket.send(answer)
    finally:
        sending.cancel()


async def _send(
    socket: ClientConnection,
    exchange: ScriptExchange,
    frame: Callable[[], Mapping[str, str]],
    now_us: Callable[[], int],
) -> None:
    while True:
        for packet in exchange.due_packets(now_us(), frame):
            await socket.send(packet)
        await asyncio.sleep(_TICK_S)


def _reason(error: Exception) -> str:
    if isinstance(error, ConnectionClosed):
        return "it went away"
    if isinstance(error, TimeoutError):
        return "it does not open the connection"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
