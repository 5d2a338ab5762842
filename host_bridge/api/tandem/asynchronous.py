"""The asyncio API: one car for a script with an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from os import PathLike
from pathlib import Path
from types import TracebackType

from host_bridge.core import CarEvent, CarIdentity, CarMotion, CarStatus, State, Vehicle
from host_bridge.sharing.services import Host, make_host
from tandem.car_driver import CarDriver
from tandem.lines import TICK_US, in_lockstep, live


class AsyncCar:
    """An open car. ``async with`` closes it: at rest and disarmed, or stopped after an error."""

    def __init__(self, driver: CarDriver) -> None:
        self._driver = driver

    # --- its state, as it was last reported

    @property
    def name(self) -> str:
        """Its name."""
        return self._driver.car.name

    @property
    def vehicle(self) -> Vehicle:
        """Its type: sizes, limits, sources."""
        return self._driver.line.vehicle

    @property
    def identity(self) -> CarIdentity | None:
        """The identity that its board reported, or None."""
        return self._driver.car.identity

    @property
    def status(self) -> CarStatus:
        """Its state, stop causes and source in command. Raises TandemError if the car is lost."""
        return self._driver.status

    @property
    def motion(self) -> CarMotion:
        """Wheel counts, odometry, yaw rate, acceleration. Raises TandemError if there is none."""
        return self._driver.motion

    @property
    def state(self) -> State:
        """Its state: STANDBY, HOLD, ACTIVE, STOPPED, ..."""
        return self.status.state

    @property
    def speed_mps(self) -> float:
        """Its measured speed in m/s, forward positive."""
        return self.status.speed_mps

    @property
    def steer_rad(self) -> float:
        """Its steering angle in rad, to the left positive."""
        return self.status.steer_rad

    @property
    def pose(self) -> tuple[float, float, float]:
        """Its dead-reckoned pose: x and y in m, yaw in rad, from where it started."""
        motion = self.motion
        return motion.x_m, motion.y_m, motion.yaw_rad

    @property
    def why_stopped(self) -> str:
        """The reason why it cannot move, as a sentence; "" if it can."""
        return self._driver.car.why_stopped()

    @property
    def now_s(self) -> float:
        """The time of its ticks in s; the origin is arbitrary."""
        return self._driver.line.clock.now_us() * 1e-6

    def on_event(self, tell: Callable[[CarEvent], None]) -> Callable[[], None]:
        """Call ``tell`` with each event that the car reports; return what unsubscribes it."""

        def hear(events: object) -> None:
            for event in events if isinstance(events, list) else ():
                if isinstance(event, CarEvent):
                    tell(event)

        return self._driver.line.events.subscribe(hear)

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

    def drive(
        self, speed_mps: float, steer_rad: float = 0.0, *, brake: float = 0.0, lights: int = 0
    ) -> None:
        """Claim this speed and steering angle once; the claim is valid for one lease.

        The lease is that of the source ``script`` in its vehicle file (0.12 s as a rule): call this
        on every tick. ``brake`` is 0 to 1. Raises StoppedFault with the reason once the car cannot
        be driven any more.
        """
        self._driver.drive(speed_mps, steer_rad, brake, lights)

    def let_go(self) -> None:
        """Release the deadman once: the car brakes and holds for as long as this is called."""
        self._driver.let_go()

    async def ticks(self, seconds: float | None = None) -> AsyncIterator[float]:
        """Yield the time since the first tick in s, a hundred times a second, for ``seconds``."""
        line = self._driver.line
        begun_us = due_us = line.clock.now_us()
        while seconds is None or due_us - begun_us < seconds * 1e6:
            yield (line.clock.now_us() - begun_us) * 1e-6
            due_us = max(due_us + TICK_US, line.clock.now_us() - TICK_US)
            await line.until_us(due_us)

    async def wait(self, seconds: float) -> None:
        """Let time pass without claims: a car that drives stops meanwhile."""
        line = self._driver.line
        await line.until_us(line.clock.now_us() + round(seconds * 1e6))

    # --- closing

    async def close(self) -> None:
        """Release the car; an armed one comes to rest and is disarmed before."""
        try:
            await self._driver.rest()
        finally:
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
        try:
            await self._driver.stop()
        finally:
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
    path = Path(record) if record else None
    line = in_lockstep(host, uri, path) if lockstep else await live(host, uri, path)
    driver = CarDriver(line)
    try:
        await driver.begin()
    except BaseException:
        await asyncio.shield(line.close())
        raise
    return driver
