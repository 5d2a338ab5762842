"""The figures of one car's drive, for the summary."""

from __future__ import annotations

from host_bridge.cars.car import ConnectedCar
from host_bridge.core import CarStatus
from host_bridge.core.board_time import TIME_MASK

_LONGEST_GAP_S = 0.5  # longest time between two statuses that is integrated over


class TripStatistics:
    """One car's distance, top speed and stops. Call ``step`` at least as often as statuses come."""

    def __init__(self, car: ConnectedCar) -> None:
        self.car = car
        self.distance_m = 0.0
        self.top_mps = 0.0
        self.stops: list[str] = []
        self.losses = 0
        self.was_armed = False
        self._before: CarStatus | None = None
        self._was_online = True
        self._is_halted = False

    def step(self) -> None:
        self._watch_link()
        status = self.car.status
        if status is None or status is self._before:
            return
        if self._before:
            self._roll(self._before, status)
        self._watch_state(status)
        self._before = status

    def is_armed(self) -> bool:
        """Return whether its last status says armed and its link is up."""
        status = self.car.status
        return self.car.is_online() and status is not None and status.state.is_armed

    def is_halted(self) -> bool:
        """Return whether its last status says stopped or stopping, and its link is up."""
        status = self.car.status
        return self.car.is_online() and status is not None and status.state.is_halted

    def _roll(self, before: CarStatus, status: CarStatus) -> None:
        span_s = (status.time_us - before.time_us & TIME_MASK) * 1e-6
        if span_s < _LONGEST_GAP_S:
            self.distance_m += abs(status.speed_mps) * span_s
        self.top_mps = max(self.top_mps, abs(status.speed_mps))

    def _watch_state(self, status: CarStatus) -> None:
        """Note the car's stops.

        The text of the newest stop is refreshed, as later events make it more precise.
        """
        if not status.state.is_halted:
            self._is_halted = False
        elif self._is_halted:
            self.stops[-1] = self._why() or self.stops[-1]
        elif self.was_armed:
            self._is_halted = True
            self.stops.append(self._why())
        self.was_armed = status.state.is_armed or (self.was_armed and status.state.is_halted)

    def _why(self) -> str:
        return self.car.why_stopped()

    def _watch_link(self) -> None:
        is_online = self.car.is_online()
        if self._was_online and not is_online:
            self.losses += 1
        self._was_online = is_online
