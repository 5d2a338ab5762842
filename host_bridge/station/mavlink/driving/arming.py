"""Arms a car for a station, and knows whether it is armed. No I/O."""

from __future__ import annotations

from dataclasses import dataclass

from host_bridge.cars.actions import ActionRequest
from host_bridge.cars.car import ConnectedCar
from host_bridge.core import OperatorAction

# The statuses that show it come with the next step of the car
_SHOWN_US = 500_000


@dataclass
class Arming:
    """A request to arm that is under way until ``result`` is set; ``why`` says why it failed."""

    actions: list[OperatorAction]
    request: ActionRequest | None = None
    done_us: int | None = None
    result: bool | None = None
    why: str = ""

    def step(self, car: ConnectedCar, now_us: int) -> None:
        if self.result is not None:
            return
        if self.request is not None and self.request.result is None:
            return
        if self.request is not None and self.request.result and not self.request.result.is_done:
            self.result, self.why = False, str(self.request.result)
        elif self.actions:
            self.request = car.request(self.actions.pop(0), now_us)
        else:
            self._see(car, now_us)

    def _see(self, car: ConnectedCar, now_us: int) -> None:
        self.done_us = now_us if self.done_us is None else self.done_us
        if is_armed(car):
            self.result = True
        elif now_us - self.done_us >= _SHOWN_US:
            self.result, self.why = False, f"Armed, and stopped at once. {car.why_stopped()}"


def is_armed(car: ConnectedCar) -> bool:
    """Return whether the car is online and its newest status says armed."""
    return car.is_online() and car.status is not None and car.status.state.is_armed


def needs_clear(car: ConnectedCar) -> bool:
    """Return whether a stop or a fault is latched, or was just now."""
    return car.status is not None and car.status.needs_clear
