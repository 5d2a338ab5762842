"""The socket that the simulator connects to: one simulator at a time, with all of its vehicles."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from sim_mock.autodrive import wire
from sim_mock.autodrive.command import Scenery
from sim_mock.autodrive.exchange import DrivenVehicle, Exchange

_MESSAGE_BYTES_MAX = 16 << 20  # as AutoDRIVE's own proxy; a camera image and a scan fit easily
_LOOK_S = 0.02  # between two looks: two steps of a car
_LOG = logging.getLogger(__name__)
_LOG.addHandler(logging.NullHandler())  # connections that are given up at once are not reported


class SimulatorServer:
    """The server for one simulator; ``driven`` are the driven cars by their numbers in the scene.

    ``exchange`` is of the last simulator that connected. ``now_us`` is the host's time.
    """

    def __init__(self, now_us: Callable[[], int], scenery: Scenery | None = None) -> None:
        self._now_us = now_us
        self._scenery = scenery
        self._server: Server | None = None
        self._socket: ServerConnection | None = None
        self.driven: dict[int, DrivenVehicle] = {}
        self.exchange = Exchange(self.driven, 0, scenery)

    @property
    def is_lost(self) -> bool:
        """True if no vehicle of the simulator is heard."""
        return all(vehicle.plant.is_lost for vehicle in self.driven.values())

    async def open(self, host: str, port: int) -> int:
        """Listen, and return the port. Raises OSError."""
        self._server = await serve(
            self._meet,
            host,
            port,
            origins=[None],  # the simulator sends no Origin; a page in a browser does
            compression=None,
            process_request=self._screen,
            ping_interval=None,  # its frames serve as the heartbeat
            max_size=_MESSAGE_BYTES_MAX,
            logger=_LOG,
        )
        return int(next(iter(self._server.sockets)).getsockname()[1])

    def close(self) -> None:
        """Stop listening."""
        if self._server:
            self._server.close()
        self._server = None

    def _screen(self, connection: ServerConnection, request: Request) -> Response | None:
        if not request.path.startswith(wire.PATH):
            return connection.respond(HTTPStatus.NOT_FOUND, f"the simulator asks for {wire.PATH}\n")
        if self._socket and not self.is_lost:
            text = "another simulator is connected: a car is in one world only\n"
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, text)
        return None

    async def _meet(self, socket: ServerConnection) -> None:
        """Serve a simulator until it disconnects, or is silent and another one connects."""
        before, self._socket = self._socket, socket
        if before:
            before.transport.abort()  # it is silent, so it would not answer a close either
        self._lose()
        exchange = self.exchange = Exchange(self.driven, self._now_us(), self._scenery)
        restarting = asyncio.ensure_future(self._restart(socket, exchange))
        with suppress(ConnectionClosed):
            await self._serve(socket, exchange)
        restarting.cancel()
        if self._socket is socket:
            self._socket = None
            self._lose()

    def _lose(self) -> None:
        for vehicle in self.driven.values():
            vehicle.plant.lose()

    async def _serve(self, socket: ServerConnection, exchange: Exchange) -> None:
        # bytes: an id that no two connections share
        for packet in wire.opening(secrets.token_hex(8)):
            await socket.send(packet)
        async for text in socket:
            if not isinstance(text, str) or self._socket is not socket:
                continue
            answer = exchange.answer(text)
            if answer:
                await socket.send(answer)
            exchange.take(text, self._now_us())

    async def _restart(self, socket: ServerConnection, exchange: Exchange) -> None:
        with suppress(ConnectionClosed):
            while True:
                await asyncio.sleep(_LOOK_S)
                text = exchange.due(self._now_us())
                if text:
                    await socket.send(text)
