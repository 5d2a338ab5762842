"""Two ways from a steering command to the wheels: at once, or late and lagging.

``begun`` takes a step's command and returns the angle as the step begins and its rate during it.
"""

from math import inf

from sim_mock.models.planning.delay import DelayLine
from sim_mock.models.planning.lag import beyond_dead_band, lag_rate
from sim_mock.models.planning.limits import clamped
from sim_mock.models.planning.parameters import Parameters


class IdealSteering:
    """IDEAL: the wheels are where the command says."""

    bias_rad = 0.0
    lock_rad = inf

    def begun(self, command_rad: float, steer_rad: float) -> tuple[float, float]:
        return command_rad, 0.0


class DelayedSteering:
    """DELAY: dead time, limit, scale, dead band, lag and rate limit, in that order.

    The loop closes on the measured angle, bias included, so the wheels settle at command - bias.
    The simulator takes that angle once per step: its rate is held over the step's four stages.
    """

    lock_rad = inf  # scaled or biased, the wheels turn the car beyond the lock: so it is there

    def __init__(self, p: Parameters, dt_s: float) -> None:
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
    """Steering of DELAY_STEER_VEL alone: the car turns by no more than the lock.

    The angle itself, and so the one reported and the loop's, goes on beyond it.
    """

    def __init__(self, p: Parameters, dt_s: float) -> None:
        super().__init__(p, dt_s)
        self.lock_rad = p.steer_lim_rad
