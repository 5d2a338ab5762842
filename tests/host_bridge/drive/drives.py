"""A test drive: virtual cars with the real program, the host's cars, and virtual time between."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache

from host_bridge.cars.car import ConnectedCar
from host_bridge.cars.fleet import Fleet, FleetRequest
from host_bridge.config import load_vehicle
from host_bridge.core import CarEvent, DriveCommand, Sender, State, Vehicle
from host_bridge.drive.control_task import TICK_US, ControlTask
from host_bridge.drive.controls import Controls
from host_bridge.drive.drive import FleetDrive
from host_bridge.link.protocol import wire
from host_bridge.link.protocol.connection import Connection
from host_bridge.link.protocol.events import LinkEvent
from sim_mock.plant.vehicle_plant import Plant
from sim_mock.world import World
from tests.support.evidence import every

EPOCH = 4711
START_US = 50_000_000  # the host's clock has nothing to do with any board's
STEP_US = 1000
POWERED_US = 1_000_000

Line = Callable[[bytes], bytes]


@lru_cache
def vehicle(name: str = "f1tenth") -> Vehicle:
    return load_vehicle(name)


def whole(data: bytes) -> bytes:
    return data


class Hand:
    """A person at the input: what they do is set by the test."""

    def __init__(self) -> None:
        self.command = DriveCommand()
        self.is_alive = True
        self._count = 0

    def read(self, now_us: int) -> DriveCommand:
        self._count += self.is_alive
        return replace(self.command, input_count=self._count)


class Rig:
    """One virtual car, the wire to it, and the host's car at the other end."""

    def __init__(
        self,
        name: str,
        *,
        board_us: int = 1_000_000,
        phase_us: int = 0,
        own_hash: bytes | None = None,
        epoch: int | None = EPOCH,
        plant: Plant | None = None,
        seed: int = 1,
        of: Vehicle | None = None,
        board: str = "",
    ) -> None:
        of = of or vehicle()
        self.world = World(of, seed, name=name, board=board, plant=plant, start_us=board_us)
        # on for a while already: an ESC wants half a second of neutral before it drives
        self.world.advance(board_us + POWERED_US + phase_us)
        own_hash = wire.own_protocol_hash() if own_hash is None else own_hash
        self.car = ConnectedCar(name, Connection(own_hash, epoch), of)
        self.is_plugged = True
        self.up: Line = whole  # towards the host
        self.down: Line = whole
        self.heard: list[tuple[int, LinkEvent]] = []

    def advance(self, now_us: int) -> None:
        sent = self.world.advance(self.world.now_us + STEP_US)
        if self.is_plugged and sent:
            self._hear(self.car.receive_data(self.up(sent), now_us), now_us)
        self._hear(self.car.step(now_us), now_us)
        self.flush()

    def flush(self) -> None:
        data = self.car.data_to_send()
        if self.is_plugged and data:
            self.world.feed(self.down(data))

    def _hear(self, events: Iterable[LinkEvent], now_us: int) -> None:
        self.heard += [(now_us, event) for event in events]

    def all_of(self, kind: type[LinkEvent]) -> list[LinkEvent]:
        return [event for _, event in self.heard if isinstance(event, kind)]

    def codes(self) -> list[tuple[int, int, int]]:
        return [(e.code, e.a, e.b) for _, e in self.heard if isinstance(e, CarEvent)]


def is_ready(rig: Rig) -> bool:
    status = rig.car.status
    has_started = status is not None and status.state is not State.STARTING
    return has_started and rig.car.connection.clock.is_good()


class Drive:
    """Rigs under one fleet and one session, on one clock."""

    def __init__(self, *rigs: Rig, source: str = "script") -> None:
        self.now_us = START_US
        self.rigs = rigs
        self.hand = Hand()
        self.fleet = Fleet([rig.car for rig in rigs], EPOCH)
        of = rigs[0].car.vehicle or vehicle()
        self.control_task = ControlTask(self.fleet, of.source(source), self.hand.read)
        self.is_host_alive = True
        for rig in rigs:
            rig.car.opened(self.now_us)

    def advance(self, seconds: float) -> None:
        for _ in range(round(seconds * 1e6 / STEP_US)):
            self.now_us += STEP_US
            if self.is_host_alive and self.now_us % TICK_US == 0:
                self.control_task.tick(self.now_us)
                for rig in self.rigs:
                    rig.flush()
            for rig in self.rigs:
                rig.advance(self.now_us)

    def until(self, holds: Callable[[], bool], limit_s: float = 2.0) -> float:
        """Advance until it holds; returns how long that took."""
        for step in range(round(limit_s * 1e6 / STEP_US)):
            if holds():
                return step * STEP_US * 1e-6
            self.advance(STEP_US * 1e-6)
        raise AssertionError(f"not within {limit_s} s")

    def finish(self, request: FleetRequest) -> FleetRequest:
        self.until(lambda: request.results is not None)
        return request

    def is_in(self, state: State) -> bool:
        return every(rig.car.status and rig.car.status.state is state for rig in self.rigs)

    def bind(self) -> None:
        """Until all is ready to arm."""
        self.until(lambda: every(map(is_ready, self.rigs)), 5.0)

    def arm(self) -> None:
        """From the very beginning to HOLD."""
        self.bind()
        request = self.finish(self.fleet.arm(self.now_us))
        assert request.is_done(), str(request)
        self.until(lambda: self.is_in(State.HOLD))

    def go(self, speed_mps: float = 2.0, steer_rad: float = 0.0) -> None:
        """Hold the deadman in neutral, then drive."""
        self.hand.command = DriveCommand(is_held=True)
        self.until(lambda: self.is_in(State.ACTIVE))
        self.hand.command = DriveCommand(steer_rad, speed_mps, is_held=True)

    def let_go(self) -> None:
        self.hand.command = DriveCommand()

    def stop(self) -> None:
        self.fleet.stop(Sender.SEAT, "somebody", self.now_us)


class DriveOfInputs(Drive):
    """A drive by the host's own phases and inputs, as ``tandem drive`` makes one."""

    LIMIT_S = 6.0  # of virtual time, in which what is waited for has to be so

    def begin(self, controls: Controls, sender_name: str, seconds: float | None = None) -> None:
        self.bind()
        self.drive = FleetDrive(
            self.fleet, controls, self.now_us, sender_name=sender_name, seconds=seconds
        )
        self.control_task = ControlTask(
            self.fleet, controls.source, self.drive.read, controls.guardian
        )

    def before_tick(self) -> None:
        """Whatever the person does within 10 ms."""

    def advance(self, seconds: float) -> None:
        if not hasattr(self, "drive"):
            super().advance(seconds)
            return
        for _ in range(round(seconds * 100)):
            self.before_tick()
            super().advance(0.01)
            self.drive.step(self.now_us)
            for request in self.drive.controls.requests():
                self.drive.handle(request, self.now_us)

    def until(self, holds: Callable[[], bool], limit_s: float | None = None) -> None:
        limit_s = self.LIMIT_S if limit_s is None else limit_s
        for _ in range(round(limit_s * 100)):
            if holds():
                return
            self.advance(0.01)
        statuses = [rig.car.status for rig in self.rigs]
        raise AssertionError(f"not within {limit_s} s: {statuses}, {self.drive.notice}")
