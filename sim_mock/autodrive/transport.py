"""``autodrive://:4567?vehicle=nigel``: a virtual car in the AutoDRIVE Simulator.

Options: car (of the simulator: roboracer, opencav, ...; the vehicle's own name unless said),
host (to listen on; 127.0.0.1 unless said), reset=1 (put the car at its start when the simulator
connects), and of ``sim://``: seed, name, blank=1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from sim_mock.autodrive.cars import simulated_car
from sim_mock.autodrive.plant import ExchangedPlant
from sim_mock.autodrive.server import SimulatorServer
from sim_mock.facts import CarFacts, facts_of
from sim_mock.firmware_runner import InProcess
from sim_mock.plant.parameters import PlantParameters
from sim_mock.transport import SimTransport
from sim_mock.world import World

if TYPE_CHECKING:
    from sim_mock.plant.vehicle_plant import Plant
    from sim_mock.transport import Context, Uri

PORT = 4567  # what the simulator asks for unless told otherwise
LOOPBACK = "127.0.0.1"
_OF_SIM = ("seed", "name", "blank")  # a payload or a patch is the simulator's to have
_OWN = ("vehicle", "car", "host", "reset")


class AutodriveTransport(SimTransport):
    """Bytes to and from a world whose plant is in the simulator."""

    def __init__(
        self,
        label: str,
        facts: CarFacts,
        plant: ExchangedPlant,
        place: tuple[str, int],
        now_us: Callable[[], int],
        *,
        resets: bool,
    ) -> None:
        super().__init__(label, world_around(plant, facts), now_us)
        self.server = SimulatorServer(plant, self.car_us, resets=resets)
        self._place = place

    async def open(
        self, on_bytes: Callable[[bytes], None], on_closed: Callable[[Exception | None], None]
    ) -> None:
        """Raises RuntimeError if it cannot listen."""
        try:
            await self.server.open(*self._place)
        except OSError as error:
            host, port = self._place
            raise RuntimeError(
                f"{self.label}: cannot listen on {host} port {port}: {error.strerror or error};"
                " end what listens there (another Tandem, a Devkit script), or take another port"
            ) from None
        await super().open(on_bytes, on_closed)

    def close(self) -> None:
        self.server.close()
        super().close()


def make(uri: Uri, context: Context) -> AutodriveTransport:
    """The transport of an ``autodrive://`` URI. Raises ValueError for what it does not know."""
    query, place = uri.query, (uri.query.get("host", LOOPBACK), port_of(uri.authority))
    _refuse_others(query)
    name = query["vehicle"]
    facts = facts_of(context.vehicle(name), {k: query[k] for k in _OF_SIM if k in query})
    plant = plant_in_simulator(facts, query.get("car", name))
    resets = query.get("reset", "0") not in ("", "0")
    transport = AutodriveTransport(uri.text, facts, plant, place, context.now_us, resets=resets)
    transport.vehicle = name
    return transport


def plant_in_simulator(facts: CarFacts, car: str) -> ExchangedPlant:
    """Raises ValueError for a car that the simulator does not have."""
    table = {**facts.plant, "channels": list(facts.channels)}
    parameters = PlantParameters.from_mapping(table)
    return ExchangedPlant(parameters, facts.seed, simulated_car(car))


def world_around(plant: ExchangedPlant, facts: CarFacts) -> World:
    """A world whose runstop loop is open while the simulator is lost.

    So the car cannot be armed without it, is stopped by its loss at once and for good, and drives
    again only when a person has cleared that.
    """
    world = World(
        facts,
        facts.seed,
        name=facts.car_name or facts.vehicle,
        plant=cast("Plant", plant),  # it offers all of it that a World asks for
        runner=InProcess,
        image=b"" if facts.blank else None,
    )

    def watch(world: World) -> None:
        if world.runstop_closed == plant.is_lost:
            world.runstop_closed = not plant.is_lost

    world.observers.append(watch)
    world.runstop_closed = False
    return world


def port_of(authority: str) -> int:
    """Of ``:4567``; 4567 if there is none. Raises ValueError for anything else, hosts too."""
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
        if key not in (*_OWN, *_OF_SIM):
            known = ", ".join((*_OWN, *_OF_SIM))
            raise ValueError(f"unknown option {key!r} of a car in AutoDRIVE; known are {known}")
    if "vehicle" not in query:
        raise ValueError("which car? autodrive://:4567?vehicle=nigel")
