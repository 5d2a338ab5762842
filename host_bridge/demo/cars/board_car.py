"""A bare board's car as a program: its plant outlives the host.

So does that of ``sim_mock.programs.car``. The board is on a cable; the host that drives it
opens the pseudo-terminal that this offers. Commands and trace are those of that program.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import cast

from host_bridge.core.errors import TandemError
from host_bridge.sharing.services import make_host
from sim_mock.hitl.transport import HitlTransport
from sim_mock.programs.car import TraceWriter, VirtualCarProgram
from sim_mock.programs.real_time import Cable

_RELAY_US = 2_000  # between two looks at the line: a fifth of a step
_TRACE_US = 10_000  # between two rows: a step


class ThreadedBoard:
    """The board as ``sim_mock.programs.real_time`` needs it, whose loop runs in another thread."""

    interval_us = _RELAY_US

    def __init__(self, transport: HitlTransport) -> None:
        self.now_us = 0
        self._received = bytearray()  # received from the board
        self._loop = asyncio.get_running_loop()
        self._transport = transport

    def hear(self, data: bytes) -> None:
        self._received += data

    def feed(self, data: bytes) -> None:
        self._loop.call_soon_threadsafe(self._transport.send, data)

    def beat(self, now_us: int) -> bytes:
        received, self._received = self._received, bytearray()
        return bytes(received)


class BoardCar(VirtualCarProgram):
    """The program between the board and the terminal, until the car stands or the board is gone."""

    def __init__(
        self,
        board: ThreadedBoard,
        transport: HitlTransport,
        cable: Cable,
        trace: TraceWriter | None,
    ) -> None:
        assert transport.world
        super().__init__(transport.world, cable, trace, ends_alone=True)
        self._board = board
        self._transport = transport
        self._traced_us = 0

    def after_beat(self) -> None:
        if self.world.now_us - self._traced_us >= _TRACE_US:
            self._traced_us = self.world.now_us
            super().after_beat()

    def has_ended(self) -> bool:
        return self._transport.world is None or super().has_ended()


async def _run(uri: str, link: Path | None, trace: str | None) -> None:
    transport = cast("HitlTransport", make_host().cars.transport(uri))
    cable = Cable(link)
    board = ThreadedBoard(transport)
    await transport.open(board.hear, lambda fault: None)
    ready = {"device": cable.device, "runtime": f"MicroPython on the board, {uri}"}
    print(json.dumps({**ready, "pid": os.getpid()}), flush=True)
    try:
        car = BoardCar(board, transport, cable, TraceWriter(trace) if trace else None)
        await asyncio.to_thread(car.run)
    finally:
        cable.unplug()
        transport.close()


def main() -> int:
    """Run it; return the exit code, that of the error if there was one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("uri", help="serial:///dev/ttyACM0?hitl=f1tenth")
    parser.add_argument("--trace")
    parser.add_argument("--link", type=Path)
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the host; the car stops by itself
    try:
        asyncio.run(_run(arguments.uri, arguments.link, arguments.trace))
    except (TandemError, RuntimeError) as fault:
        print(fault, file=sys.stderr)
        return fault.exit_code if isinstance(fault, TandemError) else 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
