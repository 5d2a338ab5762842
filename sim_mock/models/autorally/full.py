"""AutoRally's full model: the double track on springs, with ride, roll, pitch and air.

Source: the paper, eq. 5 to 7. Four things in print there cannot be and are put right:
eq. 6 subtracts a force from an acceleration (here: by the mass); eq. 7a has theta in place of z
and phi in place of theta (here: as the matching terms of 7b demand); and the signs of its coupling
and of m a h only agree where z points down and theta lifts the nose, so heave here, which points
up, is -z. Loads are static, plus what springs and dampers push, plus what goes through the roll
centre past them; the paper leaves loads to its reference [23]. The wheels' own inertia
moves no load.
"""

from collections.abc import Sequence
from math import cos, sin
from typing import NamedTuple

from sim_mock.models.autorally.double_track import corners_of, grips_of, rates_under_loads
from sim_mock.models.autorally.parameters import GRAVITY_MPS2, Car, Input, Suspension
from sim_mock.models.autorally.tyre import Grip
from sim_mock.models.integration import State


class Full(NamedTuple):
    """State: DoubleTrack's ten, then how the body moves on its springs, from its place at rest.

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


def spring_forces_n(x: State, p: Car) -> list[float]:
    """What each spring and damper adds to its wheel's static load, left front to right rear."""
    rise, speed, body = Rise(*x[10:13]), Rise(*x[13:16]), p.suspension
    return [
        -stiffness * (rise.heave + at.ahead_m * rise.pitch + at.left_m * rise.roll)
        - damping * (speed.heave + at.ahead_m * speed.pitch + at.left_m * speed.roll)
        for at, (stiffness, damping) in zip(corners_of(p), _springs(body), strict=True)
    ]


def _springs(body: Suspension) -> tuple[tuple[float, float], ...]:
    front = (body.spring_front_n_per_m, body.damper_front_ns_per_m)
    rear = (body.spring_rear_n_per_m, body.damper_rear_ns_per_m)
    return front, front, rear, rear


def full_loads_n(grips: Sequence[Grip], springs_n: Sequence[float], p: Car) -> list[float]:
    """Loads of the four wheels; a wheel in the air has none.

    Per axle, the side force at the roll centre moves t = hc F / w from left to right past the
    springs, F being that of the loads so moved.
    """
    weight_n, h_m = p.mass_kg * GRAVITY_MPS2, p.suspension.roll_centre_m
    static_n = (weight_n * p.lr_m / p.wheelbase_m, weight_n * p.lf_m / p.wheelbase_m)
    loads = []
    for axle, track_m in enumerate((p.track_front_m, p.track_rear_m)):
        (left, right), pair = grips[2 * axle : 2 * axle + 2], springs_n[2 * axle : 2 * axle + 2]
        left_n, right_n = (max(0.5 * static_n[axle] + spring_n, 0.0) for spring_n in pair)
        side_n = left_n * left.aside + right_n * right.aside
        moved_n = h_m * side_n / (track_m + h_m * (left.aside - right.aside))
        moved_n = min(max(moved_n, -right_n), left_n)
        loads += [left_n - moved_n, right_n + moved_n]
    return loads


def full_rates(x: State, u: Input, p: Car) -> State:
    """Right-hand side, in the order of ``Full``, per second."""
    grips, springs_n = grips_of(x, u, p), spring_forces_n(x, p)
    plane = rates_under_loads(x, u, p, grips, full_loads_n(grips, springs_n, p))
    body, (vx_mps, vy_mps, rate_radps) = p.suspension, x[3:6]
    drag_n = 0.5 * body.drag_area_m2 * body.air_kg_per_m3 * vx_mps * abs(vx_mps)
    vx_rate = plane[3] - drag_n / p.mass_kg
    accel_x, accel_y = vx_rate - vy_mps * rate_radps, plane[4] + vx_mps * rate_radps
    rates = body_rates(Rise(*x[10:13]), springs_n, accel_x, accel_y, p)
    return (*plane[:3], vx_rate, *plane[4:], *x[13:16], *rates)


def body_rates(
    rise: Rise, springs_n: Sequence[float], accel_x_mps2: float, accel_y_mps2: float, p: Car
) -> Rise:
    """Eq. 7: accelerations of heave, roll and pitch."""
    body, corners = p.suspension, corners_of(p)
    roll_arm_m = body.height_m - body.roll_centre_m
    pairs = list(zip(corners, springs_n, strict=True))
    lifting_nm = sum(at.ahead_m * spring_n for at, spring_n in pairs)
    righting_nm = sum(at.left_m * spring_n for at, spring_n in pairs)
    return Rise(
        sum(springs_n) / body.mass_kg,
        (righting_nm + body.mass_kg * roll_arm_m * _tilting(rise.roll, accel_y_mps2))
        / body.roll_inertia_kgm2,
        (lifting_nm + body.mass_kg * body.height_m * _tilting(rise.pitch, accel_x_mps2))
        / body.pitch_inertia_kgm2,
    )


def _tilting(angle_rad: float, accel_mps2: float) -> float:
    """Gravity's and inertia's pull on a mass that leans, per kilogram and metre of its height."""
    return GRAVITY_MPS2 * sin(angle_rad) + accel_mps2 * cos(angle_rad)
