"""The service for cars that can be reached from here: it finds, serves and opens them."""

from __future__ import annotations

import asyncio
import secrets
import zlib
from dataclasses import replace

from host_bridge.config.store.vehicles import Vehicles
from host_bridge.core import (
    CarIdentity,
    CarMatch,
    CarStatus,
    KnownCar,
    Vehicle,
    another_car_remedy,
    another_car_text,
    compare_cars,
)
from host_bridge.core.errors import AnotherCarFault, DeviceFault, UsageFault, VehicleFileFault
from host_bridge.core.system.clock import Clock
from host_bridge.link.protocol.session_time import SessionTime
from host_bridge.link.transports.base import Transport, TransportContext
from host_bridge.link.transports.uri import open_transport
from host_bridge.sharing.connecting import connect, read_status_once
from host_bridge.sharing.endpoints.choosing import LOCAL, find_served
from host_bridge.sharing.endpoints.naming import as_uri
from host_bridge.sharing.endpoints.served import ServedCar, served
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.owner.car_server import CarServer
from host_bridge.sharing.owner.radio import RadioEndpoint

_READ_STATUS_S = 1.0  # a car on a slow line reports its inputs five times in that
_EPOCHS = (1 << 30) - 1


class Cars:
    """The cars of this machine.

    They are opened alike, whether this process or another serves them.
    """

    def __init__(self, vehicles: Vehicles, clock: Clock) -> None:
        self.clock = clock
        self._vehicles = vehicles
        self._transport_context = TransportContext(clock.now_us, vehicles.load, self.transport)

    def served(self) -> list[ServedCar]:
        """Return the cars whose owners run on this machine. Raises errors.DeviceFault."""
        return served()

    def find(self, text: str | None) -> ServedCar | None:
        """Return the served car of a name or a URI; without a text, the only one that is served.

        None for a URI that nobody serves. Raises errors.UsageFault, errors.DeviceFault.
        """
        return find_served(None if text is None else as_uri(text), self.served())

    def find_board(self, text: str | None) -> ServedCar:
        """Return the served car of a name or a URI, with its board's id known.

        Raises errors.UsageFault, errors.DeviceFault.
        """
        car = self.find(text)
        if car is None or not car.board_id:
            raise UsageFault(
                "this car is not served here, or has not said who it is",
                expected="a name that tandem cars lists",
                got=str(text),
            )
        return car

    def new_epoch(self) -> int:
        """Return a random session id."""
        return secrets.randbelow(_EPOCHS) + 1

    def command_epoch(self, text: str | None) -> int:
        """Return the session id that all short commands to one served car share.

        A car has room for four sessions, and frees a slot after 3 s: a few commands in a row must
        not use them up.
        """
        car = self.find(text)
        if car is None:
            return self.new_epoch()
        return zlib.crc32(f"{car.name} {car.pid} {car.started}".encode()) % _EPOCHS + 1

    def transport(self, text: str) -> Transport:
        """Return the transport of a URI, not yet open. Raises errors.TandemError."""
        try:
            return open_transport(text, self._transport_context)
        except ValueError as error:  # from a virtual car, which does not import our errors
            raise UsageFault(str(error), where=text) from None

    async def open(
        self,
        text: str | None,
        *,
        epoch: int | None = None,
        name: str | None = None,
        vehicle: str | None = None,
        session_time: SessionTime | None = None,
        expected_car: KnownCar | None = None,
    ) -> OpenCar:
        """Open a car and identify it; this process serves it if nobody does.

        ``text`` is a name, a URI or a serial port, or None for the only car that is served.
        Without an ``epoch`` the car can be watched and stopped; with one, its link is bound to
        that session, which runs by our clock or by ``session_time``. ``vehicle`` overrides the
        type that its configuration or its URI say. Another car than the
        ``expected_car`` is refused. Raises errors.TandemError.
        """
        car = self.find(text)
        if car is None:
            service = await self.serve(str(text), name=name, vehicle=vehicle)
            near = service.owner.attach()
            opened = OpenCar(near, self.clock, self._vehicles, service, epoch, session_time)
            return await _as_expected(await connect(opened, service.car.vehicle), expected_car)
        line = self.transport(f"{LOCAL}:///{car.name}")
        opened = OpenCar(line, self.clock, self._vehicles, car, epoch, session_time)
        known = self._vehicles.load(vehicle) if vehicle else self._announced(car)
        return await _as_expected(await connect(opened, known), expected_car)

    def _announced(self, car: ServedCar) -> Vehicle | None:
        """Return the vehicle that a served car's owner names; None if its file is no longer good.

        The car can still be seen and stopped, and so can all others.
        """
        try:
            return self._vehicles.load(car.vehicle) if car.vehicle else None
        except VehicleFileFault:
            return None

    async def serve(
        self,
        uri: str,
        *,
        name: str | None = None,
        vehicle: str | None = None,
        epoch: int | None = None,
        fleet: str = "",
        radio: str | None = None,
        board_id: bytes | None = None,
        listen: str | None = None,
    ) -> CarServer:
        """Become the owner of a car; with an epoch, also its stop source "owner".

        ``radio`` is the URI of the line on which a runstop box is heard, ``listen`` the address of
        this host at which guests are let in and anyone may stop it: ADDRESS or ADDRESS:PORT. The
        board has to be that of ``board_id``, or one that this host keeps by the ``name``; without
        either, any board is served. Raises errors.TandemError.
        """
        uri = as_uri(uri)
        transport = self.transport(uri)
        hint = vehicle or transport.vehicle
        known = self._vehicles.load(hint) if hint else None

        def recognise(identity: CarIdentity) -> Vehicle | None:
            return known or self._vehicles.recognised(identity)

        service = CarServer(uri, transport, self.clock, recognise, epoch)
        service.fleet = fleet
        service.expected_cars = self._expected_cars(name, board_id)
        service.radio = RadioEndpoint(self.transport(radio), self.clock) if radio else None
        if listen is not None:
            from host_bridge.sharing.network.network_endpoint import endpoint_at  # 20 ms to load

            service.network = endpoint_at(
                listen, lambda: service.board_id, lambda: service.name, fleet
            )
        await service.start(name)
        return service

    def _expected_cars(self, name: str | None, board_id: bytes | None) -> tuple[KnownCar, ...]:
        if board_id is not None:
            return (KnownCar(board_id, name or ""),)
        return self._vehicles.cars_named(name) if name else ()

    def read_status_once(self, name: str) -> tuple[CarStatus, float | None] | None:
        """Return a served car's latest status, and for how many s it has been stopped (or None).

        None if it does not report within a second. Raises errors.AnotherCarFault.
        """
        try:
            return asyncio.run(asyncio.wait_for(self._read_status_once(name), _READ_STATUS_S))
        except AnotherCarFault:
            raise
        except (DeviceFault, asyncio.TimeoutError):
            return None

    async def _read_status_once(self, name: str) -> tuple[CarStatus, float | None]:
        return await read_status_once(await self.open(name))


async def _as_expected(opened: OpenCar, expected_car: KnownCar | None) -> OpenCar:
    """Return the car if it is the one meant; else close it and raise errors.AnotherCarFault."""
    seen = replace(opened.car.as_known_car(), name=opened.identity.car_name)
    if expected_car is None or compare_cars(expected_car, seen) is not CarMatch.ANOTHER:
        return opened
    await opened.close()
    raise AnotherCarFault(
        another_car_text(expected_car, seen),
        where=opened.uri,
        remedy=another_car_remedy(expected_car, seen),
    )
