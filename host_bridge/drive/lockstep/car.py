"""A virtual car whose time advances only by ticks, with the host's end of its link.

No event loop and no waiting: a tick of 10 ms lasts as long as it takes to compute. The bytes that
the host sends before a tick reach the car's program at the beat at its end, and what the car sends
until then is heard at its end. A bad line (``lossy+sim://``) holds frames back by whole ticks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from host_bridge.cars.car import ConnectedCar
from host_bridge.config import vehicle_word
from host_bridge.core import CarIdentity, Vehicle, VirtualSensors
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.clock import ManualClock
from host_bridge.core.system.running import HeldInterrupts
from host_bridge.drive.control_task import TICK_US
from host_bridge.link.protocol.connection import Connection
from host_bridge.link.protocol.events import LinkEvent
from host_bridge.link.protocol.wire import own_protocol_hash
from host_bridge.link.transports.lossy import PREFIX, WAYS, LossyLine, lines_of, seed_of_line
from host_bridge.link.transports.uri import Uri
from host_bridge.logs.recorder import DOWN, UP, Recorder
from host_bridge.sharing.owner.car_place import place_of
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.virtual_car.config import VirtualCar, vehicle_for, virtual_car_config

EPOCH = 1  # of the host's session: fixed, for it is part of the bytes
_START_US = 1_000_000  # any time but 0, which means "never" in messages


class VehicleFiles(Protocol):
    """The part of host_bridge.sharing.services.Vehicles that loads a vehicle file."""

    def load(self, name: str, changes: Mapping[str, Any] | None = None) -> Vehicle: ...


class LockstepCar:
    """A virtual car with the host's end of its link, in a time of its own.

    ``log`` gets all bytes both ways; whoever sets it closes it. ``send`` is the way of our own
    frames to the car: ``feed``, or an owner that relays other programs' frames as well.
    """

    def __init__(
        self,
        uri: str,
        car: ConnectedCar,
        virtual: VirtualCar,
        lines: tuple[LossyLine, LossyLine] | None = None,
    ) -> None:
        """``lines`` are bad ones to the car and from it."""
        assert car.vehicle is not None, "open_in_lockstep loaded it"
        self.uri = uri
        self.clock = ManualClock(_START_US)
        self.car = car
        self.vehicle = car.vehicle
        self.world = virtual.world
        self.surroundings = virtual.surroundings
        self._sensors: VirtualSensors | None = None
        self.log: Recorder | None = None
        self.observe_bytes: Callable[[bytes], None] | None = None  # all bytes, both ways
        self.hear: Callable[[bytes], None] | None = None  # what the car said, for other programs
        self.send: Callable[[bytes], object] = self.feed
        self.is_line_good = False  # True: what is bad about it waits
        self._lines = lines
        self._is_described = False  # in the log: of which vehicle and board it is
        self._held = HeldInterrupts()
        self.car.is_line_lossy = lines is not None
        self.car.opened(self.clock.now_us())

    def sensors(self) -> VirtualSensors:
        """Return the car's sensors, made when somebody first looks: most drives need none."""
        if self._sensors is None:
            from sim_mock.virtual_car.on_board_sensors import OnBoardSensors
            from sim_mock.virtual_car.surroundings import Surroundings

            self._sensors = OnBoardSensors(self.world, self.surroundings or Surroundings())
        return self._sensors

    def step(self) -> list[LinkEvent]:
        """Make one tick, as a whole: Ctrl-C is obeyed between two of them."""
        with self._held:
            return self._step()

    def step_alone(self) -> None:
        """Make one tick without the host: it sends nothing and hears nothing."""
        with self._held:
            self._advance()

    def reseed(self, seed: int) -> None:
        """Begin all chance of the car and its line anew, from now on."""
        self.world.reseed(seed)
        for way, line in zip(WAYS, self._lines or (), strict=False):
            line.reseed(seed_of_line(seed, way))

    def feed(self, data: bytes) -> None:
        """Put whole frames on the line to the car; they arrive at its next beat."""
        if self.observe_bytes:
            self.observe_bytes(data)
        if self.log:
            self._record(self.log, UP, data)
        if self._lines and not self.is_line_good:
            self._lines[0].pass_(data, self.clock.now_us())
        else:
            self.world.feed(data)

    def _step(self) -> list[LinkEvent]:
        """Deliver sent bytes to the car, advance its time, and take its bytes."""
        data = self.car.data_to_send()
        if data:
            self.send(data)
        heard = self._advance()
        now_us = self.clock.now_us()
        found = self.car.receive_data(heard, now_us) + self.car.step(now_us)
        if self.observe_bytes:
            self.observe_bytes(heard)
        if self.log:
            self._record(self.log, DOWN, heard)
        if self.hear:
            self.hear(heard)
        return found

    def _advance(self) -> bytes:
        if self._lines:
            for frame in self._lines[0].due(self.clock.now_us()):
                self.world.feed(frame)
        self.clock.advance(TICK_US)
        now_us = self.clock.now_us()
        reports = self.world.advance(now_us - _START_US)
        if not self._lines or self.is_line_good:
            return reports
        self._lines[1].pass_(reports, now_us)
        return b"".join(self._lines[1].due(now_us))

    def _record(self, log: Recorder, way: str, data: bytes) -> None:
        if not self._is_described and self.car.identity:
            self._is_described = True
            log.car(self.car.name, self._facts(self.car.identity))
            log.place(self.car.name, self.vehicle, *place_of(self.uri, self.vehicle))
        if data:
            log.frame(self.car.name, way, data, self.clock.now_us())

    def _facts(self, identity: CarIdentity) -> dict[str, str]:
        """Return the metadata by which readers of the log know the car, as an owner's log has."""
        return {
            "uri": self.uri,
            "vehicle": vehicle_word(self.vehicle),
            "board_id": identity.board_id.hex(),
            "config_hash": identity.config_hash.hex(),
        }

    def close(self) -> None:
        """End the car's program."""
        self.world.close()


class _Loaded:
    """A vehicle that is loaded already, for the maker of a virtual car."""

    def __init__(self, vehicle: Vehicle) -> None:
        self._vehicle = vehicle

    def vehicle(self, name: str, changes: Mapping[str, Any] | None = None) -> Vehicle:
        return self._vehicle


def open_in_lockstep(
    files: VehicleFiles, text: str, changes: Mapping[str, Any] | None = None
) -> LockstepCar:
    """Make the virtual car of a ``sim://`` URI; ``changes`` replace values of its vehicle file.

    Raises errors.TandemError.
    """
    outer = Uri.parse(text)
    lines = None
    if outer.scheme == f"{PREFIX}sim":
        *lines, inner = lines_of(outer)
        uri = Uri.parse(inner)
    else:
        uri = outer
    if uri.scheme != "sim":
        raise UsageFault(
            "only a virtual car in this process can run in lockstep",
            where=uri.text,
            expected="sim://VEHICLE, with its options",
            remedy="leave lockstep out to drive it in the time of the world",
        )
    query = dict(uri.query)
    replaced = dict(changes or {})
    try:
        if "step_s" in query:
            replaced["timing.step_s"] = float(query["step_s"])
        vehicle = files.load(uri.place, replaced or None)
        found = vehicle_for(query, uri.place, _Loaded(vehicle))
        config = virtual_car_config(found, query)
        virtual = config.make_car(InProcessRunner)
    except (ValueError, OSError) as error:  # the simulator does not import the host's errors
        raise UsageFault(str(error), where=uri.text) from None
    link = Connection(own_protocol_hash(), epoch=EPOCH)
    car = ConnectedCar(config.car_name or vehicle.name, link, vehicle)
    return LockstepCar(outer.text, car, virtual, (lines[0], lines[1]) if lines else None)
