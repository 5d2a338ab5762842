"""Commands split over two topics, one for the speed and one for the steering."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

from host_bridge.ros2.node.mux import Command, Source
from host_bridge.ros2.vocabularies.f1tenth.config_files import VescScale
from host_bridge.ros2.vocabularies.vocabulary import Part
from sim_mock.autodrive.cars import SimulatedCar

# Speed or brake topic -> the steering topic that belongs to it
_STEERED_BY = {
    Part.MOTOR_SPEED: Part.SERVO,
    Part.MOTOR_BRAKE: Part.SERVO,
    Part.THROTTLE: Part.STEERING,
}
_BRAKES = (Part.BRAKE_SHARE, Part.HANDBRAKE)


@dataclass
class Halves:
    """Combines the newest speed (or brake) and steering messages of a source into one command.

    A speed or brake message makes a command. Once a steering message was received, steering has to
    keep coming: a command is at most the source's timeout newer than it, so it expires without it.
    """

    scale: VescScale
    like: SimulatedCar  # a throttle and a steering of 1 are its top speed and full lock
    _steering: dict[Part, tuple[float, int]] = field(default_factory=dict)  # value, arrival in us
    _brakes: dict[Part, float] = field(default_factory=dict)  # newest values; they never expire

    def hear(self, source: Source, part: Part, value: float, received_us: int, now_us: int) -> None:
        """Store the value; give the source a command if this is a speed or motor brake message."""
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
        if value is None:  # no steering message yet: straight ahead
            return 0.0, heard_us
        if part is Part.STEERING:
            return min(max(value, -1.0), 1.0) * self.like.steer_max_rad, heard_us
        return self.scale.steer_rad(value), heard_us
