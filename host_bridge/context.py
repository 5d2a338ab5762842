"""What commands and makers of transports are handed: time, vehicles, cars.

Commands know neither links nor transports; they ask here for an ``OpenCar``. Who serves the car,
this process or another one, makes no difference to them.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import stat
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host_bridge import config
from host_bridge.clock import MonotonicClock
from host_bridge.domain import CarIdentity, CarStatus, Vehicle
from host_bridge.errors import DeviceFault, UsageFault
from host_bridge.logbook.recorder import Recorder
from host_bridge.open_car import OpenCar, meet
from host_bridge.serve.recognition import recognised
from host_bridge.serve.recording import new_recorder
from host_bridge.serve.service import Service
from host_bridge.transports.base import Transport
from host_bridge.transports.served import ServedCar, served
from host_bridge.transports.uri import Uri, open_transport

if TYPE_CHECKING:
    from host_bridge.driving import View

INTERRUPTED = 130  # as shells count: 128 and the number of SIGINT
LOCAL = "tandem"
_VIRTUAL_SCHEMES = ("sim", "sim+process", "replay", "loopback")
_PSEUDO_TERMINAL_MAJORS = range(136, 144)  # Linux, Documentation/admin-guide/devices.txt
_GLANCE_S = 0.5
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

    def vehicle(self, name: str) -> Vehicle:
        """A type of vehicle, by name or path. Raises errors.VehicleFileFault."""
        if name not in self._vehicles:
            self._vehicles[name] = config.load_vehicle(name)
        return self._vehicles[name]

    def vehicle_names(self) -> tuple[str, ...]:
        return config.vehicle_names()

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
        cars = self.served()
        if text is None:
            if len(cars) != 1:
                raise _which_car(cars)
            return cars[0]
        name = _served_name(text)
        for car in cars:
            if car.name == name or (name is None and _is_same(car.uri, text)):
                return car
        if name is not None:
            raise _not_served(name, cars)
        return None

    def is_virtual(self, text: str) -> bool:
        """Whether no metal can move: only then may a program hold the deadman."""
        car = self.find(text)
        uri = Uri.parse(car.uri if car else text)
        scheme = uri.scheme.removeprefix("lossy+")
        if scheme == "serial":
            return _is_pseudo_terminal(uri.path)
        return scheme in _VIRTUAL_SCHEMES

    def new_epoch(self) -> int:
        """A name for a session that no other has."""
        return secrets.randbelow((1 << 30) - 1) + 1

    async def open_car(
        self,
        text: str | None,
        *,
        epoch: int | None = None,
        name: str | None = None,
        vehicle: str | None = None,
    ) -> OpenCar:
        """A car, met and understood; served by this process if nobody does.

        ``text`` is a name, a URI, or None for the only car that is served. Without an ``epoch``
        the car can be watched and stopped; with one, its link is bound to that session. ``vehicle``
        is what it is said to be; else it is what its configuration or its URI say.
        Raises errors.TandemError.
        """
        car = self.find(text)
        if car is None:
            service = await self.serve(str(text), name=name, vehicle=vehicle)
            return await meet(service.owner.attach(), self, service, epoch, service.car.vehicle)
        known = vehicle or car.vehicle
        transport = self.transport(f"{LOCAL}:///{car.name}")
        return await meet(transport, self, car, epoch, self.vehicle(known) if known else None)

    async def serve(
        self, uri: str, *, name: str | None = None, vehicle: str | None = None
    ) -> Service:
        """Become the owner of a car. Raises errors.TandemError."""
        hint = vehicle or _vehicle_hint(Uri.parse(uri))
        known = self.vehicle(hint) if hint else None

        def recognise(identity: CarIdentity) -> Vehicle | None:
            return known or self.recognised(identity)

        service = Service(uri, self.transport(uri), self.clock, recognise)
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

    def glance(self, name: str) -> CarStatus | None:
        """The latest status of a served car; None if it does not say within a moment."""
        with suppress(DeviceFault, asyncio.TimeoutError):
            return asyncio.run(asyncio.wait_for(self._glance(name), _GLANCE_S))
        return None

    async def _glance(self, name: str) -> CarStatus | None:
        opened = await self.open_car(name)
        try:
            while opened.car.status is None:
                await asyncio.sleep(0.01)
            return opened.car.status
        finally:
            await opened.close()


async def _interruptible(main: Coroutine[Any, Any, int]) -> int:
    task = asyncio.ensure_future(main)
    loop = asyncio.get_running_loop()
    for number in _ENDING_SIGNALS:
        loop.add_signal_handler(number, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        return INTERRUPTED


def _vehicle_hint(uri: Uri) -> str | None:
    if uri.scheme.removeprefix("lossy+").startswith("sim"):
        return None if "blank" in uri.query else uri.authority
    return uri.query.get("vehicle")


def _served_name(text: str) -> str | None:
    """The name in ``nigel`` or ``tandem:///nigel``; None for the URI of a car itself."""
    if "://" not in text:
        return text
    uri = Uri.parse(text)
    return uri.path.removeprefix("/") if uri.scheme == LOCAL and not uri.authority else None


def _is_same(one: str, other: str) -> bool:
    """Whether two URIs mean one car: a serial port has several names."""
    if one == other:
        return True
    uris = Uri.parse(one), Uri.parse(other)
    if any(uri.scheme != "serial" for uri in uris):
        return False
    return os.path.realpath(uris[0].path) == os.path.realpath(uris[1].path)


def _is_pseudo_terminal(device: str) -> bool:
    try:
        status = os.stat(device)
    except OSError:
        return False
    return stat.S_ISCHR(status.st_mode) and os.major(status.st_rdev) in _PSEUDO_TERMINAL_MAJORS


def _which_car(cars: Sequence[ServedCar]) -> UsageFault:
    names = ", ".join(car.name for car in cars)
    return UsageFault(
        "which car?" if cars else "no car is served, and none was named",
        expected=f"one of {names}" if cars else "a name or a URI: serial:///dev/ttyACM0",
        remedy="name it" if cars else "or serve one: tandem serve --car sim://nigel",
    )


def _not_served(name: str, cars: Sequence[ServedCar]) -> DeviceFault:
    names = ", ".join(car.name for car in cars)
    return DeviceFault(
        f"nobody serves a car by the name of {name}",
        expected="a name that tandem cars lists, or a URI",
        got=f"served here: {names or 'no car'}",
        remedy=f"serve it: tandem serve --car serial:///dev/ttyACM0 --name {name}",
    )
