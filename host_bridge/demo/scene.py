"""Who drives the car of part 2, and the truth about it."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from host_bridge.demo.trace import Stop, read_trace, stop_after
from host_bridge.domain import Vehicle
from host_bridge.errors import NotHeldFault
from sim_mock.process import CarProcess

SPEED_MPS = 3.0
NAME = "demo-car"
WAIT_S = 8.0  # for anything that has to happen; the slowest takes some 2 s
_STEADY = 0.97


class Driver:
    """``host_bridge.demo.driver``, or ``pad_driver``, as a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.latest: dict[str, Any] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, device: str, vehicle: str, by_pad: bool) -> Driver:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "host_bridge.demo.pad_driver" if by_pad else "host_bridge.demo.driver",
            f"serial://{device}",
            vehicle,
            str(SPEED_MPS) if by_pad else NAME,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the demo, which then ends its driver in order
        )
        return cls(process)

    async def _read(self) -> None:
        assert self.process.stdout
        while line := await self.process.stdout.readline():
            self.latest = json.loads(line)

    def tell(self, command: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(command.encode() + b"\n")

    async def until(self, condition: Callable[[dict[str, Any]], object]) -> None:
        """Raises NotHeldFault if it does not come true in time."""
        deadline_s = time.monotonic() + WAIT_S
        while not (self.latest and condition(self.latest)):
            if time.monotonic() > deadline_s or self.process.returncode is not None:
                raise NotHeldFault(
                    "the car did not do as it was told",
                    where="demo, part 2",
                    got=json.dumps(self.latest) or "nothing heard",
                    remedy="run it again alone: make demo",
                )
            await asyncio.sleep(0.01)

    async def end(self) -> None:
        if self.process.returncode is None:
            self.tell("quit")
            try:
                await asyncio.wait_for(self.process.wait(), 3.0)
            except asyncio.TimeoutError:
                self.process.kill()
                await self.process.wait()
        self._reading.cancel()


class Scene:
    """The car, whoever drives it, and the truth."""

    def __init__(self, car: CarProcess, trace: Path, vehicle: Vehicle) -> None:
        self.car = car
        self.vehicle = vehicle
        self.driver: Driver | None = None
        self.fault_s = 0.0
        self._has_pad = False
        self.slack_s = 0.0  # granted for what is this machine's fault
        self._trace = trace
        drive = [channel["kind"] != "servo_steering" for channel in vehicle.channels].index(True)
        self._drive_neutral = vehicle.parameters["channel_neutral"][drive]

    @property
    def seat(self) -> Driver:
        assert self.driver
        return self.driver

    async def cruise(self, by_pad: bool) -> None:
        """A driver at the wheel, the car at speed."""
        is_there = self.driver and self.driver.process.returncode is None
        if not is_there or by_pad is not self._has_pad:
            self._has_pad = by_pad
            await self.change_driver()
        seat = self.seat
        await seat.until(lambda s: s["is_known"] and s.get("phase") != "ARMING")
        if seat.latest["state"] not in ("HOLD", "ACTIVE"):
            seat.tell("arm")
        await seat.until(lambda s: s["state"] in ("HOLD", "ACTIVE"))
        seat.tell(f"speed {SPEED_MPS}")
        await seat.until(lambda s: s["speed_mps"] > SPEED_MPS * _STEADY)
        await asyncio.sleep(0.4)

    async def change_driver(self) -> None:
        await self.dismiss()
        self.driver = await Driver.start(self.car.device, self.vehicle.name, self._has_pad)

    async def dismiss(self) -> None:
        if self.driver:
            await self.driver.end()
        self.driver = None

    def now(self) -> None:
        """This is the moment of the fault."""
        self.fault_s = time.monotonic()

    async def stopped(self) -> Stop | None:
        """The stop after the fault, from the plant's own trace."""
        deadline_s = time.monotonic() + WAIT_S
        while time.monotonic() < deadline_s:
            await asyncio.sleep(0.2)
            stop = stop_after(read_trace(self._trace), self.fault_s, self._drive_neutral)
            if stop:
                return stop
        return None
