"""``autodrive://:4567?vehicle=nigel``: a virtual car in the AutoDRIVE Simulator.

Options: car (of the simulator: roboracer, opencav, ...; the vehicle's own name unless said), slot
(which vehicle of the scene it is: 1 is V1), host (to listen on; 127.0.0.1 unless said), reset=1
(put the car at its start when the simulator connects), wait=SECONDS (the board is switched on once
the simulator is there, so nothing is latched), of the scenery headlights, indicators, time (in
minutes of the day) and weather (0 to 8), and of ``sim://``: seed, name, blank=1.

Several cars of one scene are several URIs with one port: they share its connection.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from sim_mock.autodrive.cars import simulated_car
from sim_mock.autodrive.command import SLOTS, Scenery
from sim_mock.autodrive.exchange import DrivenVehicle
from sim_mock.autodrive.plant import ExchangedPlant
from sim_mock.autodrive.server import SimulatorServer
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.files.numbers import parse_number
from sim_mock.plant.parameters import PlantParameters
from sim_mock.virtual_car.config import VirtualCarConfig, virtual_car_config
from sim_mock.virtual_car.transport import SimTransport
from sim_mock.world import World

if TYPE_CHECKING:
    from sim_mock.plant.vehicle_plant import Plant
    from sim_mock.virtual_car.transport import Context, VirtualCarUri

PORT = 4567  # the simulator's default
LOOPBACK = "127.0.0.1"
_OF_SIM = ("seed", "name", "blank")  # no payload or patch: the simulator has the physics
_OWN = ("vehicle", "car", "host", "reset", "slot", "wait")
_SCENERY = {"time": "Time", "weather": "Weather"}
_LIGHTS = ("headlights", "indicators")
_RESETS = ("", "0", "1")
_LOOK_S = 0.02  # between two looks: two steps of a car
# A simulator in which Connect is pressed retries, and connects soon after the socket listens.
COMES_S = 3.0
_LOG = logging.getLogger(__name__)
# The sockets that cars of one scene share in this program, by host and port.
_SERVERS: dict[tuple[str, int], SimulatorServer] = {}


class AutodriveTransport(SimTransport):
    """A transport to a world whose plant is in the simulator; ``server`` is valid once open."""

    def __init__(
        self,
        label: str,
        config: VirtualCarConfig,
        plant: ExchangedPlant,
        options: ServerOptions,
        now_us: Callable[[], int],
    ) -> None:
        super().__init__(label, world_around(plant, config), now_us)
        self._plant, self._options, self._host_us = plant, options, now_us
        self._notices = NoticeFilter()
        self.server = SimulatorServer(now_us, options.scenery)

    @property
    def fault_text(self) -> str:
        """The reason why the simulator does not drive this car, as a text; "" if it does."""
        return self._plant.fault_text

    async def open(
        self, on_bytes: Callable[[bytes], None], on_closed: Callable[[Exception | None], None]
    ) -> None:
        """Open the socket and wait for the simulator, if asked to.

        Raises RuntimeError if it cannot listen, or if no simulator came in that time.
        """
        self.server = await self._joined()
        self.server.driven[self._options.slot] = DrivenVehicle(
            self._plant, self.car_us, self._options.resets
        )
        try:
            await self._wait()
        except BaseException:
            self._leave()
            raise
        self._notices = NoticeFilter(self._host_us())
        self.world.observers.append(lambda _world: self._tell())
        await super().open(on_bytes, on_closed)

    def close(self) -> None:
        if self._is_joined and (told := self._notices.last(self.fault_text)):
            _LOG.warning("%s: %s", self.label, told)
        self._leave()
        super().close()

    @property
    def _is_joined(self) -> bool:
        own = self.server.driven.get(self._options.slot)
        return own is not None and own.plant is self._plant

    async def _joined(self) -> SimulatorServer:
        """Return the socket of its scene: another car's, or a new one."""
        at = self._options.host, self._options.port
        shared = _SERVERS.get(at) if self._options.port else None
        if shared is None:
            return await self._listening(at)
        if self._options.slot in shared.driven:
            raise RuntimeError(
                f"{self.label}: V{self._options.slot} of the scene at port {self._options.port} is"
                " driven already; say slot=2 for its second vehicle"
            )
        return shared

    async def _listening(self, at: tuple[str, int]) -> SimulatorServer:
        try:
            await self.server.open(*at)
        except OSError as error:
            host, port = at
            raise RuntimeError(
                f"{self.label}: cannot listen on {host} port {port}: {error.strerror or error};"
                " end what listens there (another Tandem, a Devkit script), or take another port"
            ) from None
        if self._options.port:
            _SERVERS[at] = self.server
        return self.server

    async def _wait(self) -> None:
        """Wait until the simulator is heard; its frames carry the plant's time, which is frozen."""
        until_us = self._host_us() + round(self._options.wait_s * 1e6)
        while self._options.wait_s and self._plant.is_lost:
            if self._host_us() >= until_us:
                raise RuntimeError(
                    f"{self.label}: no simulator within {self._options.wait_s:g} s: start it with"
                    f" -ip {self._options.host} -port {self._options.port}, or press Connect in it"
                )
            await asyncio.sleep(_LOOK_S)
        self.world.runstop_closed = not self._plant.is_lost

    def _leave(self) -> None:
        driven = self.server.driven
        if self._is_joined:
            del driven[self._options.slot]
        if not driven:
            _SERVERS.pop((self._options.host, self._options.port), None)
            self.server.close()

    def _tell(self) -> None:
        """Log a new trouble for the user at the terminal."""
        told = self._notices.of(self.fault_text, self._host_us())
        if told:
            _LOG.warning("%s: %s", self.label, told)


class NoticeFilter:
    """A filter that reports each new trouble once; it waits ``COMES_S`` for a first connection."""

    def __init__(self, opened_us: int = 0) -> None:
        self._patient_until_us = opened_us + round(COMES_S * 1e6)
        self._has_fault = self._has_come = self._has_told = False

    def of(self, fault_text: str, now_us: int) -> str:
        """Return the text to report now; "" for nothing."""
        self._has_come = self._has_come or not fault_text
        if not self._has_come and now_us < self._patient_until_us:
            return ""
        is_new = bool(fault_text) and not self._has_fault
        self._has_told = self._has_told or is_new
        self._has_fault = bool(fault_text)
        return fault_text if is_new else ""

    def last(self, fault_text: str) -> str:
        """Return the text to report at the end; "" where it was driven or told before."""
        return "" if self._has_come or self._has_told else fault_text


def make(uri: VirtualCarUri, context: Context) -> AutodriveTransport:
    """Return the transport of an ``autodrive://`` URI. Raises ValueError for an unknown option."""
    query = uri.query
    _refuse_others(query)
    name = query["vehicle"]
    config = virtual_car_config(context.vehicle(name), {k: query[k] for k in _OF_SIM if k in query})
    plant = plant_in_simulator(config, query.get("car", name))
    options = server_options(query, port_of(uri.authority))
    transport = AutodriveTransport(uri.text, config, plant, options, context.now_us)
    transport.vehicle = name
    return transport


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The address where the simulator connects, and the car's role in its scene."""

    host: str = LOOPBACK
    port: int = PORT
    slot: int = 1
    resets: bool = False
    wait_s: float = 0.0
    scenery: Scenery = field(default_factory=Scenery)


def server_options(query: Mapping[str, str], port: int) -> ServerOptions:
    """Return the options of a query. Raises ValueError naming the option that is wrong."""
    sky = {key: _whole(query, name) for name, key in _SCENERY.items() if name in query}
    lights = {name: _whole(query, name) for name in _LIGHTS if name in query}
    slot = int(_whole(query, "slot")) if "slot" in query else 1
    if not 1 <= slot <= SLOTS:
        raise ValueError(f"slot={slot}: a scene has vehicles 1 to {SLOTS}")
    resets = query.get("reset", "0")
    if resets not in _RESETS:
        raise ValueError(f"reset={resets!r}: expected 0 or 1")
    scenery = Scenery({}, sky, *(lights.get(name, "0") for name in _LIGHTS))
    return ServerOptions(
        query.get("host", LOOPBACK), port, slot, resets == "1", _wait_s(query), scenery
    )


def _wait_s(query: Mapping[str, str]) -> float:
    wait_s = -1.0
    with suppress(ValueError):
        wait_s = parse_number(query.get("wait", "0"))
    if wait_s < 0.0:
        raise ValueError(f"wait={query['wait']!r}: expected a number of seconds from 0")
    return wait_s


def _whole(query: Mapping[str, str], name: str) -> str:
    if not query[name].isdecimal():
        raise ValueError(f"{name}={query[name]!r}: expected a whole number from 0")
    return query[name]


def plant_in_simulator(config: VirtualCarConfig, car: str) -> ExchangedPlant:
    """Return the plant. Raises ValueError for a car that the simulator does not have."""
    table = {**config.plant, "channels": list(config.channels)}
    parameters = PlantParameters.from_mapping(table)
    return ExchangedPlant(parameters, config.noise_seed, simulated_car(car))


def world_around(plant: ExchangedPlant, config: VirtualCarConfig) -> World:
    """Return a world whose runstop loop opens while the simulator does not drive the car.

    That is while it is lost, in Manual, or paused. So the car cannot be armed without the
    simulator, its loss stops the car at once and latches, and it drives again only when a person
    has cleared that.
    """
    world = World(
        config,
        config.seed,
        name=config.car_name or config.vehicle,
        plant=cast("Plant", plant),  # it has all of the interface that a World uses
        runner=InProcessRunner,
        image=b"" if config.blank else None,
    )

    def watch(world: World) -> None:
        if world.runstop_closed != plant.is_driven:
            world.runstop_closed = plant.is_driven

    world.observers.append(watch)
    world.runstop_closed = False
    return world


def port_of(authority: str) -> int:
    """Return the port in ``:4567``; 4567 if empty. Raises ValueError otherwise, also for a host."""
    host, _, port = authority.rpartition(":")
    if host or (authority and not authority.startswith(":")):
        raise ValueError(f"autodrive://:PORT, not {authority!r}; to listen elsewhere say host=")
    if not port:
        return PORT
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"port {port!r} of an autodrive:// URI: expected 1 to 65535")
    return int(port)


def _refuse_others(query: dict[str, str]) -> None:
    for key in query:
        if key not in (*_OWN, *_SCENERY, *_LIGHTS, *_OF_SIM):
            known = ", ".join((*_OWN, *_SCENERY, *_LIGHTS, *_OF_SIM))
            raise ValueError(f"unknown option {key!r} of a car in AutoDRIVE; known are {known}")
    if "vehicle" not in query:
        raise ValueError("which car? autodrive://:4567?vehicle=nigel")
