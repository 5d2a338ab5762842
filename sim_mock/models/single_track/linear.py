"""The single track with linear tyres and longitudinal load transfer.

Source: CommonRoad: Vehicle Models (2020a), section 6 (ST), written out as forces and moments.
Angles are small; the speed follows the input, whatever the side forces are.
"""

from math import cos, sin, tan
from typing import NamedTuple

from sim_mock.models.integration import State
from sim_mock.models.single_track.kinematic import kinematic_slip_rad
from sim_mock.models.single_track.parameters import (
    DriverInput,
    SingleTrackParameters,
    within_limits,
)

GRAVITY_MPS2 = 9.81  # standard gravity
# Slip angles are ratios of speeds, so towards standstill the equations stiffen as 1 / v: below
# this speed the motion without slip is used (the source's value).
KINEMATIC_BELOW_MPS = 0.1


class Linear(NamedTuple):
    """The state, of the centre of gravity; the slip angle is positive if it moves to the left."""

    x_m: float = 0.0
    y_m: float = 0.0
    steer_rad: float = 0.0
    speed_mps: float = 0.0
    yaw_rad: float = 0.0
    yaw_rate_radps: float = 0.0
    slip_rad: float = 0.0


def linear_rates(x: State, u: DriverInput, p: SingleTrackParameters) -> State:
    """Return the right-hand side, in the order of ``Linear``, per second."""
    s = Linear(*x)
    u = within_limits(u, s.steer_rad, s.speed_mps, p.limits)
    if abs(s.speed_mps) < KINEMATIC_BELOW_MPS:
        return _rolling(s, u, p)
    front_n, rear_n = side_forces_n(s, u.accel_mps2, p)
    return (
        s.speed_mps * cos(s.yaw_rad + s.slip_rad),
        s.speed_mps * sin(s.yaw_rad + s.slip_rad),
        u.steer_rate_radps,
        u.accel_mps2,
        s.yaw_rate_radps,
        (p.lf_m * front_n - p.lr_m * rear_n) / p.inertia_z_kgm2,
        (front_n + rear_n) / (p.mass_kg * s.speed_mps) - s.yaw_rate_radps,
    )


def axle_slips_rad(s: Linear, p: SingleTrackParameters) -> tuple[float, float]:
    """Return the slip angles of front and rear wheels, positive when they push to the left."""
    turning = s.yaw_rate_radps / s.speed_mps
    return s.steer_rad - s.slip_rad - p.lf_m * turning, -s.slip_rad + p.lr_m * turning


def side_forces_n(s: Linear, accel_mps2: float, p: SingleTrackParameters) -> tuple[float, float]:
    """Return the forces to the left of the front and the rear axle's tyres: mu C N alpha."""
    shift_mps2 = accel_mps2 * p.h_cg_m
    load_front_n = p.mass_kg * (GRAVITY_MPS2 * p.lr_m - shift_mps2) / p.wheelbase_m
    load_rear_n = p.mass_kg * (GRAVITY_MPS2 * p.lf_m + shift_mps2) / p.wheelbase_m
    front_rad, rear_rad = axle_slips_rad(s, p)
    return (
        p.mu * p.stiffness_front_per_rad * load_front_n * front_rad,
        p.mu * p.stiffness_rear_per_rad * load_rear_n * rear_rad,
    )


def _rolling(s: Linear, u: DriverInput, p: SingleTrackParameters) -> State:
    slip_rad = kinematic_slip_rad(s.steer_rad, p)
    tangent, secant_2 = tan(s.steer_rad), 1.0 / cos(s.steer_rad) ** 2
    share = p.lr_m / p.wheelbase_m
    # The exact derivative of the kinematic slip has (tan * share)^2 here. The package squares the
    # tangent twice; followed so that the two agree (2 % of this rate at 0.3 rad).
    slip_rate = share * secant_2 * u.steer_rate_radps / (1.0 + (tangent**2 * share) ** 2)
    turn = (
        u.accel_mps2 * cos(s.slip_rad) * tangent
        - s.speed_mps * sin(s.slip_rad) * slip_rate * tangent
        + s.speed_mps * cos(s.slip_rad) * u.steer_rate_radps * secant_2
    )
    return (
        s.speed_mps * cos(slip_rad + s.yaw_rad),
        s.speed_mps * sin(slip_rad + s.yaw_rad),
        u.steer_rate_radps,
        u.accel_mps2,
        s.speed_mps * cos(slip_rad) * tangent / p.wheelbase_m,
        turn / p.wheelbase_m,
        slip_rate,
    )
