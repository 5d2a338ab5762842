"""Steering models: from a command to the wheels; ideal, or with dead time and lag.

``begun`` takes a step's command and returns the angle as the step begins and its rate during it.
"""

from math import inf

from sim_mock.models.planning.delay import DelayLine
from sim_mock.models.planning.lag import beyond_dead_band, lag_rate
from sim_mock.models.planning.limits import clamped
from sim_mock.models.planning.parameters import DelayParameters


class IdealSteering:
    """IDEAL: the wheels are at the commanded angle."""

    bias_rad = 0.0
    lock_rad = inf

    def begun(self, command_rad: float, steer_rad: float) -> tuple[float, float]:
        return command_rad, 0.0


class DelayedSteering:
    """DELAY: dead time, limit, scale, dead band, lag and rate limit, in that order.

    The loop closes on the measured angle, bias included, so the wheels settle at command - bias.
    The simulator takes that angle once per step: its rate is held over the step's four stages.
    """

    lock_rad = inf  # scaled or biased, the angle may exceed the lock, as in the simulator

    def __init__(self, p: DelayParameters, dt_s: float) -> None:
        self._p = p
        self._line = DelayLine(p.steer_time_delay_s, dt_s)
        self.bias_rad = p.steer_bias_rad

    def begun(self, command_rad: float, steer_rad: float) -> tuple[float, float]:
        p = self._p
        asked_rad = clamped(self._line.passed(command_rad), p.steer_lim_rad)
        target_rad = asked_rad * p.debug_steer_scaling_factor
        error_rad = beyond_dead_band(target_rad - steer_rad - self.bias_rad, p.steer_dead_band_rad)
        return steer_rad, lag_rate(error_rad, p.steer_time_constant_s, p.steer_rate_lim_radps)


class LockedSteering(DelayedSteering):
    """The steering of DELAY_STEER_VEL: the curvature is limited to that of the lock.

    The angle itself, which is reported and fed back, is not limited.
    """

    def __init__(self, p: DelayParameters, dt_s: float) -> None:
        super().__init__(p, dt_s)
        self.lock_rad = p.steer_lim_rad
