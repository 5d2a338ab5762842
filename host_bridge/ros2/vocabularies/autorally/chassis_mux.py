"""Arbitration per actuator, as in AutoRally's chassis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from host_bridge.ros2.node.mux import Command, Mux
from host_bridge.ros2.vocabularies.vocabulary import MuxRow


class Actuator(Enum):
    """An actuator that a commander may claim or leave to others."""

    THROTTLE = "throttle"
    STEERING = "steering"
    BRAKE = "front brake"


_RANGES = {
    Actuator.THROTTLE: (-1.0, 1.0),
    Actuator.STEERING: (-1.0, 1.0),
    Actuator.BRAKE: (0.0, 1.0),
}


class ChassisMux(Mux):
    """One mux for each actuator: one commander may steer while another one drives.

    A commander that holds an actuator and falls silent stops all of them. One that sends a value
    out of range releases that actuator, and the next in priority gets it. Commands are shares, as
    received.
    """

    def __init__(self, rows: Sequence[MuxRow], lease_s: float) -> None:
        super().__init__(rows, lease_s)
        self._muxes = {actuator: Mux(rows, lease_s) for actuator in Actuator}

    def hear(self, name: str, values: Mapping[Actuator, float], heard_us: int, now_us: int) -> None:
        """Take a commander's message; refuse it whole if it is too old or from the future."""
        source = self.sources[name]
        command = Command(0.0, 0.0, heard_us)
        source.take(command, now_us)
        if source.latest is not command:
            return
        for actuator, value in values.items():
            low, high = _RANGES[actuator]
            if low <= value <= high:  # False for NaN
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
        """Return the commander that has each actuator; "" for none."""
        return {actuator: mux.winner or "" for actuator, mux in self._muxes.items()}


def _claim(actuator: Actuator, value: float, heard_us: int) -> Command:
    if actuator is Actuator.THROTTLE:
        return Command(value, 0.0, heard_us)
    if actuator is Actuator.STEERING:
        return Command(0.0, value, heard_us)
    return Command(0.0, 0.0, heard_us, value)
