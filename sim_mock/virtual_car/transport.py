"""``sim://nigel?seed=1``: a virtual car inside this process, by the wall clock.

Its options are those of ``config.QUERY``; README.md has them in a table.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.virtual_car.config import vehicle_for, virtual_car_config
from sim_mock.virtual_car.schedule import RealTimeSchedule

if TYPE_CHECKING:
    from sim_mock.board.stored_image import VehicleSpec
    from sim_mock.virtual_car.surroundings import Surroundings
    from sim_mock.world import World

_LOG = logging.getLogger(__name__)
_SLOW = (
    "%s: its clock lost %.1f s, which may stop it: this machine stood still or is too slow for it;"
    " close what else runs, take a lighter model, or compile it (tandem doctor says how) and set"
    " TANDEM_FAST=1"
)
# The host's share before a beat that is late: a setpoint takes several turns of the event loop.
HOST_TURN_S = 0.001


class VirtualCarUri(Protocol):
    """The parsed URI, as far as a virtual car needs it."""

    @property
    def text(self) -> str: ...
    @property
    def authority(self) -> str: ...
    @property
    def place(self) -> str: ...
    @property
    def query(self) -> dict[str, str]: ...


class Context(Protocol):
    """The services that the opener of a URI provides: a clock, vehicles, and other transports."""

    def now_us(self) -> int: ...
    def vehicle(self, name: str, changes: Mapping[str, Any] | None = None) -> VehicleSpec: ...
    def transport(self, text: str) -> Any: ...


class SimTransport:
    """A transport to a world in this process that is kept in step with the clock."""

    is_virtual = True
    surroundings: Surroundings | None = None

    def __init__(
        self, label: str, world: World, now_us: Callable[[], int], vehicle: str | None = None
    ) -> None:
        self.label = label
        self.vehicle = vehicle
        self.world = world
        self._now_us = now_us
        self._schedule = RealTimeSchedule(world, now_us())
        self._task: asyncio.Task[None] | None = None
        self._on_closed: Callable[[Exception | None], None] | None = None

    async def open(
        self, on_bytes: Callable[[bytes], None], on_closed: Callable[[Exception | None], None]
    ) -> None:
        self._on_closed = on_closed
        self._schedule = RealTimeSchedule(self.world, self._now_us())
        self._task = asyncio.get_running_loop().create_task(self._run(on_bytes))

    def car_us(self) -> int:
        """Return the car's present time."""
        return self._schedule.car_us(self._now_us())

    def send(self, data: bytes) -> int:
        if self._task is None or len(data) > self.world.feed_room:
            return 0
        self.world.feed(data)
        return len(data)

    def close(self) -> None:
        if self._task is None:
            return
        self._task.cancel()
        self._task = None
        self.world.close()
        if self._on_closed:
            self._on_closed(None)

    async def _run(self, on_bytes: Callable[[bytes], None]) -> None:
        has_told = False
        while True:
            wait_us = self._schedule.next_us(self._now_us()) - self._now_us()
            if self._schedule.lost_us and not has_told:
                has_told = True
                _LOG.warning(_SLOW, self.label, self._schedule.lost_us * 1e-6)
            await asyncio.sleep(max(wait_us * 1e-6, HOST_TURN_S))
            sent = self.world.beat(self.car_us())
            self.after_beat()
            if sent:
                on_bytes(sent)

    def after_beat(self) -> None:
        """Run after each beat; for a subclass."""


def make(uri: VirtualCarUri, context: Context) -> SimTransport:
    """Return the transport of a ``sim://`` URI. Raises ValueError for an unknown option."""
    config = virtual_car_config(vehicle_for(uri.query, uri.place, context), uri.query)
    car = config.make_car(InProcessRunner)
    transport = SimTransport(uri.text, car.world, context.now_us, reported_vehicle(uri))
    transport.surroundings = car.surroundings
    return transport


def reported_vehicle(uri: VirtualCarUri) -> str | None:
    """Return the type of car that a virtual one reports; None for a blank board."""
    return None if "blank" in uri.query else uri.place
