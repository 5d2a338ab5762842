"""The demo's cars under one session, driven by a scripted input."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from host_bridge.cars.car import ConnectedCar
from host_bridge.cars.fleet import Fleet, FleetRequest
from host_bridge.core import NEUTRAL_US, DriveCommand, Refusal, State, Vehicle
from host_bridge.core.errors import DeviceFault, RefusedFault
from host_bridge.drive import control_task
from host_bridge.inputs.manoeuvres import Manoeuvre
from host_bridge.link.protocol.connection import Connection
from host_bridge.link.protocol.runner import Runner
from host_bridge.link.protocol.transitions import LinkState
from host_bridge.link.protocol.wire import own_protocol_hash
from host_bridge.link.transports.base import Transport
from host_bridge.logs.recorder import Recorder
from host_bridge.sharing.owner.car_server import CarServer
from host_bridge.sharing.services import Host

SOURCE = "script"  # with a scripted deadman, so for virtual cars only
_POLL_S = 0.01  # a step of a car
_READY_WITHIN_S = 10.0  # neutral for two seconds at most, and a busy machine
_ACTION_WITHIN_S = 3.0  # an action needs two answers; the rest is for a busy machine
# Half a control period and more, but below the 10 ms that a car accepts, so that it may age
_CLOCK_BOUND_US = 6_000
_UNKNOWN_US = 65_535


class ScriptedInput:
    """An input that the demo controls: it holds, lets go, and can freeze."""

    def __init__(self) -> None:
        self.manoeuvre: Manoeuvre | None = None
        self.is_held = False
        self.is_frozen = False
        self.position_s = 0.0
        self._count = 0
        self._held_us: int | None = None
        self._read_us = 0
        self._last = DriveCommand()

    def read(self, now_us: int) -> DriveCommand:
        """Return neutral for a moment after the deadman is held anew, then the manoeuvre.

        The manoeuvre goes on from where it was.
        """
        if self.is_frozen:  # like a gamepad without its radio link: it repeats the last report
            return self._last
        self._count += 1
        if not self.is_held or self.manoeuvre is None:
            self._held_us = None
            self._last = DriveCommand(input_count=self._count)
            return self._last
        self._held_us = now_us if self._held_us is None else self._held_us
        is_driving = now_us - self._held_us >= NEUTRAL_US
        steer_rad, speed_mps = self.manoeuvre.at(self.position_s)
        # advanced by the clock, so that skipped ticks do not change the path
        self.position_s += (now_us - self._read_us) * 1e-6 if is_driving else 0.0
        self._read_us = now_us
        self._last = DriveCommand(
            steer_rad=steer_rad,
            speed_mps=speed_mps if is_driving else 0.0,
            is_held=True,
            input_count=self._count,
        )
        return self._last

    def take(self, manoeuvre: Manoeuvre) -> None:
        """Hold the deadman and begin this manoeuvre."""
        self.manoeuvre, self.position_s = manoeuvre, 0.0
        self.is_held, self.is_frozen = True, False

    def let_go(self) -> None:
        self.is_held = self.is_frozen = False


# Transient refusals, which end by themselves
_PASSING = {Refusal.CLOCK_UNSURE, Refusal.MOVING, Refusal.STATE, Refusal.RELAY}


class DemoCars:
    """One or more cars, each served, under one fleet, one session and one scripted input."""

    def __init__(self, host: Host, vehicle: Vehicle, cars: dict[str, Transport]) -> None:
        self.clock = host.cars.clock
        self.scripted_input = ScriptedInput()
        self.services = {
            name: CarServer(transport.label, transport, self.clock, lambda identity: vehicle)
            for name, transport in cars.items()
        }
        self.vehicle = vehicle
        epoch = host.cars.new_epoch()
        self.cars = {
            name: ConnectedCar(name, Connection(own_protocol_hash(), epoch), vehicle)
            for name in cars
        }
        self.fleet = Fleet(list(self.cars.values()), epoch)
        self.control_task = control_task.ControlTask(
            self.fleet, vehicle.source(SOURCE), self.scripted_input.read
        )
        self._runners = {
            name: Runner(service.owner.attach(), self.cars[name], self.clock)
            for name, service in self.services.items()
        }
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Serve and bind all cars, and begin to claim with the deadman released.

        Raises errors.TandemError.
        """
        for name, runner in self._runners.items():
            await self.services[name].start(name)
            await runner.open()
            self._tasks.append(asyncio.create_task(runner.run()))
        if not await self.until(self._all_ready, _READY_WITHIN_S):
            raise DeviceFault(
                "not all cars of the demo can be armed",
                expected=f"an answer of each within {_READY_WITHIN_S:g} s, and its clock known to "
                f"{_CLOCK_BOUND_US / 1e3:g} ms",
                got="; ".join(map(readiness_text, self.fleet.cars)),
                remedy="tandem doctor looks for the cause",
            )
        self._tasks.append(asyncio.create_task(control_task.run(self.control_task, self.clock)))

    def record(self, log: Recorder) -> None:
        for service in self.services.values():
            service.record(log)

    def _all_ready(self) -> bool:
        """Return whether all cars are bound and know our clock.

        A car refuses claims while its clock is not synchronised, and each synchronises by itself:
        if claims began before, the cars would not accept the same ones.
        """
        return all(
            car.connection.is_bound()
            and car.status
            and (car.connection.clock.bound_us or _UNKNOWN_US) <= _CLOCK_BOUND_US
            for car in self.fleet.cars
        )

    async def arm(self) -> None:
        """Clear what is latched, and arm all. Raises errors.RefusedFault."""
        self.scripted_input.let_go()
        if any(car.status and car.status.causes for car in self.fleet.cars):
            await self._act(self.fleet.clear)
        await self._act(self.fleet.arm)

    async def _act(self, begin: Callable[[int], FleetRequest]) -> None:
        """Perform an action, again while a car is still rolling or changing its state."""
        deadline_us = self.clock.now_us() + int(_ACTION_WITHIN_S * 1e6)
        while True:
            request = await self._finished(begin(self.clock.now_us()))
            if request.is_done():
                return
            refusals = {r for result in request.results or () for r in result.refusals}
            passes = refusals <= _PASSING
            if not passes or self.clock.now_us() > deadline_us:
                raise RefusedFault(str(request))
            await asyncio.sleep(0.1)  # a refusal that passes needs a few steps to pass

    async def _finished(self, request: FleetRequest) -> FleetRequest:
        await self.until(lambda: request.results is not None, _ACTION_WITHIN_S)
        return request

    async def until(self, condition: Callable[[], object], within_s: float) -> bool:
        """Wait for a condition; return False if it did not come in time."""
        deadline_us = self.clock.now_us() + int(within_s * 1e6)
        while not condition():
            if self.clock.now_us() > deadline_us:
                return False
            await asyncio.sleep(_POLL_S)
        return True

    def all_in(self, *states: State) -> bool:
        return all(car.status and car.status.state in states for car in self.fleet.cars)

    async def close(self) -> None:
        """Release the cars; those still armed are stopped."""
        self.scripted_input.let_go()
        for service in self.services.values():
            await service.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def readiness_text(car: ConnectedCar) -> str:
    """Return whether a car is served, answers, and knows our clock, as a sentence."""
    link = car.connection
    if link.state is LinkState.LOST:
        return f"{car.name} is not served any more: its line is closed"
    if not link.is_bound() or not car.status:
        return f"{car.name} is served and did not answer (its link: {link.state.value})"
    if link.clock.bound_us is None:
        return f"{car.name} answers, and its clock is not known yet"
    return f"{car.name} answers, and its clock is known to {link.clock.bound_us / 1e3:g} ms"
