"""The run of part 2: the car, its driver, the stage it runs on, and the ground truth."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from host_bridge.core import Vehicle
from host_bridge.demo.judging.verdict import (
    MachineTiming,
    Ruling,
    ended_by_itself,
    fails,
    stopped_by_itself,
)
from host_bridge.demo.trace import MeasuredStop, TraceReader, stop_after

SPEED_MPS = 3.0  # below the demo car's top speed, and fast enough that its stop is seen
NAME = "demo-car"
# The longest wait for anything, in seconds granted to a computing process; the slowest takes
# some 2 s. So a hang is recognised on any machine, and no wait is endless.
WAIT_S = 5.0
_STEADY = 0.97
_HALTED = ("STOPPING", "STOPPED", "FAULT")
_POLL_S = 0.01
_LOOK_S = 0.2


class DemoDriver(Protocol):
    """A driver: its newest report of the car, and the commands to it."""

    latest: dict[str, Any]

    @property
    def has_ended(self) -> bool: ...

    def tell(self, command: str) -> None: ...

    async def end(self) -> None: ...


class Stage(Protocol):
    """The place where the car runs: in virtual time, or in real time."""

    machine: MachineTiming

    def tell_car(self, command: str) -> None:
        """Send a command of ``sim_mock.programs.car`` to the car."""

    async def start_driver(self, by_pad: bool) -> DemoDriver:
        """Return a new driver."""


class Unmeasured(Exception):
    """Raised when a try ended without a measurement; ``ruling`` is the verdict on that."""

    def __init__(self, ruling: Ruling) -> None:
        super().__init__(ruling.reason)
        self.ruling = ruling


class DemoRun:
    """The car, its driver, and the ground truth. All times are those of the running loop."""

    def __init__(self, stage: Stage, trace: TraceReader, vehicle: Vehicle) -> None:
        self.stage = stage
        self.trace = trace
        self.fault_s = 0.0
        self.slow_start_s = 0.0  # how much longer than allowed this machine starts a program
        self._driver: DemoDriver | None = None
        self._has_pad = False
        drive = [channel["kind"] != "servo_steering" for channel in vehicle.channels].index(True)
        self._drive_neutral = vehicle.parameters["channel_neutral"][drive]

    @property
    def machine(self) -> MachineTiming:
        return self.stage.machine

    @property
    def driver(self) -> DemoDriver:
        assert self._driver
        return self._driver

    @property
    def latest(self) -> dict[str, Any]:
        """The newest report of the car; empty before the first."""
        return self._driver.latest if self._driver else {}

    async def cruise(self, by_pad: bool) -> None:
        """Get a driver at the wheel and the car up to speed. Raises Unmeasured."""
        if self._driver is None or self._driver.has_ended or by_pad is not self._has_pad:
            self._has_pad = by_pad
            await self.change_driver()
        driver = self.driver
        await self.until(
            lambda s: s["is_known"] and s.get("phase") != "ARMING", "a car that is known"
        )
        if driver.latest["state"] not in ("HOLD", "ACTIVE"):
            driver.tell("arm")
        await self.until(lambda s: s["state"] in ("HOLD", "ACTIVE"), "an armed car")
        driver.tell(f"speed {SPEED_MPS}")
        await self._until_fast()
        # longer than a gust of the drive's ramp: it keeps the speed, and did not only pass it
        await asyncio.sleep(0.4)
        await self._until_fast()  # still

    async def _until_fast(self) -> None:
        fast_mps = SPEED_MPS * _STEADY
        await self.until(
            lambda s: s["speed_mps"] > fast_mps or s["state"] in _HALTED, f"{SPEED_MPS:.0f} m/s"
        )
        latest = self.driver.latest
        if latest["state"] in _HALTED:
            why = f"the car stopped while all was well: {latest['why']}"
            raise Unmeasured(stopped_by_itself(self.machine, now_s(), why))

    async def until(self, condition: Callable[[dict[str, Any]], object], what: str) -> None:
        """Wait for a condition on the car's report. Raises Unmeasured: a hang is a FAIL."""
        begun_s = now_s()
        while not (self.latest and condition(self.latest)):
            if self.driver.has_ended:
                why = "whoever drives has ended by itself"
                raise Unmeasured(ended_by_itself(self.machine, begun_s, now_s(), why))
            if self.machine.granted_s(begun_s, now_s()) > WAIT_S:
                why = f"waited {WAIT_S:.0f} s for {what}, last heard: {heard_text(self.latest)}"
                raise Unmeasured(fails(why))
            await asyncio.sleep(_POLL_S)

    async def change_driver(self) -> None:
        await self.dismiss()
        self._driver = await self.stage.start_driver(self._has_pad)

    async def dismiss(self) -> None:
        if self._driver:
            await self._driver.end()
        self._driver = None

    def now(self) -> None:
        """Note this moment as that of the fault."""
        self.fault_s = now_s()

    async def stopped(self) -> MeasuredStop | None:
        """Return the stop after the fault, from the plant's trace; None if none came in time."""
        stop = None
        while stop is None and self.machine.granted_s(self.fault_s, now_s()) <= WAIT_S:
            await asyncio.sleep(_LOOK_S)
            stop = stop_after(self.trace.rows(), self.fault_s, self._drive_neutral)
        return stop

    def has_evidence(self) -> bool:
        """Return whether the trace covers the time before and after the fault."""
        rows = self.trace.rows()
        return bool(rows) and rows[0].monotonic_s <= self.fault_s < rows[-1].monotonic_s


def heard_text(latest: dict[str, Any]) -> str:
    """Return a driver's newest report of its car as a sentence; "nothing" without one."""
    if not latest:
        return "nothing"
    known = "" if latest["is_known"] else "its link is lost; before that "
    why = f": {latest['why']}" if latest["why"] else ""
    return f"{known}it was {latest['word']} at {latest['speed_mps']:.2f} m/s{why}"


def now_s() -> float:
    """Return the running loop's time in s: virtual, or the machine's monotonic one."""
    return asyncio.get_running_loop().time()
