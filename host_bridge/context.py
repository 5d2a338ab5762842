"""What commands and makers of transports are handed: time, vehicles, cars.

Commands know neither links nor transports; they ask here for an ``OpenCar``. Who serves the car,
this process or another one, makes no difference to them.
"""

from __future__ import annotations

import asyncio
import importlib
import secrets
import signal
import subprocess
import zlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware.core.params import TABLE
from host_bridge import config, pairing, virtual_cars
from host_bridge.clock import MonotonicClock
from host_bridge.config import boards
from host_bridge.configuring import Configurator, Progress, configure, values_for
from host_bridge.doctor import Finding, LocalMachine, examine, rules
from host_bridge.domain import CarIdentity, CarStatus, Vehicle, WiringReport
from host_bridge.errors import DeviceFault, UsageFault
from host_bridge.logbook.recorder import Recorder
from host_bridge.open_car import OpenCar, glanced, meet
from host_bridge.serve.choosing import LOCAL, find_served, vehicle_hint
from host_bridge.serve.radio import RadioRim
from host_bridge.serve.recognition import recognised
from host_bridge.serve.recording import new_recorder
from host_bridge.serve.service import Service
from host_bridge.transports.base import Transport
from host_bridge.transports.serial_port import ports
from host_bridge.transports.served import ServedCar, served
from host_bridge.transports.uri import Uri, open_transport

if TYPE_CHECKING:
    from host_bridge.driving import FollowView, View
    from host_bridge.link.session_time import SessionTime
    from host_bridge.pairing import Pairing

INTERRUPTED = 130  # as shells count: 128 and the number of SIGINT
_GLANCE_S = 1.0  # a slow line says its inputs five times in that
_EPOCHS = (1 << 30) - 1
_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class HostContext:
    """Also the ``Context`` that makers of transports get."""

    def __init__(self) -> None:
        self.clock = MonotonicClock()
        self._vehicles: dict[str, Vehicle] = {}

    def now_us(self) -> int:
        """Monotonic microseconds."""
        return self.clock.now_us()

    def run(self, main: Coroutine[Any, Any, int]) -> int:
        """Run a command's coroutine; Ctrl-C, a hang-up or a polite kill end it in order (130)."""
        return asyncio.run(_interruptible(main))

    # --- vehicles

    def vehicle(self, name: str, changes: Mapping[str, Any] | None = None) -> Vehicle:
        """A type of vehicle, by name or path. Raises errors.VehicleFileFault."""
        if changes:
            return config.load_vehicle(name, changes)
        if name not in self._vehicles:
            self._vehicles[name] = config.load_vehicle(name)
        return self._vehicles[name]

    def vehicle_names(self) -> tuple[str, ...]:
        return config.vehicle_names()

    def wiring_reports(self, board: str | None, wiring: str | None) -> list[WiringReport]:
        """Of all boards and wirings, or of one of each. Raises errors.VehicleFileFault."""
        return boards.check_all(board, wiring)

    # --- cars

    def transport(self, text: str) -> Transport:
        """The transport of a URI, not yet open. Raises errors.TandemError."""
        try:
            return open_transport(text, self)
        except ValueError as error:  # of a virtual car's options: it knows none of our errors
            raise UsageFault(str(error), where=text) from None

    def served(self) -> list[ServedCar]:
        """Whose owners run on this machine. Raises errors.DeviceFault."""
        return served()

    def find(self, text: str | None) -> ServedCar | None:
        """The served car of a name or a URI; with neither, the only one there is.

        None for a URI that nobody serves. Raises errors.UsageFault, errors.DeviceFault.
        """
        return find_served(text, self.served())

    def new_epoch(self) -> int:
        """A name for a session that no other has."""
        return secrets.randbelow(_EPOCHS) + 1

    def command_epoch(self, text: str | None) -> int:
        """The session that all short commands to one served car share.

        A car has room for four sessions, and gives a place back after 3 s: a few commands in a
        row must not use them up.
        """
        car = self.find(text)
        if car is None:
            return self.new_epoch()
        return zlib.crc32(f"{car.name} {car.pid} {car.started}".encode()) % _EPOCHS + 1

    async def open_car(
        self,
        text: str | None,
        *,
        epoch: int | None = None,
        name: str | None = None,
        vehicle: str | None = None,
        session_time: SessionTime | None = None,
    ) -> OpenCar:
        """A car, met and understood; served by this process if nobody does.

        ``text`` is a name, a URI, or None for the only car that is served. Without an ``epoch``
        the car can be watched and stopped; with one, its link is bound to that session, which runs
        by our clock or by ``session_time``. ``vehicle`` is what it is said to be; else it is what
        its configuration or its URI say.
        Raises errors.TandemError.
        """
        car = self.find(text)
        if car is None:
            service = await self.serve(str(text), name=name, vehicle=vehicle)
            line = service.owner.attach()
            return await meet(line, self, service, epoch, service.car.vehicle, session_time)
        known = vehicle or car.vehicle
        transport = self.transport(f"{LOCAL}:///{car.name}")
        of = self.vehicle(known) if known else None
        return await meet(transport, self, car, epoch, of, session_time)

    async def serve(
        self,
        uri: str,
        *,
        name: str | None = None,
        vehicle: str | None = None,
        epoch: int | None = None,
        fleet: str = "",
        radio: str | None = None,
    ) -> Service:
        """Become the owner of a car; as a stop source too, if it gets an epoch for that.

        ``radio`` is the URI of the line on which a runstop box is heard.
        Raises errors.TandemError.
        """
        hint = vehicle or vehicle_hint(Uri.parse(uri))
        known = self.vehicle(hint) if hint else None

        def recognise(identity: CarIdentity) -> Vehicle | None:
            return known or self.recognised(identity)

        service = Service(uri, self.transport(uri), self.clock, recognise, epoch)
        service.fleet = fleet
        service.radio = RadioRim(self.transport(radio), self.clock) if radio else None
        await service.start(name)
        return service

    def recognised(self, identity: CarIdentity) -> Vehicle | None:
        """The type of vehicle whose numbers the car reports to hold."""
        return recognised(identity, map(self.vehicle, self.vehicle_names()))

    def recorder(self, path: Path) -> Recorder:
        """A new log for any number of cars; hand it to ``OpenCar.record``, and close it.

        Raises errors.DataFileFault.
        """
        return new_recorder(path, self.clock)

    def drive(self, view: View, **plan: Any) -> int:
        """Drive cars as ``driving.Plan`` says, seen through ``view``. Raises errors.TandemError."""
        from host_bridge.driving import Plan, drive  # with all inputs, which only this needs

        return self.run(drive(Plan(**plan), view, self))

    def follow(self, view: FollowView, **plan: Any) -> int:
        """Let cars follow one that its receiver drives. Raises errors.TandemError."""
        from host_bridge.driving import FollowPlan, follow

        return self.run(follow(FollowPlan(**plan), view, self))

    # --- their configuration

    def configurator(self, opened: OpenCar) -> Configurator:
        """Reads and writes the parameters of an open car."""
        return Configurator(opened)

    def parameter_count(self) -> int:
        return sum(row[2] for row in TABLE)

    def parameter_name(self, index: int) -> str:
        return config.parameter_name(index)

    def parameter_values(self, vehicle: Vehicle, identity: CarIdentity, name: str) -> list[int]:
        """What a car has to hold to be of this type. Raises ValueError for a name too long."""
        return values_for(vehicle, identity, name)

    def config_hash(self, vehicle: Vehicle, identity: CarIdentity, name: str) -> bytes:
        """What a car that holds these values reports."""
        return config.config_hash(vehicle, identity.board_id, name)

    def config_hash_of(self, values: Sequence[int], name: str) -> bytes:
        """The same, of values in the order of the table."""
        return config.values_hash(values, name)

    def by_name(self, values: Sequence[int]) -> dict[str, list[int]]:
        """Values in the order of the table, by parameter."""
        return config.by_name(values)

    async def configure(
        self, opened: OpenCar, vehicle: Vehicle, name: str, progress: Callable[[str], Progress]
    ) -> int:
        """Write, commit, read back; returns how many changed. Raises errors.TandemError."""
        return await configure(opened, vehicle, name, progress)

    async def on_its_board(self, vehicle: Vehicle, opened: OpenCar) -> Vehicle:
        """The vehicle as it is by default on the board of an open car.

        If this host has flashed the board, it knows which; else the beat that the car has tells,
        where it is one that a board of Tandem's gives. Raises errors.TandemError.
        """
        known = self.pairing(opened.identity)
        name = known.flashed.get("board") if known else None
        if name in boards.board_names():
            return boards.on_board(vehicle, boards.load_board(name))
        beat_us = await self.configurator(opened).beat_us()
        longer = boards.on_known_boards(vehicle)
        return next((it for it in longer if it.parameters["step_us"] == [beat_us]), vehicle)

    def pairing(self, identity: CarIdentity) -> Pairing | None:
        """None for a car that this host does not know. Raises errors.DataFileFault."""
        return pairing.load(identity.board_id)

    def new_pairing(self, identity: CarIdentity, name: str, vehicle: str) -> Pairing:
        """With a key of its own; ``keep`` it."""
        return pairing.new_pairing(identity, name, vehicle)

    def pairing_from(self, row: Mapping[str, Any]) -> Pairing:
        """Of a backup. Raises KeyError, TypeError, ValueError."""
        return pairing.from_row(row)

    def keep(self, known: Pairing) -> Path:
        """Remember it, in place of what was known of this board."""
        return pairing.save(known)

    # --- the rest

    def virtual_car_choices(self) -> virtual_cars.Choices:
        """What a virtual car may be told, by name: its tracks and its faults."""
        return virtual_cars.choices()

    def start_virtual_car(
        self, vehicle: str, query: dict[str, str], options: Sequence[str]
    ) -> subprocess.Popen[str]:
        """A virtual car as a program. Raises errors.UsageFault, errors.VehicleFileFault."""
        return virtual_cars.start(self.vehicle(vehicle), query, options)

    def start_virtual_box(self, options: Sequence[str]) -> subprocess.Popen[str]:
        """A virtual runstop box as a program."""
        return virtual_cars.start_box(options)

    def examine(self) -> list[Finding]:
        """What is missing or in the way on this machine."""
        return examine(self._machine())

    def udev_rules(self) -> str:
        return rules(self._machine().serial_group)

    def _machine(self) -> LocalMachine:
        # By name: the bridge knows of no simulator, and works without one.
        find = importlib.import_module("sim_mock.micropython").candidates
        return LocalMachine(ports, find, served)

    def glance(self, name: str) -> tuple[CarStatus, float | None] | None:
        """The latest status of a served car, and for how long it has stood, in s, if it does.

        None if it does not say within a moment.
        """
        with suppress(DeviceFault, asyncio.TimeoutError):
            return asyncio.run(asyncio.wait_for(self._glance(name), _GLANCE_S))
        return None

    async def _glance(self, name: str) -> tuple[CarStatus, float | None]:
        return await glanced(await self.open_car(name))


async def _interruptible(main: Coroutine[Any, Any, int]) -> int:
    task = asyncio.ensure_future(main)
    loop = asyncio.get_running_loop()
    for number in _ENDING_SIGNALS:
        loop.add_signal_handler(number, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        return INTERRUPTED
