"""Commands that come in two halves, on a topic for the speed and one for the steering."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

from host_bridge.interfaces.ros2.files import VescScale
from host_bridge.interfaces.ros2.mux import Command, Source
from host_bridge.interfaces.ros2.vocabulary import Part
from sim_mock.autodrive.cars import SimulatedCar

# What steers beside each part that drives
_STEERED_BY = {
    Part.MOTOR_SPEED: Part.SERVO,
    Part.MOTOR_BRAKE: Part.SERVO,
    Part.THROTTLE: Part.STEERING,
}
_BRAKES = (Part.BRAKE_SHARE, Part.HANDBRAKE)


@dataclass
class Halves:
    """Puts them together. The half that drives makes a command; a steering that was heard once has
    to go on being heard, for the command is no younger than it and its timeout."""

    scale: VescScale  # of a VESC's numbers
    like: SimulatedCar  # whose top speed and full lock are 1
    _steering: dict[Part, tuple[float, int]] = field(default_factory=dict)  # and when it came
    _brakes: dict[Part, float] = field(default_factory=dict)  # the last word of each, however old

    def hear(self, source: Source, part: Part, value: float, received_us: int, now_us: int) -> None:
        """Give the source a command, if this makes one."""
        if not isfinite(value):
            source.refuse("it was not a number")
        elif part in _BRAKES:
            self._brakes[part] = min(max(value, 0.0), 1.0)
        elif part not in _STEERED_BY:
            self._steering[part] = value, received_us
        else:
            source.take(self._command(source, part, value, received_us), now_us)

    def _command(self, source: Source, part: Part, value: float, received_us: int) -> Command:
        steer_rad, heard_us = self._steer(_STEERED_BY[part], received_us)
        brake = max(self._brakes.values(), default=0.0)
        if part is Part.MOTOR_BRAKE:
            brake = min(abs(value) / self.scale.brake_max_a, 1.0)
        is_brake = part is Part.MOTOR_BRAKE or brake > 0.0
        return Command(
            0.0 if is_brake else self._speed_mps(part, value),
            steer_rad,
            min(received_us, heard_us + source.timeout_us),
            brake,
        )

    def _speed_mps(self, part: Part, value: float) -> float:
        if part is Part.THROTTLE:
            return self.like.speed_mps(value)
        return self.scale.speed_mps(value)

    def _steer(self, part: Part, received_us: int) -> tuple[float, int]:
        value, heard_us = self._steering.get(part, (None, received_us))
        if value is None:  # never heard: straight ahead
            return 0.0, heard_us
        if part is Part.STEERING:
            return min(max(value, -1.0), 1.0) * self.like.steer_max_rad, heard_us
        return self.scale.steer_rad(value), heard_us
