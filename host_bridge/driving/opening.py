"""What driving and following need of the host, and do alike before they begin."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Protocol

from host_bridge.clock import Clock
from host_bridge.link.session_time import SessionTime
from host_bridge.logbook.recorder import Recorder
from host_bridge.open_car import OpenCar


class Context(Protocol):
    """What is needed of the host."""

    @property
    def clock(self) -> Clock: ...

    def new_epoch(self) -> int: ...

    async def open_car(
        self,
        text: str | None,
        *,
        epoch: int | None = None,
        vehicle: str | None = None,
        session_time: SessionTime | None = None,
    ) -> OpenCar: ...

    def recorder(self, path: Path) -> Recorder: ...


async def start_log(
    path: Path | None, context: Context, cars: Sequence[OpenCar], stack: AsyncExitStack
) -> Recorder | None:
    """All cars' frames go to ``path``, closed with the stack; None if there is nothing to keep."""
    if path is None:
        return None
    log = context.recorder(path)
    stack.callback(log.close)
    for opened in cars:
        await opened.record(log)
    return log
