"""Part 2: at speed, one thing after the other goes wrong, and the car stops by itself.

The host is a process that really is killed, stopped or cut off; the car's plant is another process
that outlives it and writes down the truth.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from host_bridge.demo.show import Show
from host_bridge.demo.trace import Stop, read_trace, stop_after
from host_bridge.domain import Vehicle
from host_bridge.errors import NotHeldFault
from sim_mock.process import CarProcess

SPEED_MPS = 3.0
NAME = "demo-car"
_BRAKES_MPS2 = 3.6  # the least that braking has to give, from the first step to standstill
_FADES_S = 0.35  # an ESC's brake fades with the speed: the last decimetre takes its time
_STEP_S = 0.03  # the beat that notices, the beat of the trace, and a beat of slack
_WAIT_S = 8.0
_STEADY = 0.97


@dataclass
class Case:
    """One thing that goes wrong, and what came of it."""

    name: str
    reaction_s: float  # what the design grants from the fault to the brake
    cause: str  # the stop cause the car has to name; "" for none: it holds
    inject: Callable[[Scene], Awaitable[None]]
    after: Callable[[Scene], Awaitable[str]]
    stop: Stop | None = None
    why: str = ""
    notes: list[str] = field(default_factory=list)

    def limits(self, speed_mps: float) -> tuple[float, float]:
        """(s, m) within which it has to stand: the reaction at full speed, then the brake."""
        react_s = self.reaction_s + _STEP_S
        return (
            react_s + speed_mps / _BRAKES_MPS2 + _FADES_S,
            react_s * speed_mps + speed_mps**2 / (2 * _BRAKES_MPS2),
        )


class Driver:
    """``host_bridge.demo.driver`` as a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.latest: dict[str, Any] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, device: str, vehicle: str) -> Driver:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "host_bridge.demo.driver",
            f"serial://{device}",
            vehicle,
            NAME,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
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
        deadline_s = time.monotonic() + _WAIT_S
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
        self._trace = trace

    @property
    def seat(self) -> Driver:
        assert self.driver
        return self.driver

    async def cruise(self) -> None:
        """A driver at the wheel, the car at speed."""
        if self.driver is None or self.driver.process.returncode is not None:
            self.driver = await Driver.start(self.car.device, self.vehicle.name)
        seat = self.driver
        await seat.until(lambda s: s["is_known"])
        if seat.latest["state"] not in ("HOLD", "ACTIVE"):
            seat.tell("arm")
        await seat.until(lambda s: s["state"] in ("HOLD", "ACTIVE"))
        seat.tell(f"speed {SPEED_MPS}")
        await seat.until(lambda s: s["speed_mps"] > SPEED_MPS * _STEADY)
        await asyncio.sleep(0.4)

    def now(self) -> None:
        """This is the moment of the fault."""
        self.fault_s = time.monotonic()

    async def stopped(self) -> Stop | None:
        """The stop after the fault, from the plant's own trace."""
        deadline_s = time.monotonic() + _WAIT_S
        while time.monotonic() < deadline_s:
            await asyncio.sleep(0.2)
            stop = stop_after(read_trace(self._trace), self.fault_s)
            if stop:
                return stop
        return None


# --- what goes wrong


async def _release(scene: Scene) -> None:
    scene.now()
    scene.seat.tell("release")


async def _runstop(scene: Scene) -> None:
    scene.now()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "host_bridge.cli",
        "stop",
        NAME,
        stdout=asyncio.subprocess.DEVNULL,
    )
    await process.wait()


async def _kill(scene: Scene) -> None:
    scene.now()
    scene.seat.process.send_signal(signal.SIGKILL)
    await scene.seat.process.wait()


async def _suspend(scene: Scene) -> None:
    scene.now()
    scene.seat.process.send_signal(signal.SIGSTOP)


async def _unplug(scene: Scene) -> None:
    scene.now()
    scene.car.tell("unplug")


async def _freeze(scene: Scene) -> None:
    scene.now()
    scene.seat.tell("freeze")


async def _burst(scene: Scene) -> None:
    """First a burst that is ridden out, then one that is not."""
    scene.car.tell("deaf 70")
    await asyncio.sleep(0.5)
    if scene.seat.latest["state"] != "ACTIVE":
        raise NotHeldFault("a loss of 70 ms stopped the car", got=str(scene.seat.latest))
    scene.now()
    scene.car.tell("deaf 1000")


# --- and afterwards: each returns a note for the table


async def _drives_on(scene: Scene) -> str:
    held = scene.seat.latest["state"]
    scene.seat.tell("hold")
    await scene.seat.until(lambda s: s["state"] == "ACTIVE" and s["speed_mps"] > 1.0)
    return f"{held}, then held again: drives on"


async def _stays(scene: Scene) -> str:
    await scene.seat.until(lambda s: s["state"] == "STOPPED")
    return "stays STOPPED"


async def _new_host(scene: Scene) -> str:
    await scene.seat.end()
    scene.driver = await Driver.start(scene.car.device, scene.vehicle.name)
    await scene.seat.until(lambda s: s["is_known"] and s["state"] == "STOPPED")
    return "a new host finds it STOPPED"


async def _resume(scene: Scene) -> str:
    scene.seat.process.send_signal(signal.SIGCONT)
    await scene.seat.until(lambda s: s["is_known"] and s["state"] == "STOPPED")
    await asyncio.sleep(0.3)  # it claims again at once: nothing may move
    await scene.seat.until(lambda s: s["state"] == "STOPPED")
    return "resumed and claiming: stays STOPPED"


async def _replug(scene: Scene) -> str:
    await scene.seat.until(lambda s: not s["is_known"])
    begun_s = time.monotonic()
    scene.car.tell("plug")
    await scene.seat.until(lambda s: s["is_known"])
    await scene.seat.until(lambda s: s["state"] == "STOPPED")
    return f"plugged in: telemetry after {time.monotonic() - begun_s:.1f} s, not armed"


async def _rode_out(scene: Scene) -> str:
    await scene.seat.until(lambda s: s["is_known"] and s["state"] == "STOPPED")
    return "70 ms ridden out, 1 s stops"


def cases() -> list[Case]:
    """In the order in which they are shown. Reactions as safety.md, section 3, promises them."""
    return [
        Case("deadman released", 0.02, "", _release, _drives_on),
        Case("tandem stop, second terminal", 0.30, "STOP_REQUEST", _runstop, _stays),
        Case("host killed (kill -9)", 0.13, "SILENCE", _kill, _new_host),
        Case("host suspended (SIGSTOP)", 0.13, "SILENCE", _suspend, _resume),
        Case("cable pulled", 0.13, "SILENCE", _unplug, _replug),
        Case("input frozen", 0.21, "FROZEN_INPUT", _freeze, _stays),
        Case("burst of loss", 0.13, "SILENCE", _burst, _rode_out),
    ]


async def run_case(case: Case, scene: Scene, show: Show) -> None:
    """Cruise, let it go wrong, measure, check."""
    show.live(f"{case.name}: up to {SPEED_MPS} m/s ...")
    await scene.cruise()
    await case.inject(scene)
    case.stop = await scene.stopped()
    case.notes.append(await case.after(scene))
    causes = scene.seat.latest["causes"]
    case.why = scene.seat.latest["why"]
    if case.stop is None:
        show.check(case.name, "it did not stop", "it has to", False)
        return
    most_s, most_m = case.limits(case.stop.from_mps)
    holds = case.stop.seconds <= most_s and case.stop.metres <= most_m
    got = f"{case.stop.metres:.2f} m, {case.stop.seconds * 1000:.0f} ms"
    limit = f"at most {most_m:.2f} m, {most_s * 1000:.0f} ms"
    show.check(case.name, got, limit, holds and (causes[:1] == [case.cause] if case.cause else True))
    show.say(f"        {case.why or case.notes[-1]}")
