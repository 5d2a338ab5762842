"""The common parts of the three AutoRally models: planar motion, wheel spin, axle loads."""

from collections.abc import Sequence
from math import cos, sin
from typing import NamedTuple

from sim_mock.models.autorally.parameters import GRAVITY_MPS2, ActuatorInput, AutorallyParameters
from sim_mock.models.autorally.tyre import Grip, grip
from sim_mock.models.integration import State

# Brakes hold a standing wheel: below this spin their torque is proportional to it.
BRAKE_FULL_RADPS = 1.0


class Planar(NamedTuple):
    """The first six of every state: centre of gravity in the world, velocities in the car."""

    x_m: float
    y_m: float
    yaw_rad: float
    vx_mps: float
    vy_mps: float
    yaw_rate_radps: float


class WheelPosition(NamedTuple):
    """A wheel's position from the centre of gravity, ahead and to the left."""

    ahead_m: float
    left_m: float
    is_front: bool


def grip_at(
    corner: WheelPosition, s: Planar, spin_radps: float, steer_rad: float, p: AutorallyParameters
) -> Grip:
    """Return the force per newton of load of a wheel there that spins at ``spin_radps``."""
    ahead_mps = s.vx_mps - s.yaw_rate_radps * corner.left_m
    aside_mps = s.vy_mps + s.yaw_rate_radps * corner.ahead_m
    angle_rad = steer_rad if corner.is_front else 0.0
    return grip(ahead_mps, aside_mps, spin_radps * p.wheel_radius_m, angle_rad, p.tyre)


def axle_loads_n(
    front_ahead: float, rear_ahead: float, p: AutorallyParameters
) -> tuple[float, float]:
    """Return the loads of front and rear axle, from vertical and pitch equilibrium.

    ``front_ahead`` and ``rear_ahead`` are the axles' forward forces per newton of their loads.
    Solved for the load, lf Nf - lr Nr = -h (af Nf + ar Nr) with Nf + Nr = m g; this is what the
    paper's reference [23] (E. Velenis and others) does for its loads. No load is negative.
    """
    weight_n = p.mass_kg * GRAVITY_MPS2
    arm_m = p.wheelbase_m + p.h_cg_m * (front_ahead - rear_ahead)
    front_n = weight_n * (p.lr_m - p.h_cg_m * rear_ahead) / arm_m
    front_n = min(max(front_n, 0.0), weight_n)
    return front_n, weight_n - front_n


def planar_rates(
    s: Planar,
    corners: Sequence[WheelPosition],
    forces_n: Sequence[tuple[float, float]],
    p: AutorallyParameters,
) -> State:
    """Return the rates of the first six, from each corner's force ahead and to the left: eq. 4, 5.

    Eq. 5c leaves out the moment of different forces ahead at left and right. It is included here:
    the wheels' velocities contain yaw rate times half track, and without it the energy would not
    balance.
    """
    ahead_n = left_n = moment_nm = 0.0
    for (ahead_m, left_m, _), (ahead, left) in zip(corners, forces_n, strict=True):
        ahead_n += ahead
        left_n += left
        moment_nm += ahead_m * left - left_m * ahead
    c, n = cos(s.yaw_rad), sin(s.yaw_rad)
    return (
        s.vx_mps * c - s.vy_mps * n,
        s.vx_mps * n + s.vy_mps * c,
        s.yaw_rate_radps,
        ahead_n / p.mass_kg + s.vy_mps * s.yaw_rate_radps,
        left_n / p.mass_kg - s.vx_mps * s.yaw_rate_radps,
        moment_nm / p.inertia_z_kgm2,
    )


def spin_rate_radps2(
    corner: WheelPosition,
    spin_radps: float,
    along_n: float,
    u: ActuatorInput,
    axle_share: float,
    p: AutorallyParameters,
) -> float:
    """Return the rate of a wheel's spin: its torque less the ground's, over its inertia.

    ``axle_share`` is the wheel's share of its axle's inertia and torque: 1 or 0.5.
    """
    if corner.is_front:
        hold = min(max(spin_radps / BRAKE_FULL_RADPS, -1.0), 1.0)
        axle_nm, wheel_kgm2 = -u.brake_nm * hold, p.spin_front_kgm2
    else:
        axle_nm, wheel_kgm2 = u.drive_nm, p.spin_rear_kgm2
    torque_nm = axle_nm * axle_share - along_n * p.wheel_radius_m
    return torque_nm / (2.0 * axle_share * wheel_kgm2)
