"""The gears of Autoware's vehicle interface, which act as in a gearbox."""

from __future__ import annotations

from dataclasses import replace

from host_bridge.ros2.node.mux import StampedCommand

# Gears, as GearCommand numbers them
_NO_COMMAND, _NEUTRAL, _DRIVE, _REVERSE, _REVERSE_2, PARK, _LOW_2 = 0, 1, 2, 20, 21, 22, 24
BACKWARD = frozenset({_REVERSE, _REVERSE_2})
_FORWARD = frozenset(range(_DRIVE, _LOW_2 + 1)) - BACKWARD - {PARK}
_REST_MPS = 0.05


class GearSelector:
    """The selected gear: it begins in park, and changes the direction only at standstill."""

    def __init__(self) -> None:
        self.wanted = self.gear = PARK

    def take(self, gear: int) -> bool:
        """Request a gear by its GearCommand number; return False if there is no such gear."""
        if gear == _NO_COMMAND:
            return True
        if gear not in _FORWARD | BACKWARD | {_NEUTRAL, PARK}:
            return False
        self.wanted = gear
        return True

    def step(self, speed_mps: float) -> None:
        is_same_way = {self.gear, self.wanted} <= _FORWARD or {self.gear, self.wanted} <= BACKWARD
        if is_same_way or abs(speed_mps) < _REST_MPS:
            self.gear = self.wanted

    def limited(self, command: StampedCommand) -> StampedCommand:
        """Return the command limited to the gear's direction; speed 0 during a gear change."""
        speed_mps = 0.0
        if self.gear == self.wanted:
            if self.gear in _FORWARD:
                speed_mps = max(command.speed_mps, 0.0)
            elif self.gear in BACKWARD:
                speed_mps = min(command.speed_mps, 0.0)
        brake = 1.0 if self.gear == PARK else command.brake
        return replace(command, speed_mps=speed_mps, brake=brake)
