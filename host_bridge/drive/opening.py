"""The part of the host that driving and following need, and the log that both start."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from host_bridge.logs.recorder import Recorder
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.owner.recording import new_recorder
from host_bridge.sharing.services import Host


async def start_log(
    path: Path | None, host: Host, cars: Sequence[OpenCar], stack: AsyncExitStack
) -> Recorder | None:
    """Start logging all cars' frames to ``path``; it is closed with the stack.

    None without a path.
    """
    if path is None:
        return None
    log = new_recorder(path, host.cars.clock)
    stack.callback(log.close)
    for opened in cars:
        await opened.record(log)
    return log
