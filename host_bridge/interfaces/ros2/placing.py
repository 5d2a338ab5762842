"""A virtual car is put elsewhere: stopped, taken up when it stands, set down, armed again.

Only a virtual car of this command has the pipe for it; nothing moves a real car but its wheels.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from math import cos, hypot, remainder, sin, tau

from host_bridge.domain import SeenCar, State
from host_bridge.interfaces.ros2.manner import Reply
from host_bridge.logbook.sensor_lines import SensorPipe

NOT_HERE = "only a virtual car that this command began (sim://) is put elsewhere"
_STANDS_MPS = 0.02
_THERE_M, _THERE_RAD = 0.02, 0.02
_PATIENCE_US = 2_000_000
_MOVES = (State.ACTIVE, State.HOLD)
Place = tuple[float, float, float]  # x and y in m, yaw in rad


class Placing:
    """``rear_m`` is how far the car's base_link, which poses are of, is behind its centre."""

    words = ""  # why it was not done, in a sentence

    def __init__(
        self,
        pipe: str,
        sensors: SensorPipe,
        rear_m: float,
        stop: Callable[[], None],
        arm: Callable[[Reply], None],
    ) -> None:
        self._pipe, self._sensors, self._rear_m = pipe, sensors, rear_m
        self._stop, self._arm = stop, arm
        self._wanted: Place | None = None
        self._since_us: int | None = None  # it was set down
        self._is_asked = False  # to stop

    def put(self, place: Place) -> None:
        """Begin; the newest place counts, said again or not."""
        x_m, y_m, yaw_rad = place
        wanted = (
            x_m + self._rear_m * cos(yaw_rad),
            y_m + self._rear_m * sin(yaw_rad),
            yaw_rad,
        )
        if wanted == self._wanted:
            return
        self._wanted = wanted
        self._since_us, self._is_asked, self.words = None, False, ""

    def step(self, car: SeenCar, now_us: int) -> None:
        """Go on as far as the car has come."""
        if self._wanted is None or not car.is_known or car.status is None:
            return
        if self._since_us is None:
            self._take_up(car, self._wanted, now_us)
        elif self._is_there(self._wanted):
            self._wanted = None
            self._arm(self._armed)
        elif now_us - self._since_us > _PATIENCE_US:
            self._wanted = None
            self.words = "It was not put elsewhere: a wall, or another car, is in the way there."

    def _take_up(self, car: SeenCar, wanted: Place, now_us: int) -> None:
        assert car.status is not None, "asked of cars that have said their status"
        if car.status.state in _MOVES:
            if not self._is_asked:
                self._stop()
                self._is_asked = True
        elif abs(car.status.speed_mps) < _STANDS_MPS and self._stands():
            line = json.dumps(dict(zip(("x_m", "y_m", "yaw_rad"), wanted, strict=True)))
            with open(os.open(self._pipe, os.O_WRONLY | os.O_NONBLOCK), "w") as pipe:
                pipe.write(line + "\n")
            self._since_us = now_us

    def _stands(self) -> bool:
        truth = self._sensors.truth
        return truth is not None and hypot(truth.vx_mps, truth.vy_mps) < _STANDS_MPS

    def _is_there(self, wanted: Place) -> bool:
        truth = self._sensors.truth
        if truth is None:
            return False
        off_m = hypot(truth.x_m - wanted[0], truth.y_m - wanted[1])
        return off_m < _THERE_M and abs(remainder(truth.yaw_rad - wanted[2], tau)) < _THERE_RAD

    def _armed(self, is_done: bool, words: str) -> None:
        self.words = "" if is_done else f"It was put elsewhere, and not armed: {words}"
