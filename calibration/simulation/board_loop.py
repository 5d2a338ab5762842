"""The car's own program between commands and outputs: steering limits, speed loop, output stage.

A car with a speed controller is commanded a speed, not a throttle: what its motor gets depends on
what its wheels do. So the twin of such a car runs the very code of its board, on the counts and the
yaw rate of the simulated car. States and stops are left out: a replay begins with a car that may
drive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from firmware.core.motion.drive import Drive
from firmware.core.motion.odometry import Odometry
from firmware.core.motion.outputs import OutputStage
from firmware.core.motion.steering import Steering
from firmware.core.settings.params import Params

# As the program's motion control has it: a brake channel helps a car that is faster than its target
# by more than the first, and is fully on at the second more (firmware/core/motion/motion.py).
_ROLLS_MM_S = 300
_FULL_BRAKE_MM_S = 1_500
_FULL_BRAKE = 255
# Limits of a ramp that lets pass whatever the board's own ramp has put out, which is slower
_FREE_RAMP = {
    "accel_mm_s2": 30_000,
    "decel_mm_s2": 30_000,
    "jerk_mm_s3": 10_000_000,
}
_WRAP_US = 1 << 30  # where a board's clock wraps


class Sensed(Protocol):
    """The readings of a simulated car that its board uses."""

    @property
    def yaw_rate_mrad_s(self) -> int: ...
    def counts(self) -> tuple[int, int]: ...


class BoardLoop:
    """The program of one car, stepped by whoever simulates the car.

    ``is_ramped``: the targets come from the ramp of the car's own program, and need no second one.
    """

    def __init__(self, parameters: Mapping[str, Sequence[int]], *, is_ramped: bool) -> None:
        params = Params()
        free = {name: (value,) for name, value in _FREE_RAMP.items()} if is_ramped else {}
        for name, values in {**parameters, **free}.items():
            place = params.index(name)
            params.values[place : place + len(values)] = list(values)
        self.step_s = params.get("step_us") * 1e-6
        self._step_ms = params.get("step_us") // 1000
        self._speed_max = params.get("speed_max_mm_s")
        self._reverse_max = params.get("reverse_max_mm_s")
        self._odometry, self._drive = Odometry(), Drive()
        self._steering, self._stage = Steering(), OutputStage()
        for part in (self._odometry, self._drive, self._steering, self._stage):
            part.configure(params)
        self._has_brake = self._stage.has_brake()
        self._now_us = 0

    def outputs(
        self, car: Sensed, target_mps: float, steer_rad: float, *, brakes: bool
    ) -> list[int]:
        """Step once and return the value of each channel for the next ``step_s``."""
        left, right = car.counts()
        odometry, drive = self._odometry, self._drive
        odometry.is_driven = drive.effort != 0
        odometry.step(left, right, self._now_us, self._steering.steer_urad, car.yaw_rate_mrad_s)
        speed_mm_s = odometry.speed_mm_s
        self._steering.step(round(steer_rad * 1e6), speed_mm_s, self._step_ms)
        if brakes:
            level = _FULL_BRAKE
            drive.brake(speed_mm_s, True, self._now_us, self._step_ms)
        else:
            target_mm_s = min(max(round(target_mps * 1000.0), -self._reverse_max), self._speed_max)
            drive.follow(target_mm_s, speed_mm_s, self._now_us, self._step_ms)
            level = self._brake_level(speed_mm_s)
        self._stage.step(drive.effort, level, self._steering)
        self._now_us = (self._now_us + self._step_ms * 1000) % _WRAP_US
        return list(self._stage.values)

    def _brake_level(self, speed_mm_s: int) -> int:
        if not self._has_brake:
            return 0
        beyond = abs(speed_mm_s) - abs(self._drive.target_mm_s) - _ROLLS_MM_S
        return min(max(beyond * _FULL_BRAKE // _FULL_BRAKE_MM_S, 0), _FULL_BRAKE)
