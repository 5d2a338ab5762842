"""The virtual twins that a page started: each is ``tandem serve`` of its car's vehicle file."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Collection
from contextlib import suppress
from urllib.parse import quote

from host_bridge.core.errors import INTERRUPTED
from host_bridge.core.system.printable import printable
from host_bridge.station.backend.programs import start_command

MOST = 4  # as many cars as a seat drives
_ENDS_WITHIN_S = 5.0  # for its own end; then it is killed


def twin_uri_of(car: str, place: str, calibration: str, taken: Collection[str]) -> tuple[str, str]:
    """Return the name of a car's twin, which nobody has, and its URI.

    ``place`` is the vehicle file, by name or path; ``calibration`` is empty beside a virtual car.
    """
    numbers = (f"{car}-twin{number if number > 1 else ''}" for number in range(1, len(taken) + 2))
    name = next(it for it in numbers if it not in taken)
    options = {"name": name, "board": name, "calibration": calibration}
    query = "&".join(f"{key}={quote(it, safe='/.')}" for key, it in options.items() if it)
    return name, f"sim://{place}?{query}"


class StartedTwins:
    """The twins of this station, which end with it. ``words`` is why one ended by itself."""

    def __init__(self) -> None:
        self.words = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._processes: list[asyncio.subprocess.Process] = []

    async def start(self, uri: str) -> str:
        """Start a twin; return why not, "" if it is on its way."""
        self._processes = [it for it in self._processes if it.returncode is None]
        if len(self._processes) >= MOST:
            return f"this station has started {MOST} twins already"
        process = await start_command("serve", "--car", uri)
        self._processes.append(process)
        task = asyncio.create_task(self._listen(process))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.words = ""
        return ""

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Read what it complains of, so that its pipe never fills, and keep the end of it."""
        assert process.stderr is not None, "a pipe"
        last = ""
        while line := await process.stderr.readline():
            last = line.decode(errors="replace").strip() or last
        if await process.wait() not in (0, INTERRUPTED):
            self.words = f"the twin ended: {printable(last)}"

    async def close(self) -> None:
        """End all of them, as Ctrl-C does; wait up to 5 s."""
        for it in self._processes:
            with suppress(ProcessLookupError):
                it.send_signal(signal.SIGINT)
        for it in self._processes:
            try:
                await asyncio.wait_for(it.wait(), _ENDS_WITHIN_S)
            except asyncio.TimeoutError:
                it.kill()
                await it.wait()
        self._processes.clear()
