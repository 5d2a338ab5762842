"""AutoRally's full model: the double track on springs, with ride, roll, pitch and air drag.

Source: the paper, eq. 5 to 7. Four errors in print are corrected here: eq. 6 subtracts a force from
an acceleration (here: over the mass); eq. 7a has theta in place of z and phi in place of theta
(here: as the matching terms of 7b demand); and the signs of its coupling and of m a h only agree if
z points down and theta lifts the nose, so heave here, which points up, is -z. Loads are static,
plus the forces of springs and dampers, plus what goes through the roll centre past them; the paper
leaves loads to its reference [23]. The wheels' own inertia moves no load.
"""

from collections.abc import Sequence
from math import cos, sin
from typing import NamedTuple

from sim_mock.models.autorally.double_track import grips_of, rates_under_loads
from sim_mock.models.autorally.parameters import GRAVITY_MPS2, ActuatorInput, AutorallyParameters
from sim_mock.models.autorally.tyre import Grip
from sim_mock.models.integration import State

Forces = tuple[float, float, float, float]  # left front, right front, left rear, right rear


class Full(NamedTuple):
    """The state: DoubleTrack's ten, then the body's motion on its springs, from its place at rest.

    Heave is upwards, roll lowers the right side (outwards in a left turn), pitch lifts the nose.
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


class Rise(NamedTuple):
    """Heave, roll and pitch; or their rates."""

    heave: float
    roll: float
    pitch: float


def spring_forces_n(x: State, p: AutorallyParameters) -> Forces:
    """Return each spring's and damper's force beyond the static load, left front to right rear."""
    heave, roll, pitch, heave_mps, roll_radps, pitch_radps = x[10:16]
    body = p.suspension
    k_front, k_rear = body.spring_front_n_per_m, body.spring_rear_n_per_m
    c_front, c_rear = body.damper_front_ns_per_m, body.damper_rear_ns_per_m
    front = -k_front * (heave + p.lf_m * pitch) - c_front * (heave_mps + p.lf_m * pitch_radps)
    rear = -k_rear * (heave - p.lr_m * pitch) - c_rear * (heave_mps - p.lr_m * pitch_radps)
    lean_front = 0.5 * p.track_front_m * (k_front * roll + c_front * roll_radps)
    lean_rear = 0.5 * p.track_rear_m * (k_rear * roll + c_rear * roll_radps)
    return front - lean_front, front + lean_front, rear - lean_rear, rear + lean_rear


def full_loads_n(grips: Sequence[Grip], springs_n: Forces, p: AutorallyParameters) -> Forces:
    """Return the loads of the four wheels; 0 for a wheel in the air."""
    share_n = 0.5 * p.mass_kg * GRAVITY_MPS2 / p.wheelbase_m
    front_n, rear_n = share_n * p.lr_m, share_n * p.lf_m
    lf_n, rf_n, lr_n, rr_n = springs_n
    return (
        *_axle_loads_n(grips[0], grips[1], front_n + lf_n, front_n + rf_n, p.track_front_m, p),
        *_axle_loads_n(grips[2], grips[3], rear_n + lr_n, rear_n + rr_n, p.track_rear_m, p),
    )


def _axle_loads_n(
    left: Grip, right: Grip, left_n: float, right_n: float, track_m: float, p: AutorallyParameters
) -> tuple[float, float]:
    """Return the loads after the side force at the roll centre moved some past the springs.

    It moves t = hc F / w from left to right, where F is the side force of the loads after that
    move.
    """
    h_m, left_n, right_n = p.suspension.roll_centre_m, max(left_n, 0.0), max(right_n, 0.0)
    side_n = left_n * left.aside + right_n * right.aside
    moved_n = h_m * side_n / (track_m + h_m * (left.aside - right.aside))
    moved_n = min(max(moved_n, -right_n), left_n)
    return left_n - moved_n, right_n + moved_n


def full_rates(x: State, u: ActuatorInput, p: AutorallyParameters) -> State:
    """Return the right-hand side, in the order of ``Full``, per second."""
    grips, springs_n = grips_of(x, u, p), spring_forces_n(x, p)
    plane = rates_under_loads(x, u, p, grips, full_loads_n(grips, springs_n, p))
    body, (vx_mps, vy_mps, rate_radps) = p.suspension, x[3:6]
    drag_n = 0.5 * body.drag_area_m2 * body.air_kg_per_m3 * vx_mps * abs(vx_mps)
    vx_rate = plane[3] - drag_n / p.mass_kg
    accel_x, accel_y = vx_rate - vy_mps * rate_radps, plane[4] + vx_mps * rate_radps
    rates = body_rates(Rise(*x[10:13]), springs_n, accel_x, accel_y, p)
    return (*plane[:3], vx_rate, *plane[4:], *x[13:16], *rates)


def body_rates(
    rise: Rise, springs_n: Forces, accel_x_mps2: float, accel_y_mps2: float, p: AutorallyParameters
) -> Rise:
    """Return the accelerations of heave, roll and pitch: eq. 7."""
    body, (lf_n, rf_n, lr_n, rr_n) = p.suspension, springs_n
    roll_arm_m = body.height_m - body.roll_centre_m
    lifting_nm = p.lf_m * (lf_n + rf_n) - p.lr_m * (lr_n + rr_n)
    righting_nm = 0.5 * (p.track_front_m * (lf_n - rf_n) + p.track_rear_m * (lr_n - rr_n))
    tilting_nm = body.mass_kg * roll_arm_m * _tilting(rise.roll, accel_y_mps2)
    nodding_nm = body.mass_kg * body.height_m * _tilting(rise.pitch, accel_x_mps2)
    return Rise(
        (lf_n + rf_n + lr_n + rr_n) / body.mass_kg,
        (righting_nm + tilting_nm) / body.roll_inertia_kgm2,
        (lifting_nm + nodding_nm) / body.pitch_inertia_kgm2,
    )


def _tilting(angle_rad: float, accel_mps2: float) -> float:
    """Return the pull of gravity and inertia on a leaning mass, per kg and metre of height."""
    return GRAVITY_MPS2 * sin(angle_rad) + accel_mps2 * cos(angle_rad)
