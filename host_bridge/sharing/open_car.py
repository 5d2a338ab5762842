"""An open car: a car with a running link to it, as commands use it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol

from host_bridge.cars.car import ConnectedCar
from host_bridge.cars.stop_source_heartbeat import OWNER, StopSourceHeartbeat
from host_bridge.core import CarIdentity, Fault, Vehicle
from host_bridge.core.errors import DeviceFault, TandemError, VehicleFileFault
from host_bridge.core.system.clock import Clock
from host_bridge.core.system.observers import Observers
from host_bridge.link.protocol.connection import Connection
from host_bridge.link.protocol.events import LinkEvent, LinkNoisy, LinkStranger
from host_bridge.link.protocol.runner import Runner
from host_bridge.link.protocol.session_time import SessionTime
from host_bridge.link.protocol.wire import own_protocol_hash
from host_bridge.link.transports.base import Transport
from host_bridge.logs.recorder import Recorder
from host_bridge.sharing.endpoints.naming import is_of_another_host
from host_bridge.sharing.endpoints.served import ServedCar
from host_bridge.sharing.owner.board_verification import RelayedFrames
from host_bridge.sharing.owner.car_server import CarServer, end
from host_bridge.sharing.owner.recording import describe_car, tap_into
from host_bridge.sharing.owner.taps import TapReader, listen_in

_REPLAYED = "replay://"
_TAPPED_S = 1.0  # the wait for a present car's first frame on the tap


class KnownVehicles(Protocol):
    """The part of host_bridge.sharing.services.Vehicles that recognises a car's vehicle type."""

    def recognised(self, identity: CarIdentity) -> Vehicle | None: ...

    def origin(self, identity: CarIdentity) -> str | None: ...

    def expected_hash(self, vehicle: Vehicle, identity: CarIdentity) -> bytes: ...


class OpenCar:
    """A car and the tasks that keep its link; ``events`` publishes what happens until ``close``."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        vehicles: KnownVehicles,
        host: CarServer | ServedCar,
        epoch: int | None,
        session_time: SessionTime | None = None,
    ) -> None:
        self.uri = host.uri
        self.name = host.name
        self.is_served_here = isinstance(host, CarServer)
        self.is_past = host.uri.startswith(_REPLAYED)  # what it says was recorded
        boards = frozenset([bytes.fromhex(host.board_id)] if host.board_id else [])
        link = Connection(
            own_protocol_hash(), epoch, session_time, boards=boards, is_past=self.is_past
        )
        self.car = ConnectedCar(host.name, link)
        self.car.cli_name = host.uri if self.is_served_here else host.name
        self.car.is_afar = is_of_another_host(host.uri)
        if self.is_served_here and not self.car.is_afar:  # then this program is its owner
            self.car.heartbeats.append(StopSourceHeartbeat(self.car, OWNER))
        self.events: Observers[list[LinkEvent]] = Observers()
        self.noise: LinkNoisy | None = None
        self._tap: TapReader | None = None
        self._log: Recorder | None = None  # None if the owner is here: it keeps the log itself
        self._host = host
        self._clock = clock
        self._vehicles = vehicles
        self._runner = Runner(transport, self.car, clock, self._hear)
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Open the transport and start the link. Raises errors.DeviceFault."""
        await self._runner.open()
        self._spawn(self._runner.run())

    async def until(self, is_so: Callable[[], bool], within_s: float) -> bool:
        """Wait until the predicate is true; return False if it was not within ``within_s``."""
        loop = asyncio.get_running_loop()
        give_up_s = loop.time() + within_s
        while not is_so():
            if loop.time() >= give_up_s:
                return False
            await asyncio.sleep(0.005)  # half a step of a car: what it waits for comes with one
        return True

    @property
    def vehicle(self) -> Vehicle:
        """The car's vehicle type. Raises errors.VehicleFileFault if it is not known."""
        if self.car.vehicle is None:
            origin = self._vehicles.origin(self.car.identity) if self.car.identity else None
            raise _other_than_its_file(self, origin) if origin else _unknown_vehicle(self)
        return self.car.vehicle

    @property
    def identity(self) -> CarIdentity:
        """The identity that the car reported; known for any car that ``connect`` has opened."""
        assert self.car.identity is not None, "connect() saw to it"
        return self.car.identity

    @property
    def is_virtual(self) -> bool:
        """True if the car is virtual: only then may a program hold the deadman.

        This is what the board reports of itself. A URI proves nothing, for a pseudo-terminal may
        lead to a real car. A board that runs as hardware in the loop reports it until its reset,
        and its outputs are dead for as long.
        """
        return self.identity.is_virtual

    @property
    def line_fault(self) -> Exception | None:
        """The error that ended the line to the car, as far as this process knows; else None."""
        served_here = self._host if isinstance(self._host, CarServer) else None
        return self._runner.fault or (served_here.owner.line_fault if served_here else None)

    @property
    def why_offline(self) -> str:
        """The reason why the car's reports are stale, and what to do; "" while it is online."""
        return str(self._why_offline() or "")

    @property
    def offline_sentences(self) -> str:
        """The same for people who see beside it which car it is: without the car's address."""
        why = self._why_offline()
        return why.sentences() if isinstance(why, TandemError) else str(why or "")

    def _why_offline(self) -> object:
        if self.car.is_online():
            return None
        reasons = (self.line_fault, self.car.stranger, self.car.mismatch)
        return next(filter(None, reasons), None) or silence_fault(self, "silence")

    @property
    def owner_pid(self) -> int | None:
        """The id of the other process that serves the car; None if this process does."""
        return None if isinstance(self._host, CarServer) else self._host.pid

    @property
    def own_transport(self) -> Transport | None:
        """The transport of a car that this process serves; None if another process does."""
        return self._host.owner.transport if isinstance(self._host, CarServer) else None

    @property
    def guest_cap_mps(self) -> float | None:
        """The cap of the token by which this process reaches a car afar; None without one."""
        cap_mps: float | None = getattr(self.own_transport, "cap_mps", None)
        return cap_mps

    @property
    def onlooking_role(self) -> str:
        """The role of the token by which this process reaches a car afar, if it only watches or
        stops; else ""."""
        role: str = getattr(self.own_transport, "onlooking_role", "")
        return role

    def recognised(self) -> Vehicle | None:
        """Return the vehicle type whose configuration the car reports; None if no file matches."""
        return self._vehicles.recognised(self.identity)

    def assume_vehicle(self, vehicle: Vehicle | None) -> None:
        """Assume this vehicle from now on, and expect the car to hold its configuration."""
        identity = self.car.identity
        self.car.vehicle = vehicle
        self.car.config_hash = (
            self._vehicles.expected_hash(vehicle, identity) if vehicle and identity else None
        )

    async def record(self, log: Recorder) -> None:
        """Log everything from now on in both directions, other clients' frames included.

        The log begins with the car's identity and the events that it still holds. Raises
        errors.DeviceFault.
        """
        if isinstance(self._host, CarServer):
            self._host.record(log)
        else:
            self._tap = tap = await self.listen(tap_into(log, self.name))
            self.describe_in(log)
            self._log = log
            await self.until(lambda: tap.has_heard, _TAPPED_S)  # else the answer is not in the log
        self.car.connection.ask_for_all(self._clock.now_us())

    async def listen(self, tap: Callable[[RelayedFrames], None]) -> TapReader:
        """Hear all frames of the car in both directions, other clients' too, until it is closed.

        Raises errors.DeviceFault.
        """
        line = await listen_in(self.name)
        reader = TapReader(tap)
        self._spawn(line.follow(reader))
        return reader

    def describe_in(self, log: Recorder) -> None:
        """Write into a log which car it is, and where a virtual one began."""
        host = self._host
        vehicle = host.vehicle_name() if isinstance(host, CarServer) else host.vehicle
        describe_car(log, self.car.name, self.car, host.uri, vehicle)

    def has_lost_owner(self) -> bool:
        """Return whether the program that served the car is gone."""
        return not self.is_served_here and self._runner.fault is not None

    @property
    def unlogged_bytes(self) -> int:
        """The number of bytes that our log lacks, because our disk or this process was too slow."""
        return self._tap.lost_bytes if self._tap else 0

    async def close(self) -> None:
        """Close the link. A car that is served here and still armed is stopped."""
        self.events = Observers()  # nobody is told of the closing itself
        for task in self._tasks:
            await end(task)
        if isinstance(self._host, CarServer):
            await self._host.close()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.get_running_loop().create_task(work))

    def _hear(self, events: list[LinkEvent]) -> None:
        for event in events:
            if isinstance(event, LinkNoisy):
                self.noise = event
            elif isinstance(event, LinkStranger) and self._log:
                self._log.note(f"cut here: {self.car.stranger}")
        if events:
            self.events.publish(events)


def silence_fault(opened: OpenCar, got: str) -> TandemError:
    """Return the fault of a car from which nothing comes; ``got`` says what there was instead."""
    remedy = "has the board power, and the firmware on it? is it the right port?"
    if opened.owner_pid:
        remedy += f" does process {opened.owner_pid}, which serves the car, hang?"
    return DeviceFault(
        "nothing comes from the car",
        where=opened.uri,
        got=got,
        remedy=remedy,
    )


def _other_than_its_file(opened: OpenCar, path: str) -> VehicleFileFault:
    is_there = Path(path).is_file()
    write = f"tandem config write {opened.car.cli_name} --vehicle"
    return VehicleFileFault(
        "the vehicle file from which the car was configured "
        + ("has changed since" if is_there else "is gone"),
        where=opened.uri,
        expected=f"{path}, as it was",
        got="another configuration than the car's" if is_there else "no such file",
        remedy=f"{write} {path} gives the car what it says now"
        if is_there
        else f"put it back there, or name it: {write} ./{Path(path).name}",
    )


def _unknown_vehicle(opened: OpenCar) -> VehicleFileFault:
    status, identity = opened.car.status, opened.car.identity
    if status is not None and Fault.CONFIGURATION in status.faults:
        # Advising to write is safe: the board holds no configuration that could be lost.
        return VehicleFileFault(
            "the board holds no configuration, or a damaged one",
            where=opened.uri,
            expected="the configuration of a vehicle",
            got="none that can be read",
            remedy=f"write one to it: tandem config write {opened.car.cli_name} --vehicle NAME",
        )
    return VehicleFileFault(
        "the car's configuration is that of no vehicle file",
        where=opened.uri,
        expected="the configuration of a type that tandem vehicles lists",
        got=f"configuration {identity.config_hash.hex() if identity else 'unknown'}",
        remedy="is it the car that is meant? its board says who it is: tandem identify; the file "
        "of a type of your own is named with --vehicle",
    )
