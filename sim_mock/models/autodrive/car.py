"""AutoDRIVE's model of cars, a rigid body on four sprung wheels; complete for small and mid scale.

Source: the report, section 3.1.1. On a flat floor a loaded wheel neither rises nor sinks, so its
equation m z'' + B (z' - Z') + K (z - Z) gives the floor's force: its weight plus the force of
spring and damper. A wheel that these would have to pull down is in the air and has no force. The
longitudinal and lateral forces each follow their own curve: the report has no friction circle.
"""

from collections.abc import Sequence
from math import cos, sin
from typing import NamedTuple

from sim_mock.models.autodrive.motor import wheel_torque_nm
from sim_mock.models.autodrive.parameters import (
    GRAVITY_MPS2,
    CarParameters,
    ChassisParameters,
    Corner,
    NormalisedInput,
)
from sim_mock.models.autodrive.steering import steer_rate_radps, wheel_angles_rad
from sim_mock.models.integration import State


class Sprung(NamedTuple):
    """The state: centre of gravity, spins (left before right, front before rear), body, steering.

    The body's motion is relative to its place at rest: heave is upwards, roll lowers the right
    side, pitch lifts the nose.
    """

    x_m: float = 0.0
    y_m: float = 0.0
    yaw_rad: float = 0.0
    vx_mps: float = 0.0
    vy_mps: float = 0.0
    yaw_rate_radps: float = 0.0
    spin_lf_radps: float = 0.0
    spin_rf_radps: float = 0.0
    spin_lr_radps: float = 0.0
    spin_rr_radps: float = 0.0
    heave_m: float = 0.0
    roll_rad: float = 0.0
    pitch_rad: float = 0.0
    heave_mps: float = 0.0
    roll_radps: float = 0.0
    pitch_radps: float = 0.0
    steer_rad: float = 0.0


class Push(NamedTuple):
    """A tyre's force in newtons: along its wheel, and ahead and to the left of the car."""

    along_n: float
    ahead_n: float
    left_n: float


class AppliedForces(NamedTuple):
    """The actions of drive, brakes and air: the wheels' torques, drag, downforce on the body."""

    torques_nm: Sequence[float]
    drag_ns_per_m: float
    down_n: float = 0.0


def sprung_rates(x: State, u: NormalisedInput, p: CarParameters) -> State:
    """Return the right-hand side, in the order of ``Sprung``, per second."""
    s = Sprung(*x)
    torques_nm = [
        wheel_torque_nm(u.throttle, spin, is_driven, p)
        for spin, is_driven in zip(s[6:10], p.driven, strict=True)
    ]
    return rates_under(s, u.steering, AppliedForces(torques_nm, p.drag_ns_per_m), p)


def rates_under(s: Sprung, steering: float, forces: AppliedForces, p: ChassisParameters) -> State:
    """Return the right-hand side for these torques and air forces, for any car of this model."""
    corners = p.corners
    springs_n = spring_forces_n(s, corners)
    pushes = tyre_pushes(s, corners, wheel_loads_n(springs_n, corners, p), p)
    return (
        *_planar(s, corners, pushes, forces.drag_ns_per_m, p),
        *_spins(forces.torques_nm, pushes, p),
        s.heave_mps,
        s.roll_radps,
        s.pitch_radps,
        *_body(corners, springs_n, pushes, forces.down_n, p),
        steer_rate_radps(steering, s.steer_rad, s.vx_mps, p),
    )


def spring_forces_n(s: Sprung, corners: Sequence[Corner]) -> list[float]:
    """Return the force of each spring and damper beyond its static load."""
    return [
        -at.spring_n_per_m * (s.heave_m + at.ahead_m * s.pitch_rad + at.left_m * s.roll_rad)
        - at.damper_ns_per_m * (s.heave_mps + at.ahead_m * s.pitch_radps + at.left_m * s.roll_radps)
        for at in corners
    ]


def wheel_loads_n(
    springs_n: Sequence[float], corners: Sequence[Corner], p: ChassisParameters
) -> list[float]:
    """Return the load of each wheel on the floor; 0 for a wheel in the air."""
    return [
        max((at.sprung_kg + p.wheel_kg) * GRAVITY_MPS2 + spring_n, 0.0)
        for at, spring_n in zip(corners, springs_n, strict=True)
    ]


def slips(
    ahead_mps: float, aside_mps: float, rim_mps: float, slow_mps: float
) -> tuple[float, float]:
    """Return the slips Sx = (r w - vx) / |vx| and Sy = vy / |vx|, in the axes of the wheel."""
    pace_mps = max(abs(ahead_mps), slow_mps)
    return (rim_mps - ahead_mps) / pace_mps, aside_mps / pace_mps


def tyre_pushes(
    s: Sprung, corners: Sequence[Corner], loads_n: Sequence[float], p: ChassisParameters
) -> list[Push]:
    """Return the forces of the four tyres: Fx = F(Sx), Fy = F(Sy), each times its wheel's load."""
    angles, spins = wheel_angles_rad(s.steer_rad, p), s[6:10]
    rows = zip(corners, loads_n, angles, spins, strict=True)
    return [_push(s, *row, p) for row in rows]


def _push(
    s: Sprung, at: Corner, load_n: float, angle_rad: float, spin_radps: float, p: ChassisParameters
) -> Push:
    c, n = (cos(angle_rad), sin(angle_rad)) if angle_rad else (1.0, 0.0)
    ahead_mps = s.vx_mps - s.yaw_rate_radps * at.left_m
    left_mps = s.vy_mps + s.yaw_rate_radps * at.ahead_m
    rim_mps = spin_radps * p.wheel_radius_m
    slip_x, slip_y = slips(
        ahead_mps * c + left_mps * n, left_mps * c - ahead_mps * n, rim_mps, p.slow_mps
    )
    along_n = load_n * p.tyre_along.force(slip_x)
    aside_n = -load_n * p.tyre_aside.force(slip_y)
    return Push(along_n, along_n * c - aside_n * n, along_n * n + aside_n * c)


def _planar(
    s: Sprung,
    corners: Sequence[Corner],
    pushes: Sequence[Push],
    drag_ns_per_m: float,
    p: ChassisParameters,
) -> State:
    ahead_n, left_n = -drag_ns_per_m * s.vx_mps, -drag_ns_per_m * s.vy_mps
    moment_nm = -p.drag_nms_per_rad * s.yaw_rate_radps
    for at, (_, ahead, left) in zip(corners, pushes, strict=True):
        ahead_n += ahead
        left_n += left
        moment_nm += at.ahead_m * left - at.left_m * ahead
    c, n = cos(s.yaw_rad), sin(s.yaw_rad)
    return (
        s.vx_mps * c - s.vy_mps * n,
        s.vx_mps * n + s.vy_mps * c,
        s.yaw_rate_radps,
        ahead_n / p.mass_kg + s.vy_mps * s.yaw_rate_radps,
        left_n / p.mass_kg - s.vx_mps * s.yaw_rate_radps,
        moment_nm / p.inertia.yaw_kgm2,
    )


def _spins(
    torques_nm: Sequence[float], pushes: Sequence[Push], p: ChassisParameters
) -> list[float]:
    spin_kgm2, radius_m = p.spin_kgm2, p.wheel_radius_m
    return [
        (torque_nm - push.along_n * radius_m) / spin_kgm2
        for torque_nm, push in zip(torques_nm, pushes, strict=True)
    ]


def _body(
    corners: Sequence[Corner],
    springs_n: Sequence[float],
    pushes: Sequence[Push],
    down_n: float,
    p: ChassisParameters,
) -> State:
    arm_m, inertia = p.h_cg_m - p.force_offset_m, p.inertia
    lift_n = -down_n
    righting_nm = lifting_nm = 0.0
    for at, spring_n, (_, ahead_n, left_n) in zip(corners, springs_n, pushes, strict=True):
        lift_n += spring_n
        righting_nm += at.left_m * spring_n + arm_m * left_n
        lifting_nm += at.ahead_m * spring_n + arm_m * ahead_n
    return lift_n / p.sprung_kg, righting_nm / inertia.roll_kgm2, lifting_nm / inertia.pitch_kgm2
