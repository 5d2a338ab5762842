"""A script's connections to a car: over a link in real time, or in lockstep with a virtual one.

Both have a ``cars.Car``; they differ in how they wait. In lockstep nothing waits: time is the
virtual car's, and advances only while the script waits for something.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from host_bridge.cars.car import ConnectedCar
from host_bridge.core import Vehicle
from host_bridge.core.system.clock import Clock
from host_bridge.core.system.observers import Observers
from host_bridge.drive.lockstep.car import LockstepCar, open_in_lockstep
from host_bridge.link.protocol.events import LinkEvent
from host_bridge.link.transports.lossy import LossyTransport
from host_bridge.logs.recorder import Recorder
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.owner.recording import new_recorder
from host_bridge.sharing.services import Host
from sim_mock.virtual_car.transport import SimTransport
from tandem.sensing import CarSensors


class CarLine(Protocol):
    """The connection to a car, as ``CarDriver`` needs it."""

    car: ConnectedCar
    events: Observers[list[LinkEvent]]

    @property
    def clock(self) -> Clock: ...

    @property
    def vehicle(self) -> Vehicle: ...

    @property
    def is_virtual(self) -> bool: ...

    @property
    def sensors(self) -> CarSensors | None:
        """The sensors of a virtual car of this process; ``why_no_sensors`` if None."""

    @property
    def why_no_sensors(self) -> str: ...

    @property
    def why_lost(self) -> str:
        """The reason why nothing is known of the car now; "" while its link holds."""

    async def until(self, is_so: Callable[[], bool], within_s: float) -> bool:
        """Wait until ``is_so``; return False if it did not become so in time."""

    async def until_us(self, due_us: int) -> None:
        """Wait until this time of ``clock``."""

    async def close(self) -> None: ...


class LiveLine:
    """A car over its link, in real time."""

    def __init__(self, opened: OpenCar, clock: Clock, log: Recorder | None) -> None:
        self.car = opened.car
        self.clock = clock
        self.events = opened.events
        self.sensors = _sensors_of(opened)
        self._opened = opened
        self._log = log

    @property
    def vehicle(self) -> Vehicle:
        return self._opened.vehicle

    @property
    def is_virtual(self) -> bool:
        return self._opened.is_virtual

    @property
    def why_no_sensors(self) -> str:
        owner = self._opened.owner_pid
        return f"process {owner} serves it" if owner else f"it is {self._opened.uri}"

    @property
    def why_lost(self) -> str:
        return self._opened.why_offline

    async def until(self, is_so: Callable[[], bool], within_s: float) -> bool:
        return await self._opened.until(is_so, within_s)

    async def until_us(self, due_us: int) -> None:
        await asyncio.sleep(max(due_us - self.clock.now_us(), 0) * 1e-6)

    async def close(self) -> None:
        await self._opened.close()
        if self._log:
            self._log.close()


def _sensors_of(opened: OpenCar) -> CarSensors | None:
    """Return the sensors of a virtual car whose world is in this process, or None."""
    transport = opened.own_transport
    if isinstance(transport, LossyTransport):
        transport = transport.inner
    if not isinstance(transport, SimTransport):
        return None
    wheelbase_m = opened.vehicle.wheelbase_m
    return CarSensors(opened.name, transport.world, transport.surroundings, wheelbase_m)


async def live(host: Host, uri: str | None, record: Path | None) -> LiveLine:
    """Open a car in real time.

    Raises errors.TandemError.
    """
    clock = host.cars.clock
    log = new_recorder(record, clock) if record else None
    try:
        opened = await host.cars.open(uri, epoch=host.cars.new_epoch())
    except BaseException:
        if log:
            log.close()
        raise
    if log:
        await opened.record(log)
    return LiveLine(opened, clock, log)


class LockstepLine:
    """A virtual car whose time is the script's: a tick of 10 ms lasts as long as it computes."""

    why_lost = why_no_sensors = ""  # there is no link that could be lost
    is_virtual = True

    def __init__(self, stepped: LockstepCar, log: Recorder | None) -> None:
        self.clock = stepped.clock
        self.car = stepped.car
        self.events: Observers[list[LinkEvent]] = Observers()
        self.vehicle = stepped.vehicle
        self.world = stepped.world
        self.sensors = CarSensors(
            stepped.car.name, stepped.world, stepped.surroundings, self.vehicle.wheelbase_m
        )
        self._stepped = stepped
        self._log = log
        stepped.log = log

    async def until(self, is_so: Callable[[], bool], within_s: float) -> bool:
        """Step until ``is_so``, without suspending: the time that passes is computed."""
        give_up_us = self.clock.now_us() + round(within_s * 1e6)
        while not is_so():
            if self.clock.now_us() >= give_up_us:
                return False
            self.step()
        return True

    async def until_us(self, due_us: int) -> None:
        while self.clock.now_us() < due_us:
            self.step()

    def step(self) -> None:
        """Make one tick, as a whole: Ctrl-C is obeyed between two of them."""
        found = self._stepped.step()
        if found:
            self.events.publish(found)

    async def close(self) -> None:
        self._stepped.close()
        if self._log:
            self._log.close()


def in_lockstep(host: Host, text: str | None, record: Path | None) -> LockstepLine:
    """Make the virtual car of a ``sim://`` URI.

    Raises errors.TandemError.
    """
    stepped = open_in_lockstep(host.vehicles, str(text))
    try:
        log = new_recorder(record, stepped.clock) if record else None
    except BaseException:
        stepped.close()
        raise
    return LockstepLine(stepped, log)
