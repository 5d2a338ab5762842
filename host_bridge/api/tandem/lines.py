"""A script's connections to a car: over a link in real time, or in lockstep with a virtual one.

Both have a ``cars.Car``; they differ in how they wait. In lockstep nothing waits: time is the
virtual car's, and advances only while the script waits for something.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from host_bridge.cars.car import Car
from host_bridge.config import vehicle_names
from host_bridge.core import CarIdentity, Vehicle
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.clock import Clock, ManualClock
from host_bridge.core.system.observers import Observers
from host_bridge.core.system.running import HeldInterrupts
from host_bridge.link.protocol.connection import Connection
from host_bridge.link.protocol.events import LinkEvent
from host_bridge.link.protocol.wire import own_protocol_hash
from host_bridge.link.transports.lossy import LossyTransport
from host_bridge.link.transports.uri import Uri
from host_bridge.logs.recorder import DOWN, UP, Recorder
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.owner.recording import new_recorder
from host_bridge.sharing.services import Host
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.virtual_car.config import VirtualCar, vehicle_for, virtual_car_config
from sim_mock.virtual_car.transport import SimTransport
from tandem.sensing import CarSensors

TICK_US = 10_000  # a host's claims: 100 a second
_START_US = 1_000_000  # any time but 0, which means "never" in messages


class CarLine(Protocol):
    """The connection to a car, as ``CarDriver`` needs it."""

    car: Car
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

    def __init__(self, uri: str, car: Car, virtual: VirtualCar, record: Path | None) -> None:
        assert car.vehicle is not None, "in_lockstep loaded it"
        self.clock = ManualClock(_START_US)
        self.car = car
        self.events: Observers[list[LinkEvent]] = Observers()
        self.vehicle = car.vehicle
        self.is_virtual = True
        self.world = virtual.world
        self.sensors = CarSensors(
            car.name, virtual.world, virtual.surroundings, self.vehicle.wheelbase_m
        )
        self._uri = uri
        self._log = new_recorder(record, self.clock) if record else None
        self._is_described = False  # in the log: of which vehicle and board it is
        self._held = HeldInterrupts()
        self.car.opened(self.clock.now_us())

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
        with self._held:
            self._step()

    def _step(self) -> None:
        """Deliver sent bytes to the car, advance its time, and take its bytes."""
        data = self.car.data_to_send()
        if data:
            self.world.feed(data)
        self.clock.advance(TICK_US)
        now_us = self.clock.now_us()
        heard = self.world.advance(now_us - _START_US)
        found = self.car.receive_data(heard, now_us) + self.car.step(now_us)
        if self._log:
            self._record(self._log, data, heard, now_us)
        if found:
            self.events.publish(found)

    def _record(self, log: Recorder, sent: bytes, heard: bytes, now_us: int) -> None:
        if not self._is_described and self.car.identity:
            self._is_described = True
            log.car(self.car.name, self._facts(self.car.identity))
        if sent:
            log.frame(self.car.name, UP, sent, now_us)
        log.frame(self.car.name, DOWN, heard, now_us)

    def _facts(self, identity: CarIdentity) -> dict[str, str]:
        """Return the metadata by which readers of the log know the car, as an owner's log has."""
        is_ours = self.vehicle.name in vehicle_names()
        return {
            "uri": self._uri,
            "vehicle": self.vehicle.name if is_ours else self.vehicle.path,
            "board_id": identity.board_id.hex(),
            "config_hash": identity.config_hash.hex(),
        }

    async def close(self) -> None:
        self.world.close()
        if self._log:
            self._log.close()


class _Vehicles:
    """The vehicle files, as the maker of a virtual car asks for them."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def vehicle(self, name: str, changes: Mapping[str, Any] | None = None) -> Vehicle:
        return self._host.vehicles.load(name, changes)


def in_lockstep(host: Host, text: str | None, record: Path | None) -> LockstepLine:
    """Make the virtual car of a ``sim://`` URI.

    Raises errors.TandemError.
    """
    uri = Uri.parse(str(text))
    if uri.scheme != "sim":
        raise UsageFault(
            "only a virtual car in this process can run in lockstep",
            where=uri.text,
            expected="sim://VEHICLE, with its options",
            remedy="leave lockstep=True out to drive it in the time of the world",
        )
    query = dict(uri.query)
    try:
        found = vehicle_for(query, uri.place, _Vehicles(host))
        config = virtual_car_config(found, query)
        virtual = config.make_car(InProcessRunner)
    except (ValueError, OSError) as error:  # the simulator does not import the host's errors
        raise UsageFault(str(error), where=uri.text) from None
    changes = {"timing.step_s": float(query["step_s"])} if "step_s" in query else None
    vehicle = host.vehicles.load(uri.place, changes)
    link = Connection(own_protocol_hash(), epoch=1)
    car = Car(config.car_name or vehicle.name, link, vehicle)
    return LockstepLine(uri.text, car, virtual, record)
