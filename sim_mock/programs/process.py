"""``sim+process://f1tenth?seed=1``: a virtual car as its own process, behind a real serial port.

The firmware runs under MicroPython where there is one; the port is a pseudo-terminal and is opened
by the same code as a real car's. Options as ``sim://``, and
runtime=, one of ``RUNTIMES``.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sim_mock.bodies import trust
from sim_mock.programs import children
from sim_mock.virtual_car.config import VirtualCarConfig, vehicle_for, virtual_car_config
from sim_mock.virtual_car.transport import reported_vehicle

if TYPE_CHECKING:
    from sim_mock.virtual_car.transport import Context, VirtualCarUri

RUNTIMES = ("auto", "micropython", "micropython32", "cpython")
_STARTS_WITHIN_S = 10.0  # a busy machine takes some seconds


class CarProcess:
    """The running program of a virtual car, which takes commands."""

    def __init__(self, process: asyncio.subprocess.Process, ready: dict[str, Any]) -> None:
        self.process = process
        self.device: str = ready["device"]
        self.runtime: str = ready["runtime"]

    def tell(self, command: str) -> None:
        """Send one of the commands of ``sim_mock.programs.car``."""
        if self.process.stdin and not self.process.stdin.is_closing():
            self.process.stdin.write(command.encode() + b"\n")


async def start(config: VirtualCarConfig, runtime: str = "auto", *options: str) -> CarProcess:
    """Start a car's program. Raises RuntimeError with what it printed if it does not come up."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(config.to_json())
        file.flush()
        return await start_program(
            "sim_mock.programs.car", file.name, "--runtime", runtime, *options, *trust.options()
        )


async def start_program(module: str, *arguments: str) -> CarProcess:
    """Start a program that takes commands and prints how to reach it, as ``programs.car`` does.

    Raises RuntimeError with what it printed if it does not come up.
    """
    process = await asyncio.create_subprocess_exec(
        *children.module(module, *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # a signal to the host's group must not reach the car
    )
    line = await _first_line(process)
    if not line:
        printed = (await process.communicate())[1].decode().strip()
        raise RuntimeError(f"the virtual car did not start: {printed}")
    return CarProcess(process, json.loads(line))


async def _first_line(process: asyncio.subprocess.Process) -> bytes:
    """Return the first line; empty if the program ended, or was killed as it printed nothing."""
    assert process.stdout is not None
    try:
        return await asyncio.wait_for(process.stdout.readline(), _STARTS_WITHIN_S)
    except asyncio.TimeoutError:
        process.kill()
        return b""


class ProcessTransport:
    """A transport that starts the car on open; after close the car comes to rest and then ends."""

    is_virtual = True

    def __init__(
        self, uri: VirtualCarUri, config: VirtualCarConfig, runtime: str, context: Context
    ) -> None:
        self.label = uri.text
        self.vehicle = reported_vehicle(uri)
        self.car: CarProcess | None = None
        self._config = config
        self._runtime = runtime
        self._context = context
        self._line: Any = None

    async def open(
        self, on_bytes: Callable[[bytes], None], on_closed: Callable[[Exception | None], None]
    ) -> None:
        if self.car is None:
            self.car = await start(self._config, self._runtime, "--ends-alone")
        self._line = self._context.transport(f"serial://{self.car.device}")
        await self._line.open(on_bytes, on_closed)

    def send(self, data: bytes) -> int:
        return int(self._line.send(data)) if self._line else 0

    def close(self) -> None:
        if self._line:
            self._line.close()
        if self.car and self.car.process.stdin:
            self.car.process.stdin.close()
        self.car = self._line = None


def make(uri: VirtualCarUri, context: Context) -> ProcessTransport:
    """Return the transport of a ``sim+process://`` URI. Raises ValueError for an unknown option."""
    query = dict(uri.query)
    runtime = query.pop("runtime", RUNTIMES[0])
    if runtime not in RUNTIMES:
        raise ValueError(f"no runtime {runtime!r}; there is {', '.join(RUNTIMES)}")
    config = virtual_car_config(vehicle_for(uri.query, uri.place, context), query)
    if config.scene:
        raise ValueError("scene=: cars see each other in one program only: say sim:// for each")
    return ProcessTransport(uri, config, runtime, context)
