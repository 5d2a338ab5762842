"""The car of simple_planning_simulator: its commands, its control mode, and when commands expire.

Nothing here knows ROS 2 or a clock; times are ROS time, in s.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from sim_mock.models.planning.gear import NONE, PARK, accel_along_x_mps2
from sim_mock.models.planning.model_types import PEDALLED
from sim_mock.models.planning.motion import DriverCommand, MotionReport
from sim_mock.models.planning.simulator import Simulator

AUTONOMOUS, MANUAL = 1, 4  # the modes' numbers in Autoware's ControlModeReport
_EMERGENCY_MPS2 = 2.4  # as Autoware's gate brakes when a heartbeat is missing
_SETTLE_S = 0.5  # time constant near rest: a constant brake would reverse a model without gears
_JUMP_S = 1.0  # a longer step of the clock means that it was set


@dataclass(frozen=True, slots=True)
class ControlCommand:
    """The content of a Control message, and when it came."""

    vx_mps: float = 0.0
    ax_mps2: float = 0.0
    steer_rad: float = 0.0
    heard_s: float | None = None  # None: no command yet, the initial state of their node


class PlanningCar:
    """One simulated car; ``expired`` counts the steps whose command was too old to be obeyed."""

    def __init__(
        self, simulator: Simulator, model_type: str, period_s: float, lease_s: float, engaged: bool
    ) -> None:
        self.simulator = simulator
        self.mode = AUTONOMOUS
        self.is_engaged = engaged
        self.commands = {AUTONOMOUS: ControlCommand(), MANUAL: ControlCommand()}
        self.gears = {AUTONOMOUS: NONE, MANUAL: PARK}
        self.expired = 0
        self._has_pedals = model_type == PEDALLED
        self._period_s, self._lease_s = period_s, lease_s
        self._stepped_s: float | None = None

    @property
    def gear(self) -> int:
        return self.gears[self.mode]

    def set_command(self, mode: int, command: ControlCommand) -> None:
        """Store the command of a control mode; ignore one with a value that is not finite."""
        if all(map(isfinite, (command.vx_mps, command.ax_mps2, command.steer_rad))):
            self.commands[mode] = command

    def set_mode(self, mode: int) -> bool:
        """Set the control mode; return False for a mode that their node does not have either."""
        if mode not in (AUTONOMOUS, MANUAL):
            return False
        self.mode = mode
        return True

    def step(self, now_s: float) -> None:
        """Advance to this time, in several steps if more than one period has passed."""
        before_s, self._stepped_s = self._stepped_s, now_s
        if before_s is None or self.simulator.truth is None or not self.is_engaged:
            return
        past_s = round(now_s - before_s, 9)  # as the difference of whole nanoseconds is
        if not 0.0 < past_s <= _JUMP_S:
            past_s = self._period_s if past_s > 0.0 else 0.0
        steps = max(round(past_s / self._period_s), 1) if past_s else 0
        for _ in range(steps):
            self.simulator.step(past_s / steps, self._command(now_s))

    def _command(self, now_s: float) -> DriverCommand:
        command = self.commands[self.mode]
        if command.heard_s is not None and not 0.0 <= now_s - command.heard_s <= self._lease_s:
            self.expired += 1
            return self._braking(command)
        accel_mps2 = command.ax_mps2
        if not self._has_pedals:
            accel_mps2 = accel_along_x_mps2(self.gear, accel_mps2)
        return DriverCommand(command.vx_mps, accel_mps2, command.steer_rad, self.gear)

    def _braking(self, command: ControlCommand) -> DriverCommand:
        """Return a command that brakes to rest and holds the last steering angle."""
        truth: MotionReport | None = self.simulator.truth
        assert truth is not None, "a car that steps has its place"
        if self._has_pedals:
            accel_mps2 = -_EMERGENCY_MPS2
        else:
            accel_mps2 = -truth.vx_mps / _SETTLE_S
            accel_mps2 = min(max(accel_mps2, -_EMERGENCY_MPS2), _EMERGENCY_MPS2)
        return DriverCommand(0.0, accel_mps2, command.steer_rad, self.gear)
