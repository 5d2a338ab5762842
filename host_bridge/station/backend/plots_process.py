"""Runs the plots' program beside the station: starts, watches, restarts and ends it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress

from host_bridge.station.server.reserve_ports import is_own_listener
from host_bridge.station.server.server import LOOPBACK
from sim_mock.programs import children

_POLL_S = 0.5  # between two looks at a program that starts
_ASKED_EVERY_S = 1.0
_SILENT_S = 2.0  # a person who looks at plots that stand still wants to know it
_HUNG_S = 10.0  # a busy machine keeps it from answering for some seconds
_AGAIN_S = 2.0  # a program that ends at once takes little of a core
_LONGEST_AGAIN_S = 30.0  # who mends its cause sees it again without a new start of the station
_ASK = b"GET /alive HTTP/1.0\r\nHost: localhost\r\n\r\n"

Tell = Callable[[bool, str], None]


class PlotsProcess:
    """The program of map and plots; ``tell`` gets whether it can be seen, and else why not."""

    def __init__(self, station_port: int, words: Sequence[str], tell: Tell) -> None:
        """``words``: the rest of its command line. It listens at the station's port and one."""
        self._station_port = station_port
        self._port = station_port + 1
        self._words = words
        self._tell = tell

    async def run(self) -> None:
        """Run it until cancelled; start it again when it ends or hangs."""
        again_s = _AGAIN_S
        while True:
            why, was_seen = await self._once()
            again_s = _AGAIN_S if was_seen else min(2 * again_s, _LONGEST_AGAIN_S)
            self._tell(False, f"Plots stopped: {why}. They are started again.")
            await asyncio.sleep(again_s)

    async def _once(self) -> tuple[str, bool]:
        """Run it once; return why that is over, and whether it was ever seen."""
        process = await asyncio.create_subprocess_exec(
            *children.module(
                "host_bridge.station.views.plots_page",
                f"{LOOPBACK}:{self._station_port}",
                str(self._port),
                *self._words,
            ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the station, which then ends it
            # under pytest NiceGUI assumes that it is being tested
            env={name: text for name, text in os.environ.items() if name != "PYTEST_CURRENT_TEST"},
        )
        was_seen = False
        try:
            # Another user's program may hold the port: its page must not be framed
            while process.returncode is None and not (
                await self._answers(_SILENT_S) and is_own_listener(self._port)
            ):
                await asyncio.sleep(_POLL_S)
            was_seen = process.returncode is None
            if was_seen:
                await self._watch(process)
            if process.returncode is None:
                return f"silent for {_HUNG_S:g} s", was_seen
            return f"their program ended, exit code {process.returncode}", was_seen
        finally:
            with suppress(ProcessLookupError):
                process.kill()  # one that hangs hears no other word, and it keeps nothing
            await process.wait()

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        """Return once it has ended or hangs."""
        loop = asyncio.get_running_loop()
        heard_s = loop.time()
        self._tell(True, "")
        while process.returncode is None and loop.time() - heard_s < _HUNG_S:
            if await self._answers(_SILENT_S):
                heard_s = loop.time()
                self._tell(True, "")
            elif process.returncode is None:
                self._tell(True, f"Plots are silent for {loop.time() - heard_s:.0f} s.")
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(process.wait(), _ASKED_EVERY_S)

    async def _answers(self, within_s: float) -> bool:
        try:
            return await asyncio.wait_for(self._ask(), within_s)
        except (OSError, asyncio.TimeoutError):
            return False

    async def _ask(self) -> bool:
        reader, writer = await asyncio.open_connection(LOOPBACK, self._port)
        try:
            writer.write(_ASK)
            return b" 200 " in await reader.readline()
        finally:
            writer.close()
