"""Arbitration for each actuator of its own, as AutoRally's chassis does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from host_bridge.interfaces.ros2.mux import Command, Mux
from host_bridge.interfaces.ros2.vocabulary import MuxRow


class Actuator(Enum):
    """What a commander may claim or leave alone."""

    THROTTLE = "throttle"
    STEERING = "steering"
    BRAKE = "front brake"


_RANGES = {
    Actuator.THROTTLE: (-1.0, 1.0),
    Actuator.STEERING: (-1.0, 1.0),
    Actuator.BRAKE: (0.0, 1.0),
}


class ChassisMux(Mux):
    """A mux for each actuator: one commander may steer and another one drive.

    Whoever claims an actuator and falls silent stops all of them; whoever says a value out of range
    lets go of that actuator, and the next in priority has it. Commands are shares, as they came.
    """

    def __init__(self, rows: Sequence[MuxRow], lease_s: float) -> None:
        super().__init__(rows, lease_s)
        self._muxes = {actuator: Mux(rows, lease_s) for actuator in Actuator}

    def hear(self, name: str, values: Mapping[Actuator, float], heard_us: int, now_us: int) -> None:
        """Take a commander's message; one that is too old, or of the future, is refused whole."""
        source = self.sources[name]
        command = Command(0.0, 0.0, heard_us)
        source.take(command, now_us)
        if source.latest is not command:
            return
        for actuator, value in values.items():
            low, high = _RANGES[actuator]
            if low <= value <= high:  # false for what is no number
                self._muxes[actuator].sources[name].take(_claim(actuator, value, heard_us), now_us)
            else:
                self._muxes[actuator].cede(name)

    def begin(self) -> None:
        super().begin()
        for mux in self._muxes.values():
            mux.begin()

    def rest(self) -> None:
        super().rest()
        for mux in self._muxes.values():
            mux.rest()

    def decide(self, now_us: int) -> Command | None:
        if self.fallen is not None:
            return None
        claims = {actuator: mux.decide(now_us) for actuator, mux in self._muxes.items()}
        self.fallen = next((mux.fallen for mux in self._muxes.values() if mux.fallen), None)
        heard = [claim for claim in claims.values() if claim is not None]
        names = [mux.winner for mux in self._muxes.values() if mux.winner]
        self.winner = names[0] if names and self.fallen is None else None
        if self.winner is None:
            return None
        throttle, steering, brake = claims.values()
        return Command(
            throttle.speed_mps if throttle else 0.0,
            steering.steer_rad if steering else 0.0,
            min(claim.heard_us for claim in heard),
            brake.brake if brake else 0.0,
        )

    def winners(self) -> dict[Actuator, str]:
        """Who has each actuator; "" for nobody."""
        return {actuator: mux.winner or "" for actuator, mux in self._muxes.items()}


def _claim(actuator: Actuator, value: float, heard_us: int) -> Command:
    if actuator is Actuator.THROTTLE:
        return Command(value, 0.0, heard_us)
    if actuator is Actuator.STEERING:
        return Command(0.0, value, heard_us)
    return Command(0.0, 0.0, heard_us, value)
