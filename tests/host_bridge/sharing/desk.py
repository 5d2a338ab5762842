"""An owner on a desk: the car's end of its line in our hand, clients on real sockets."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from host_bridge.core.system.clock import MonotonicClock
from host_bridge.link.transports import loopback
from host_bridge.link.transports.base import Transport
from host_bridge.sharing.owner.owner import Owner
from tests.support import patience

PATIENCE_S = 60.0  # only a failing test waits for it
Result = TypeVar("Result")


@contextmanager
def runtime_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for sockets with a path short enough for one."""
    with tempfile.TemporaryDirectory(prefix="tandem-") as folder:
        monkeypatch.setenv("TANDEM_RUNTIME_DIR", folder)
        monkeypatch.setenv("TANDEM_STOP_DIR", folder)
        yield Path(folder)


class Ear:
    """What an end of a line got to hear."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.data = b""
        self.closed: list[Exception | None] = []

    async def open(self) -> Ear:
        await self.transport.open(self._hear, self.closed.append)
        return self

    def _hear(self, data: bytes) -> None:
        self.data += data


async def until(is_so: Callable[[], bool], within_s: float = PATIENCE_S) -> None:
    """Raises patience.Hang if it does not become so."""

    async def watch() -> None:
        while not is_so():
            await asyncio.sleep(0.002)

    await patience.within(watch(), within_s)


async def owner_and_car() -> tuple[Owner, Ear]:
    """An owner whose line is open, and the car's end of it."""
    ours, cars = loopback.pair("loopback://car")
    owner = Owner(ours, MonotonicClock())
    car = await Ear(cars).open()
    await owner.start()
    return owner, car


def run(test: Coroutine[Any, Any, Result]) -> Result:
    """As asyncio.run, but what goes wrong in a callback fails the test instead of being logged."""
    wrong: list[str] = []

    async def watched() -> Result:
        asyncio.get_running_loop().set_exception_handler(lambda _, it: wrong.append(str(it)))
        return await test

    result = asyncio.run(watched())
    assert not wrong
    return result
