"""The parameters of the kinematic and the linear single track, and the limits of their inputs.

Source of both models: M. Althoff and G. Wuersching, CommonRoad: Vehicle Models (version 2020a).
"""

from typing import NamedTuple


class ControlLimits(NamedTuple):
    """The bounds of steering and speed, and of their rates; section 3 of the source."""

    steer_min_rad: float
    steer_max_rad: float
    steer_rate_min_radps: float
    steer_rate_max_radps: float
    speed_min_mps: float
    speed_max_mps: float
    speed_switch_mps: float  # above it the motor gives constant power, no constant force
    accel_max_mps2: float


class SingleTrackParameters(NamedTuple):
    """A car on two wheels; lengths run from the centre of gravity to the axles.

    A stiffness is of an axle's tyres per newton of load and unit of friction: F = mu C N alpha.
    """

    mass_kg: float
    inertia_z_kgm2: float
    lf_m: float
    lr_m: float
    h_cg_m: float
    mu: float
    stiffness_front_per_rad: float
    stiffness_rear_per_rad: float
    limits: ControlLimits

    @property
    def wheelbase_m(self) -> float:
        """The distance between the axles."""
        return self.lf_m + self.lr_m


class DriverInput(NamedTuple):
    """A driver's input: the rate of the front wheels' angle, and the commanded acceleration."""

    steer_rate_radps: float
    accel_mps2: float


def within_limits(
    u: DriverInput, steer_rad: float, speed_mps: float, limits: ControlLimits
) -> DriverInput:
    """Return ``u`` limited to what steering and motor can follow."""
    return DriverInput(
        _limited_rate(u.steer_rate_radps, steer_rad, limits),
        _limited_accel(u.accel_mps2, speed_mps, limits),
    )


def _limited_rate(rate_radps: float, steer_rad: float, limits: ControlLimits) -> float:
    at_right = steer_rad <= limits.steer_min_rad and rate_radps <= 0.0
    at_left = steer_rad >= limits.steer_max_rad and rate_radps >= 0.0
    if at_right or at_left:
        return 0.0
    return min(max(rate_radps, limits.steer_rate_min_radps), limits.steer_rate_max_radps)


def _limited_accel(accel_mps2: float, speed_mps: float, limits: ControlLimits) -> float:
    at_slowest = speed_mps <= limits.speed_min_mps and accel_mps2 <= 0.0
    at_fastest = speed_mps >= limits.speed_max_mps and accel_mps2 >= 0.0
    if at_slowest or at_fastest:
        return 0.0
    most_mps2 = limits.accel_max_mps2
    if speed_mps > limits.speed_switch_mps:
        most_mps2 *= limits.speed_switch_mps / speed_mps
    return min(max(accel_mps2, -limits.accel_max_mps2), most_mps2)
