"""Ports with boards that are pulled out, put elsewhere and flashed anew, in virtual time.

The real program and plant on each board, the real owners and cars of the host: what is ours is the
cables.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from firmware.protocol.codec import Message
from host_bridge.core.errors import DeviceFault
from host_bridge.core.system.virtual_time import VirtualTimeLoop
from host_bridge.link.protocol import wire
from host_bridge.link.transports.base import OnBytes, OnClosed, Transport
from host_bridge.sharing.services import Host, make_host
from sim_mock.world import World
from tests.host_bridge.drive.drives import vehicle

STEP_US = 1000
PORT = "serial:///dev/ttyACM"
Result = TypeVar("Result")


class Board:
    """One board with its car, by the word for it; ``heard`` is all that it was told."""

    def __init__(self, word: str, name: str = "red", kind: str = "f1tenth") -> None:
        self.word = word
        self.tell: OnBytes = lambda data: None
        self.heard: list[Message] = []
        self.flash(name, kind)

    def flash(self, name: str, kind: str) -> None:
        """It starts anew, as this car."""
        self.world = World(vehicle(kind), 1, name=name, board=self.word, start_us=1_000_000)
        self._ear = wire.MessageDecoder()

    @property
    def id(self) -> str:
        return self.world.board_id.hex()

    def hear(self, data: bytes) -> None:
        self.heard += [it for it in self._ear.feed(data) if not isinstance(it, wire.RejectedFrame)]
        self.world.feed(data)

    def advance(self) -> None:
        sent = self.world.advance(self.world.now_us + STEP_US)
        if sent:
            self.tell(sent)

    def heard_kinds(self) -> set[str]:
        """The kinds of what it was told since the last time."""
        kinds = {type(message).__name__ for message in self.heard}
        self.heard.clear()
        return kinds


class Port:
    """A transport to whatever board is there."""

    is_virtual = False
    vehicle: str | None = None

    def __init__(self, label: str) -> None:
        self.label = label
        self.board: Board | None = None
        self._on_closed: OnClosed | None = None

    async def open(self, on_bytes: OnBytes, on_closed: OnClosed) -> None:
        if self.board is None:
            raise DeviceFault("no such port", where=self.label)
        self.board.tell = on_bytes
        self._on_closed = on_closed

    def send(self, data: bytes) -> int:
        if self._on_closed is None or self.board is None:
            return 0
        self.board.hear(data)
        return len(data)

    def close(self) -> None:
        self._end(None)

    def pull(self) -> Board | None:
        """The cable is out; returns what was there."""
        board, self.board = self.board, None
        if board:
            board.tell = lambda data: None
        self._end(DeviceFault("unplugged", where=self.label))
        return board

    def plug(self, board: Board | None) -> None:
        self.board = board

    def swap_silently(self, board: Board) -> None:
        """Behind an adapter that stays, so that no port goes away: another board is put there."""
        assert self.board is not None
        board.tell, self.board.tell = self.board.tell, lambda data: None
        self.board = board

    def _end(self, why: Exception | None) -> None:
        if self.board:
            self.board.tell = lambda data: None
        on_closed, self._on_closed = self._on_closed, None
        if on_closed:
            on_closed(why)


class Desk:
    """Boards, two ports, and this host's services in the time of all of them."""

    def __init__(self, loop: VirtualTimeLoop, *boards: Board) -> None:
        self.boards = boards
        self.ports = [Port(f"{PORT}{number}") for number in range(2)]
        self.host: Host = make_host(loop)
        self.now_us: Callable[[], int] = loop.now_us
        self._other = self.host.cars.transport
        self.host.cars.transport = self._transport  # type: ignore[method-assign]

    def _transport(self, text: str) -> Transport:
        for port in self.ports:
            if port.label == text:
                return port
        return self._other(text)

    async def run(self) -> None:
        while True:
            for board in self.boards:
                board.advance()
            await asyncio.sleep(STEP_US * 1e-6)


def at_desk(test: Callable[[Desk], Coroutine[Any, Any, Result]], *boards: Board) -> Result:
    """Run a test beside the boards, the first of which is at the first port and so on."""
    loop = VirtualTimeLoop()

    async def both() -> Result:
        desk = Desk(loop, *boards)
        for port, board in zip(desk.ports, boards, strict=False):
            port.plug(board)
        running = asyncio.ensure_future(desk.run())
        try:
            return await test(desk)
        finally:
            running.cancel()

    try:
        return loop.run_until_complete(both())
    finally:
        loop.close()
