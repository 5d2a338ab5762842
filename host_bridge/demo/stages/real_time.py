"""The stage in real time: the car is one process, its driver another."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

from host_bridge.core import Vehicle
from host_bridge.demo.cars.demo_run import NAME, SPEED_MPS, DemoDriver
from host_bridge.demo.judging.verdict import MachineTiming
from sim_mock.programs import children
from sim_mock.programs.process import CarProcess

_ENDS_WITHIN_S = 3.0  # for the program's own end; then it is killed


class DriverProcess:
    """A ``host_bridge.demo.cars.driver``, or ``pad_driver``, as a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.latest: dict[str, Any] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, device: str, vehicle: str, by_pad: bool) -> DriverProcess:
        process = await asyncio.create_subprocess_exec(
            *children.module(
                "host_bridge.demo.cars.pad_driver" if by_pad else "host_bridge.demo.cars.driver",
                f"serial://{device}",
                vehicle,
                str(SPEED_MPS) if by_pad else NAME,
            ),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,  # its end is noticed, and judged
            start_new_session=True,  # Ctrl-C reaches the demo only, which ends its driver in order
        )
        return cls(process)

    async def _read(self) -> None:
        assert self.process.stdout
        while line := await self.process.stdout.readline():
            self.latest = json.loads(line)

    @property
    def has_ended(self) -> bool:
        return self.process.returncode is not None

    def tell(self, command: str) -> None:
        assert self.process.stdin
        if not self.process.stdin.is_closing():
            self.process.stdin.write(command.encode() + b"\n")

    async def end(self) -> None:
        if not self.has_ended:
            self.tell("quit")
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.process.wait(), _ENDS_WITHIN_S)
        if not self.has_ended:  # also if it is suspended
            self.process.kill()
            await self.process.wait()
        self._reading.cancel()


class RealTimeStage:
    """A ``demo_run.Stage`` of processes and a pseudo-terminal, with a latency probe."""

    def __init__(self, car: CarProcess, vehicle: Vehicle, machine: MachineTiming) -> None:
        self.machine = machine
        self._car = car
        self._vehicle = vehicle

    def tell_car(self, command: str) -> None:
        self._car.tell(command)

    async def start_driver(self, by_pad: bool) -> DemoDriver:
        return await DriverProcess.start(self._car.device, self._vehicle.name, by_pad)
