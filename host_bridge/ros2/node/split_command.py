"""Commands split over two topics, one for the speed and one for the steering."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

from host_bridge.ros2.node.mux import MuxSource, StampedCommand
from host_bridge.ros2.node.vesc_scale import VescScale
from host_bridge.ros2.vocabularies.topics import Content
from sim_mock.autodrive.cars import SimulatedCar

# Speed or brake topic -> the steering topic that belongs to it
_STEERED_BY = {
    Content.MOTOR_SPEED: Content.SERVO,
    Content.MOTOR_BRAKE: Content.SERVO,
    Content.THROTTLE: Content.STEERING,
}
_BRAKES = (Content.BRAKE_SHARE, Content.HANDBRAKE)


@dataclass
class SplitCommand:
    """Combines the newest speed (or brake) and steering messages of a source into one command.

    A speed or brake message makes a command. Once a steering message was received, steering has to
    keep coming: a command is at most the source's timeout newer than it, so it expires without it.
    """

    scale: VescScale
    like: SimulatedCar  # a throttle and a steering of 1 are its top speed and full lock
    # Newest values, with their arrival in us; those of the brakes never expire
    _steering: dict[Content, tuple[float, int]] = field(default_factory=dict)
    _brakes: dict[Content, float] = field(default_factory=dict)

    def hear(
        self, source: MuxSource, content: Content, value: float, received_us: int, now_us: int
    ) -> None:
        """Store the value; give the source a command if this is a speed or motor brake message."""
        if not isfinite(value):
            source.refuse("it was not a number")
        elif content in _BRAKES:
            self._brakes[content] = min(max(value, 0.0), 1.0)
        elif content not in _STEERED_BY:
            self._steering[content] = value, received_us
        else:
            source.take(self._command(source, content, value, received_us), now_us)

    def _command(
        self, source: MuxSource, content: Content, value: float, received_us: int
    ) -> StampedCommand:
        steer_rad, heard_us = self._steer(_STEERED_BY[content], received_us)
        brake = max(self._brakes.values(), default=0.0)
        if content is Content.MOTOR_BRAKE:
            brake = min(abs(value) / self.scale.brake_max_a, 1.0)
        is_brake = content is Content.MOTOR_BRAKE or brake > 0.0
        return StampedCommand(
            0.0 if is_brake else self._speed_mps(content, value),
            steer_rad,
            min(received_us, heard_us + source.timeout_us),
            brake,
        )

    def _speed_mps(self, content: Content, value: float) -> float:
        if content is Content.THROTTLE:
            return self.like.speed_mps(value)
        return self.scale.speed_mps(value)

    def _steer(self, content: Content, received_us: int) -> tuple[float, int]:
        value, heard_us = self._steering.get(content, (None, received_us))
        if value is None:  # no steering message yet: straight ahead
            return 0.0, heard_us
        if content is Content.STEERING:
            return min(max(value, -1.0), 1.0) * self.like.steer_max_rad, heard_us
        return self.scale.steer_rad(value), heard_us
