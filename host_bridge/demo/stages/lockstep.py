"""The demo in virtual time: the car's program is a process of its own, and time waits for it.

The same files as on a board, under MicroPython where there is one, take a step through a pipe each
time that the loop's time has come to its control period. Host, twin and plant live in that loop.
So nothing is ever late, a busy machine only takes longer, and every figure is the same each time.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

from host_bridge.demo.cars import driver, pad_driver
from host_bridge.demo.cars.demo_cars import DemoCars
from host_bridge.demo.cars.demo_run import NAME, SPEED_MPS, DemoDriver
from host_bridge.demo.cars.driver import Report
from host_bridge.demo.judging.verdict import MachineTiming, PunctualTiming
from host_bridge.demo.part_one import SEED, VEHICLE
from host_bridge.link.transports.base import Transport
from host_bridge.sharing.services import Cars, Host
from sim_mock.board.firmware_runner import SubprocessRunner
from sim_mock.programs.car import TraceWriter
from sim_mock.virtual_car.config import VirtualCarConfig, virtual_car_config
from sim_mock.virtual_car.transport import SimTransport

_AT_REST_MPS = 0.01  # a wheel's creep is none
_RESTS_WITHIN_US = 10_000_000  # of virtual time: a car that rolls in neutral stands long before
_ENDS_WITHIN_S = 5.0  # of real time, for the drive's own end; then it is cancelled


class DemoLockstepCar(SimTransport):
    """A virtual car that keeps the loop's time; its plant comes to rest before it closes."""

    def __init__(
        self,
        config: VirtualCarConfig,
        command: list[str],
        trace: TraceWriter,
        now_us: Callable[[], int],
    ) -> None:
        def runner(board_id: bytes, image: bytes, seed: int) -> SubprocessRunner:
            return SubprocessRunner(command, board_id, image, seed)

        uri = f"sim://{config.vehicle}?seed={config.seed}&name={config.car_name}"
        super().__init__(uri, config.make_world(runner), now_us, config.vehicle)
        self._trace = trace
        self._deaf_until_us = 0

    def tell(self, command: str) -> None:
        """Perform ``deaf MS`` as ``sim_mock.programs.car``: what is sent to it is lost so long."""
        word, _, ms = command.partition(" ")
        assert word == "deaf", "all else is for a car of the wall"
        self._deaf_until_us = self._now_us() + int(ms) * 1000

    def send(self, data: bytes) -> int:
        return len(data) if self._now_us() < self._deaf_until_us else super().send(data)

    def after_beat(self) -> None:
        begun_us = self._now_us() - self.car_us()
        self._trace.write(self.world, (begun_us + self.world.now_us) * 1e-6)

    def close(self) -> None:
        if self._task:
            self._come_to_rest()
        super().close()

    def _come_to_rest(self) -> None:
        world = self.world
        give_up_us = world.now_us + _RESTS_WITHIN_US
        while abs(world.plant.truth.vx_mps) > _AT_REST_MPS and world.now_us < give_up_us:
            world.beat(world.now_us + world.interval_us)
            self.after_beat()


class _CarsOfStage(Cars):
    """The cars of a host with the loop's time, and the one in lockstep, by its URI."""

    def __init__(self, host: Host, car: DemoLockstepCar | None = None) -> None:
        super().__init__(host.vehicles, host.cars.clock)
        self._car = car

    def transport(self, text: str) -> Transport:
        known = self._car
        return known if known and text == known.label else super().transport(text)

    def new_epoch(self) -> int:
        return 1  # fixed, because it is part of the bytes


class DriverTask:
    """A driver as a task, with the same commands and reports as the driver processes."""

    def __init__(
        self, work: Callable[[asyncio.StreamReader, Report], Coroutine[Any, Any, object]]
    ) -> None:
        self.latest: dict[str, Any] = {}
        self._reader = asyncio.StreamReader()
        self._task = asyncio.create_task(work(self._reader, self._hear))

    def _hear(self, line: dict[str, Any]) -> None:
        self.latest = line

    @property
    def has_ended(self) -> bool:
        return self._task.done()

    def tell(self, command: str) -> None:
        self._reader.feed_data(command.encode() + b"\n")

    async def end(self) -> None:
        """End the driver. Raises errors.TandemError if it failed with one."""
        self.tell("quit")
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._task, _ENDS_WITHIN_S)


class LockstepStage:
    """A ``demo_run.Stage`` in virtual time: each driver gets a new car, at the same start."""

    def __init__(self, host: Host, command: list[str], trace: TraceWriter) -> None:
        """Keep the host, which has the loop's clock; ``command`` runs the firmware."""
        self.machine: MachineTiming = PunctualTiming()
        self.host = dataclasses.replace(host, cars=_CarsOfStage(host))
        self.vehicle = host.vehicles.load(VEHICLE)
        self._command = command
        self._trace = trace
        self._car: DemoLockstepCar | None = None

    def car(self, name: str) -> DemoLockstepCar:
        """Return a new car, at rest at the start."""
        config = virtual_car_config(self.vehicle, {"seed": str(SEED), "name": name})
        return DemoLockstepCar(config, self._command, self._trace, self.host.cars.clock.now_us)

    def tell_car(self, command: str) -> None:
        assert self._car, "somebody drives it"
        self._car.tell(command)

    async def start_driver(self, by_pad: bool) -> DemoDriver:
        self._car = car = self.car(NAME)
        if not by_pad:
            demo_cars = DemoCars(self.host, self.vehicle, {NAME: car})
            return DriverTask(lambda reader, report: driver.drive(demo_cars, reader, report))
        host = dataclasses.replace(self.host, cars=_CarsOfStage(self.host, car))
        at_pad = partial(pad_driver.drive, host, car.label, self.vehicle.name, SPEED_MPS)
        return DriverTask(at_pad)
