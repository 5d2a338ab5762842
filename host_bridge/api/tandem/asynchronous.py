"""The asyncio API: one car for a script with an event loop."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from os import PathLike
from pathlib import Path
from types import TracebackType

from host_bridge.drive.control_task import TICK_US
from host_bridge.sharing.services import Host, make_host
from tandem.arguments import number, uri_of
from tandem.car_driver import CarDriver
from tandem.car_reports import CarReports
from tandem.lines import in_lockstep, live


class AsyncCar(CarReports):
    """An open car. ``async with`` closes it: at rest and disarmed, or stopped after an error."""

    # --- requests

    async def arm(self, profile: str | None = None) -> None:
        """Arm it, in its vehicle file's profile or in another: track, race, stand.

        Raises StoppedFault with the reasons if it refuses; UsageFault for a real car.
        """
        await self._driver.arm(profile)

    async def clear(self) -> None:
        """Clear a stop whose cause is gone. Raises StoppedFault if it refuses."""
        await self._driver.clear()

    async def disarm(self) -> None:
        """Bring it from HOLD back to STANDBY. Raises StoppedFault if it refuses."""
        await self._driver.disarm()

    async def stop(self) -> None:
        """Stop it at once, until ``clear`` is called. Raises TandemError without an answer."""
        await self._driver.stop()

    async def rest(self) -> None:
        """Release the deadman, wait until the car stands, and disarm it."""
        await self._driver.rest()

    async def reset(self) -> None:
        """Put a virtual car of this script back at its start: at rest, disarmed, no stop latched.

        Hits, laps and ``pose`` begin anew; time goes on. ``arm`` it to drive again. Raises
        UsageFault for any other car, and StoppedFault if a stop cannot be cleared.
        """
        await self._driver.reset()

    def drive(
        self, speed_mps: float, steer_rad: float = 0.0, *, brake: float = 0.0, lights: int = 0
    ) -> None:
        """Claim this speed and steering angle once; the claim is valid for one lease.

        The lease is that of the source ``script`` in its vehicle file (0.12 s as a rule): call this
        on every tick. ``brake`` is 0 to 1. Raises StoppedFault with the reason once the car cannot
        be driven any more, and ArgumentFault for what is no number; what is beyond the car's
        limits is driven at the limit, with a LimitWarning.
        """
        self._driver.tell_limits(speed_mps, steer_rad)
        self._driver.drive(speed_mps, steer_rad, brake, lights)

    def let_go(self) -> None:
        """Release the deadman once: the car brakes and holds for as long as this is called."""
        self._driver.let_go()

    async def ticks(self, seconds: float | None = None) -> AsyncIterator[float]:
        """Yield the time since the first tick in s, a hundred times a second, for ``seconds``."""
        line = self._driver.line
        begun_us = due_us = line.clock.now_us()
        until_s = math.inf if seconds is None else number("seconds", seconds, 0.0, unit="s")
        while due_us - begun_us < until_s * 1e6:
            yield (line.clock.now_us() - begun_us) * 1e-6
            due_us = max(due_us + TICK_US, line.clock.now_us() - TICK_US)
            await line.until_us(due_us)

    async def wait(self, seconds: float) -> None:
        """Let time pass without claims: a car that drives stops meanwhile."""
        line = self._driver.line
        wait_s = number("seconds", seconds, 0.0, unit="s")
        await line.until_us(line.clock.now_us() + round(wait_s * 1e6))

    # --- closing

    async def close(self) -> None:
        """Release the car; an armed one comes to rest and is disarmed before."""
        self._is_open = False
        try:
            await self._driver.rest()
        finally:
            self._driver.end_locating()
            await self._driver.line.close()

    async def __aenter__(self) -> AsyncCar:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None:
            await self.close()
        else:
            await self.abandon()

    async def abandon(self) -> None:
        """Stop the car, and release it."""
        self._is_open = False
        try:
            await self._driver.stop()
        finally:
            self._driver.end_locating()
            await self._driver.line.close()


async def connect(
    uri: str | None = None,
    *,
    lockstep: bool = False,
    record: str | PathLike[str] | None = None,
    host: Host | None = None,
) -> AsyncCar:
    """Open a car for asyncio, by a served name, a URI, or None for the only one served.

    ``lockstep`` runs a virtual car (``sim://``) as fast as it can be computed; its time stands
    still while nobody waits. ``record`` is the path of a new log. Raises TandemError.
    """
    return AsyncCar(await open_driver(host or make_host(), uri, lockstep, record))


async def open_driver(
    host: Host, uri: str | None, lockstep: bool, record: str | PathLike[str] | None
) -> CarDriver:
    """Open a car, and wait until it has reported; return its driver.

    Raises errors.TandemError.
    """
    path, uri = Path(record) if record else None, uri_of(uri)
    line = in_lockstep(host, uri, path) if lockstep else await live(host, uri, path)
    driver = CarDriver(line)
    try:
        await driver.begin()
    except BaseException:
        await asyncio.shield(line.close())
        raise
    return driver
