"""Drive models: from a command to speed and acceleration; ideal, delayed or by a map.

``begun`` takes a step's command and returns speed and acceleration as the step begins; ``rates``
returns their derivatives within the step. ``reports_change``: the acceleration reported is the
change of speed over the step, where no state holds one. ``limit_mps`` limits the speed at the end
of a step.
"""

from math import inf
from typing import Protocol

from sim_mock.models.planning.acceleration_map import AccelerationMap
from sim_mock.models.planning.delay import DelayLine
from sim_mock.models.planning.lag import lag_rate
from sim_mock.models.planning.limits import clamped
from sim_mock.models.planning.motion import DriverCommand
from sim_mock.models.planning.parameters import DelayParameters


class DriveModel(Protocol):
    """The interface of a drive model."""

    reports_change: bool
    limit_mps: float

    def begun(self, command: DriverCommand, vx_mps: float, ax_mps2: float) -> tuple[float, float]:
        """Return speed in m/s and acceleration in m/s^2 at the start of a step."""
        ...

    def rates(self, vx_mps: float, ax_mps2: float) -> tuple[float, float]:
        """Return the derivatives of speed in m/s^2 and of acceleration in m/s^3."""
        ...


class IdealVelocity:
    """IDEAL_STEER_VEL: the speed is the commanded one."""

    reports_change = True
    limit_mps = inf

    def begun(self, command: DriverCommand, vx_mps: float, ax_mps2: float) -> tuple[float, float]:
        return command.vx_mps, 0.0

    def rates(self, vx_mps: float, ax_mps2: float) -> tuple[float, float]:
        return 0.0, 0.0


class IdealAcceleration:
    """IDEAL_STEER_ACC: the acceleration is the commanded one."""

    reports_change = False
    limit_mps = inf

    def begun(self, command: DriverCommand, vx_mps: float, ax_mps2: float) -> tuple[float, float]:
        return vx_mps, command.ax_mps2

    def rates(self, vx_mps: float, ax_mps2: float) -> tuple[float, float]:
        return ax_mps2, 0.0


class DelayedVelocity:
    """DELAY_STEER_VEL: dead time, limit, then a lag whose slope is limited as the acceleration."""

    reports_change = True

    def __init__(self, p: DelayParameters, dt_s: float) -> None:
        self._p = p
        self._line = DelayLine(p.vel_time_delay_s, dt_s)
        self._target_mps = 0.0
        self.limit_mps = p.vel_lim_mps

    def begun(self, command: DriverCommand, vx_mps: float, ax_mps2: float) -> tuple[float, float]:
        self._target_mps = clamped(self._line.passed(command.vx_mps), self.limit_mps)
        return vx_mps, ax_mps2

    def rates(self, vx_mps: float, ax_mps2: float) -> tuple[float, float]:
        p = self._p
        slope = lag_rate(self._target_mps - vx_mps, p.vel_time_constant_s, p.vel_rate_lim_mps2)
        return slope, 0.0


class DelayedAcceleration:
    """DELAY_STEER_ACC: dead time, limit, scale, then a lag of the acceleration."""

    reports_change = False

    def __init__(self, p: DelayParameters, dt_s: float) -> None:
        self._p = p
        self._line = DelayLine(p.acc_time_delay_s, dt_s)
        self._asked_mps2 = 0.0
        self.limit_mps = p.vel_lim_mps

    def begun(self, command: DriverCommand, vx_mps: float, ax_mps2: float) -> tuple[float, float]:
        self._asked_mps2 = clamped(self._line.passed(command.ax_mps2), self._p.vel_rate_lim_mps2)
        return vx_mps, ax_mps2

    def target_mps2(self, vx_mps: float) -> float:
        """Return the acceleration at which the lag settles."""
        return self._asked_mps2 * self._p.debug_acc_scaling_factor

    def rates(self, vx_mps: float, ax_mps2: float) -> tuple[float, float]:
        ax_mps2 = clamped(ax_mps2, self._p.vel_rate_lim_mps2)
        target = self.target_mps2(clamped(vx_mps, self.limit_mps))
        return ax_mps2, lag_rate(target - ax_mps2, self._p.acc_time_constant_s, inf)


class MappedAcceleration(DelayedAcceleration):
    """DELAY_STEER_MAP_ACC: the lag settles at the map's value for the command and the speed."""

    def __init__(self, p: DelayParameters, dt_s: float, acceleration_map: AccelerationMap) -> None:
        super().__init__(p, dt_s)
        self._map = acceleration_map

    def target_mps2(self, vx_mps: float) -> float:
        """Return the acceleration at which the lag settles; in reverse the map is read at 0 m/s."""
        return self._map.actual_mps2(self._asked_mps2, vx_mps)
