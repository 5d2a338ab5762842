"""The one loop of driving in lockstep: virtual cars whose time advances only by its ticks.

No event loop and no waiting: a tick of 10 ms lasts as long as it takes to compute. The bytes that
the host sends in a tick reach the car's program at its next beat, and what the cars send until the
next tick is heard in that tick.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from host_bridge.cars.car import Car
from host_bridge.cars.fleet import Fleet
from host_bridge.config import vehicle_word
from host_bridge.core import CarIdentity, Input, Vehicle
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.clock import ManualClock
from host_bridge.core.system.running import HeldInterrupts, finish_at_once
from host_bridge.drive.control_task import TICK_US, ControlTask
from host_bridge.drive.controls import open_inputs
from host_bridge.drive.drive import FleetDrive, Phase
from host_bridge.drive.options import DriveOptions
from host_bridge.link.protocol.connection import Connection
from host_bridge.link.protocol.events import LinkEvent
from host_bridge.link.protocol.wire import own_protocol_hash
from host_bridge.link.transports.uri import Uri
from host_bridge.logs.recorder import DOWN, UP, Recorder
from host_bridge.sharing.owner.car_place import place_of
from host_bridge.sharing.owner.recording import new_recorder
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.virtual_car.config import VirtualCar, vehicle_for, virtual_car_config

EPOCH = 1  # of the host's session: fixed, for it is part of the bytes
_START_US = 1_000_000  # any time but 0, which means "never" in messages

T = TypeVar("T")


class VehicleFiles(Protocol):
    """The part of host_bridge.sharing.services.Vehicles that loads a vehicle file."""

    def load(self, name: str, changes: Mapping[str, Any] | None = None) -> Vehicle: ...


class LockstepCar:
    """A virtual car with the host's end of its link, in a time of its own."""

    def __init__(self, uri: str, car: Car, virtual: VirtualCar, record: Path | None = None) -> None:
        assert car.vehicle is not None, "open_in_lockstep loaded it"
        self.clock = ManualClock(_START_US)
        self.car = car
        self.vehicle = car.vehicle
        self.world = virtual.world
        self.surroundings = virtual.surroundings
        self._uri = uri
        self._log = new_recorder(record, self.clock) if record else None
        self._is_described = False  # in the log: of which vehicle and board it is
        self.observe_bytes: Callable[[bytes], None] | None = None  # all bytes, both ways
        self._held = HeldInterrupts()
        self.car.opened(self.clock.now_us())

    def step(self) -> list[LinkEvent]:
        """Make one tick, as a whole: Ctrl-C is obeyed between two of them."""
        with self._held:
            return self._step()

    def _step(self) -> list[LinkEvent]:
        """Deliver sent bytes to the car, advance its time, and take its bytes."""
        data = self.car.data_to_send()
        if data:
            self.world.feed(data)
        self.clock.advance(TICK_US)
        now_us = self.clock.now_us()
        heard = self.world.advance(now_us - _START_US)
        found = self.car.receive_data(heard, now_us) + self.car.step(now_us)
        if self.observe_bytes:
            self.observe_bytes(data)
            self.observe_bytes(heard)
        if self._log:
            self._record(self._log, data, heard, now_us)
        return found

    def _record(self, log: Recorder, sent: bytes, heard: bytes, now_us: int) -> None:
        if not self._is_described and self.car.identity:
            self._is_described = True
            log.car(self.car.name, self._facts(self.car.identity))
            log.place(self.car.name, self.vehicle, *place_of(self._uri, self.vehicle))
        if sent:
            log.frame(self.car.name, UP, sent, now_us)
        log.frame(self.car.name, DOWN, heard, now_us)

    def _facts(self, identity: CarIdentity) -> dict[str, str]:
        """Return the metadata by which readers of the log know the car, as an owner's log has."""
        return {
            "uri": self._uri,
            "vehicle": vehicle_word(self.vehicle),
            "board_id": identity.board_id.hex(),
            "config_hash": identity.config_hash.hex(),
        }

    def close(self) -> None:
        """End the car's program, and close its log."""
        self.world.close()
        if self._log:
            self._log.close()


class LockstepDrive:
    """A drive of virtual cars by a computed input, from arming to rest.

    ``tick`` advances all cars by 10 ms. The drive is over when the input or its time has come to
    its end and the cars are at rest and disarmed, or when they stopped.
    """

    def __init__(
        self,
        cars: Sequence[LockstepCar],
        chosen: Input,
        *,
        seconds: float | None = None,
        speed_mps: float | None = None,
    ) -> None:
        """Open the input. Raises errors.TandemError, UsageFault if it is not computed."""
        if not chosen.is_computed:
            raise UsageFault(
                f"the input {chosen.source} keeps the time of the world",
                expected="an input that is computed: csv:FILE, path:FILE or script:NAME",
            )
        self.cars = tuple(cars)
        self._clock = cars[0].clock
        options = DriveOptions(
            cars=(), input=chosen, seconds=seconds, speed_mps=speed_mps, is_lockstep=True
        )
        self._controls = finish(
            open_inputs(
                options,
                [it.vehicle for it in cars],
                True,
                chosen,
                None,
                self._clock.now_us,
                car_names=[it.car.name for it in cars],
            )
        )
        fleet = Fleet([it.car for it in cars], EPOCH)
        self.drive = FleetDrive(
            fleet,
            self._controls,
            self._clock.now_us(),
            sender_name=f"drive@{platform.node()}",
            seconds=seconds,
        )
        self.control_task = ControlTask(
            fleet, self._controls.source, self.drive.read, self._controls.guardian
        )

    @property
    def now_us(self) -> int:
        """The time of the host's clock; the cars' own began at 0."""
        return self._clock.now_us()

    def tick(self) -> None:
        """Ask the input, claim, and let all cars run for 10 ms."""
        now_us = self.now_us
        for request in self._controls.requests():
            self.drive.handle(request, now_us)
        self.control_task.tick(now_us)
        self.drive.step(now_us)
        if self.drive.phase is Phase.STOPPED:
            self.drive.quit(now_us)  # nobody is there to arm again
        for it in self.cars:
            it.step()

    def close(self) -> None:
        """Close the input. The cars are their opener's."""
        finish(self._controls.close())


def finish(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that waits for nothing. Raises UsageFault if it waits."""
    return finish_at_once(
        work, UsageFault("in lockstep nothing may wait for the time of the world")
    )


class _Loaded:
    """A vehicle that is loaded already, for the maker of a virtual car."""

    def __init__(self, vehicle: Vehicle) -> None:
        self._vehicle = vehicle

    def vehicle(self, name: str, changes: Mapping[str, Any] | None = None) -> Vehicle:
        return self._vehicle


def open_in_lockstep(
    files: VehicleFiles,
    text: str,
    record: Path | None = None,
    changes: Mapping[str, Any] | None = None,
) -> LockstepCar:
    """Make the virtual car of a ``sim://`` URI; ``changes`` replace values of its vehicle file.

    Raises errors.TandemError.
    """
    uri = Uri.parse(text)
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
    car = Car(config.car_name or vehicle.name, link, vehicle)
    return LockstepCar(uri.text, car, virtual, record)
