"""Arbitration per actuator, as in AutoRally's chassis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from host_bridge.ros2.node.mux import Mux, StampedCommand
from host_bridge.ros2.vocabularies.topics import MuxRow


class ChassisActuator(Enum):
    """An actuator that a commander may claim or leave to others."""

    THROTTLE = "throttle"
    STEERING = "steering"
    BRAKE = "front brake"


_RANGES = {
    ChassisActuator.THROTTLE: (-1.0, 1.0),
    ChassisActuator.STEERING: (-1.0, 1.0),
    ChassisActuator.BRAKE: (0.0, 1.0),
}


class ChassisMux(Mux):
    """One mux for each actuator: one commander may steer while another one drives.

    A commander that holds an actuator and falls silent stops all of them. One that sends a value
    out of range releases that actuator, and the next in priority gets it. Commands are shares, as
    received.
    """

    def __init__(self, rows: Sequence[MuxRow], lease_s: float) -> None:
        super().__init__(rows, lease_s)
        self._muxes = {actuator: Mux(rows, lease_s) for actuator in ChassisActuator}

    def hear(
        self, name: str, values: Mapping[ChassisActuator, float], heard_us: int, now_us: int
    ) -> None:
        """Take a commander's message; refuse it whole if it is too old or from the future."""
        source = self.sources[name]
        command = StampedCommand(0.0, 0.0, heard_us)
        source.take(command, now_us)
        if source.latest is not command:
            return
        for actuator, value in values.items():
            low, high = _RANGES[actuator]
            if low <= value <= high:  # False for NaN
                self._muxes[actuator].sources[name].take(_claim(actuator, value, heard_us), now_us)
            else:
                self._muxes[actuator].release(name)

    def forgive(self) -> None:
        super().forgive()
        for mux in self._muxes.values():
            mux.forgive()

    def begin(self) -> None:
        super().begin()
        for mux in self._muxes.values():
            mux.begin()

    def suspend(self) -> None:
        super().suspend()
        for mux in self._muxes.values():
            mux.suspend()

    def decide(self, now_us: int) -> StampedCommand | None:
        if self.timed_out is not None:
            return None
        claims = {actuator: mux.decide(now_us) for actuator, mux in self._muxes.items()}
        self.timed_out = next(
            (mux.timed_out for mux in self._muxes.values() if mux.timed_out), None
        )
        heard = [claim for claim in claims.values() if claim is not None]
        names = [mux.winner for mux in self._muxes.values() if mux.winner]
        self.winner = names[0] if names and self.timed_out is None else None
        if self.winner is None:
            return None
        throttle, steering, brake = claims.values()
        return StampedCommand(
            throttle.speed_mps if throttle else 0.0,
            steering.steer_rad if steering else 0.0,
            min(claim.heard_us for claim in heard),
            brake.brake if brake else 0.0,
        )

    def winners(self) -> dict[ChassisActuator, str]:
        """Return the commander that has each actuator; "" for none."""
        return {actuator: mux.winner or "" for actuator, mux in self._muxes.items()}


def _claim(actuator: ChassisActuator, value: float, heard_us: int) -> StampedCommand:
    if actuator is ChassisActuator.THROTTLE:
        return StampedCommand(value, 0.0, heard_us)
    if actuator is ChassisActuator.STEERING:
        return StampedCommand(0.0, value, heard_us)
    return StampedCommand(0.0, 0.0, heard_us, value)
