"""The service of a car in lockstep: other programs see it, and stop it, as any car of this machine.

It has the sockets of every owner and says nothing to the car by itself. Their time is that of the
machine, the car's is its own: a stop arrives between two ticks.
"""

from __future__ import annotations

import os
from contextlib import AsyncExitStack
from datetime import datetime, timezone

from host_bridge.config import vehicle_word
from host_bridge.drive.lockstep.car import LockstepCar
from host_bridge.link.transports.base import OnBytes, OnClosed
from host_bridge.sharing.endpoints.endpoint import OwnerEndpoint, local_endpoint
from host_bridge.sharing.endpoints.served import ServedCar, announce, withdraw
from host_bridge.sharing.owner.car_server import untaken
from host_bridge.sharing.owner.owner import Owner
from host_bridge.sharing.owner.taps import tap_endpoint
from host_bridge.sharing.stop.stop_endpoint import StopEndpoint


class _Line:
    """The transport of a car in lockstep: the owner's end of its line."""

    is_virtual = True

    def __init__(self, car: LockstepCar) -> None:
        self.label = car.uri
        self.vehicle: str | None = vehicle_word(car.vehicle)
        self._car = car

    async def open(self, on_bytes: OnBytes, on_closed: OnClosed) -> None:
        self._car.hear = on_bytes

    def send(self, data: bytes) -> int:
        self._car.feed(data)
        return len(data)

    def close(self) -> None:
        self._car.hear, self._car.send = None, self._car.feed


class LockstepService:
    """An asynchronous context in which a car in lockstep is served on this machine."""

    def __init__(self, car: LockstepCar) -> None:
        self._car = car
        self._owner = Owner(_Line(car), car.clock)
        self._leaving = AsyncExitStack()

    async def __aenter__(self) -> None:
        """Let other programs in. Raises errors.TandemError."""
        car = self._car.car
        car.name = untaken(car.name)
        car.cli_name = self._car.uri
        self._owner.verification.confirm()  # its board is in this process
        await self._owner.start()
        self._leaving.callback(self._owner.close)
        ways: tuple[OwnerEndpoint, ...] = (
            local_endpoint(car.name),
            tap_endpoint(car.name),
            StopEndpoint(car.name, "", self._car.uri),
        )
        try:
            for way in ways:
                way.open(self._owner)
                self._leaving.callback(way.close)
            announce(
                ServedCar(
                    car.name,
                    self._car.uri,
                    os.getpid(),
                    vehicle_word(self._car.vehicle),
                    datetime.now(timezone.utc).isoformat(timespec="seconds"),
                    board_id=self._car.world.board_id.hex(),
                )
            )
            self._leaving.callback(withdraw, car.name)
        except BaseException:
            await self._leaving.aclose()
            raise
        self._car.send = self._owner.send

    async def __aexit__(self, *_: object) -> None:
        await self._leaving.aclose()
