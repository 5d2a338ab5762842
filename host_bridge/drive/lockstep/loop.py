"""The one loop of driving in lockstep: virtual cars whose time advances only by its ticks.

A campaign's cases, ``tandem drive --lockstep`` and the gym drive by it. In each tick of 10 ms the
input is asked, its command is claimed, the drive takes its step, and then all cars run.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from host_bridge.cars.fleet import Fleet
from host_bridge.core import Input, OperatorRequest
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.running import finish_at_once
from host_bridge.drive.control_task import ControlTask
from host_bridge.drive.controls import open_inputs
from host_bridge.drive.drive import Phase
from host_bridge.drive.lockstep.car import EPOCH, LockstepCar
from host_bridge.drive.opening import begin_drive
from host_bridge.drive.options import DriveOptions

_SENDER = "drive"  # its name in the cars' stops: not this machine's, for it is part of the bytes

T = TypeVar("T")


class LockstepDrive:
    """A drive of virtual cars by a computed input, from arming to rest.

    ``tick`` advances all cars by 10 ms. The drive is over when the input or its time has come to
    its end and the cars are at rest and disarmed, or when they stopped.
    """

    def __init__(
        self, cars: Sequence[LockstepCar], chosen: Input, options: DriveOptions | None = None
    ) -> None:
        """Open the input. Raises errors.TandemError, UsageFault if it is not computed."""
        if not chosen.is_computed:
            raise UsageFault(
                f"the input {chosen.source} keeps the time of the world",
                expected="an input that is computed: csv:FILE, path:FILE or script:NAME",
            )
        self.cars = tuple(cars)
        self._requests: list[OperatorRequest] = []  # besides the input's own, for the next tick
        self._clock = cars[0].clock
        options = options or DriveOptions(cars=(), input=chosen, is_lockstep=True)
        self._controls = finish(
            open_inputs(
                options,
                [it.vehicle for it in cars],
                True,
                chosen,
                None,
                self._clock.now_us,
                car_names=[it.car.name for it in cars],
                sensors=lambda: [it.sensors() for it in cars],
            )
        )
        fleet = Fleet([it.car for it in cars], EPOCH)
        self.drive = begin_drive(options, fleet, self._controls, self._clock.now_us(), _SENDER)
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
        requests, self._requests = [*self._requests, *self._controls.requests()], []
        for request in requests:
            self.drive.handle(request, now_us)
        self.control_task.tick(now_us)
        self.drive.step(now_us)
        if self.drive.phase is Phase.STOPPED:
            self.drive.quit(now_us)  # nobody is there to arm again
        for it in self.cars:
            it.step()

    def end(self) -> None:
        """Bring the cars to rest from the next tick on, and end."""
        self._requests.append(OperatorRequest.QUIT)

    def close(self) -> None:
        """Close the input. The cars are their opener's."""
        finish(self._controls.close())


def finish(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that waits for nothing. Raises UsageFault if it waits."""
    return finish_at_once(
        work, UsageFault("in lockstep nothing may wait for the time of the world")
    )
