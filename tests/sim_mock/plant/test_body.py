"""The body alone: closed forms, symmetry, energy, and no jump where the models meet."""

from dataclasses import replace
from math import cos, hypot, sin, tan
from random import Random

import pytest

from sim_mock.bodies.rolling import rear_axle_position
from sim_mock.plant.body import (
    GRAVITY_MPS2,
    BodyInput,
    BodyParameters,
    BodyState,
    derivatives,
)
from sim_mock.plant.integrators import rk2, rk4, step_body
from sim_mock.plant.tyre import linear_n
from tests.sim_mock.plant.cars import f1tenth, nigel

DT_S = 1e-3
CAR = f1tenth().body
CARS = {"f1tenth": f1tenth().body, "nigel": nigel().body}


def kinetic_energy_j(state: BodyState, p: BodyParameters) -> float:
    """Of the car's motion in the plane, without that of its driveline."""
    square = state.vx_mps**2 + state.vy_mps**2
    return 0.5 * p.mass_kg * square + 0.5 * p.inertia_z_kgm2 * state.yaw_rate_radps**2


def rolled(p: BodyParameters, state: BodyState, u: BodyInput, steps: int) -> BodyState:
    for _ in range(steps):
        step_body(state, DT_S, u, p, rk2)
    return state


@pytest.mark.parametrize("name", CARS)
def test_at_rest_stays_at_rest_exactly_however_it_steers(name):
    p, state, random = CARS[name], BodyState(1.0, -2.0, 0.5), Random(1)
    u = BodyInput(p, 0.8)
    for _ in range(1000):
        u.steer(random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), p)
        step_body(state, DT_S, u, p, rk2)
    assert state.values() == (1.0, -2.0, 0.5, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", CARS)
@pytest.mark.parametrize("seed", range(20))
def test_energy_never_grows_without_drive(name, seed):
    p, random = CARS[name], Random(seed)
    u = BodyInput(p, 0.8)
    state = BodyState(
        vx_mps=random.uniform(-4, 4),
        vy_mps=random.uniform(-2, 2),
        yaw_rate_radps=random.uniform(-6, 6),
    )
    front_rad = rear_rad = 0.0
    before_j = kinetic_energy_j(state, p)
    for _ in range(3000):
        front_rad = max(-0.5, min(0.5, front_rad + random.uniform(-0.006, 0.006)))
        rear_rad = max(-0.5, min(0.5, rear_rad + random.uniform(-0.006, 0.006)))
        u.steer(front_rad, rear_rad, p)
        step_body(state, DT_S, u, p, rk2)
        after_j = kinetic_energy_j(state, p)
        assert after_j <= before_j * (1 + 1e-9)
        before_j = after_j


def test_a_sliding_car_loses_the_energy_that_friction_takes():
    """Sideways at 2 m/s: v^2 / (2 mu g), to its last centimetre."""
    u = BodyInput(CAR, 0.8)
    state = rolled(CAR, BodyState(vy_mps=2.0), u, 1000)
    assert state.y_m == pytest.approx(2.0**2 / (2 * 0.8 * GRAVITY_MPS2), rel=1e-4)
    assert state.values()[3:] == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)


@pytest.mark.parametrize("vx_mps", [0.1, 0.4, 2.0, -2.0])
def test_left_and_right_are_mirror_images(vx_mps):
    ends = []
    for side in (1.0, -1.0):
        u = BodyInput(CAR, 0.8)
        u.steer(side * 0.3, side * -0.05, CAR)
        u.force_front_n = u.force_rear_n = 2.0
        ends.append(rolled(CAR, BodyState(vx_mps=vx_mps), u, 1500).values())
    (x, y, yaw, vx, vy, rate), mirrored = ends
    assert mirrored == pytest.approx((x, -y, -yaw, vx, -vy, -rate), abs=1e-12)
    assert abs(yaw) > 0.05


def test_slow_circle_is_the_kinematic_one():
    """Rear axle on a radius of L / tan(steer), back at the start after one turn."""
    u = BodyInput(CAR, 0.8)
    u.steer(0.3, 0.0, CAR)
    state = BodyState(vx_mps=0.2)
    rolled(CAR, state, u, 20)  # the first steps take away the side slip of going straight
    radius_m = CAR.wheelbase_m / tan(0.3)
    start, yaw = rear_axle_position(state, CAR.lr_m), state.yaw_rad
    centre = (start[0] - radius_m * sin(yaw), start[1] + radius_m * cos(yaw))
    speed_mps = state.vx_mps
    for _ in range(20_000):
        step_body(state, DT_S, u, CAR, rk2)
        x, y = rear_axle_position(state, CAR.lr_m)
        assert hypot(x - centre[0], y - centre[1]) == pytest.approx(radius_m, rel=1e-4)
    assert state.vx_mps == pytest.approx(speed_mps, rel=1e-12)
    assert state.yaw_rad - yaw == pytest.approx(speed_mps * 20.0 / radius_m, rel=1e-4)


def test_kinematic_right_hand_side_is_the_bicycle_of_the_text_book():
    """Rajamani eq. 2.12 to 2.14 with speed v and slip angle beta."""
    u = BodyInput(CAR)
    u.steer(0.3, -0.1, CAR)
    vx, yaw = 1.7, 0.4
    vy, rate = vx * u.sway, vx * u.turn_per_m
    x, y = vx * cos(yaw) - vy * sin(yaw), vx * sin(yaw) + vy * cos(yaw)
    tan_beta = (CAR.lf_m * tan(-0.1) + CAR.lr_m * tan(0.3)) / CAR.wheelbase_m
    speed = vx * hypot(1.0, tan_beta)
    cos_beta, sin_beta = vx / speed, vx * tan_beta / speed
    assert x == pytest.approx(speed * (cos(yaw) * cos_beta - sin(yaw) * sin_beta))
    assert y == pytest.approx(speed * (sin(yaw) * cos_beta + cos(yaw) * sin_beta))
    assert rate == pytest.approx(speed * cos_beta / CAR.wheelbase_m * (tan(0.3) - tan(-0.1)))


@pytest.mark.parametrize("vx_mps", [1.0, 3.0, 6.0])
def test_steady_cornering_follows_the_understeer_gradient(vx_mps):
    """r = v steer / (L + K v^2), K = m (lr / Cf - lf / Cr) / L (Rajamani eq. 3.15).

    The gradient is made large, 9 mm per (m/s)^2, so that a model without tyres fails.
    """
    p = replace(CAR, law=linear_n, h_cg_m=0.0, stiffness_front_per_rad=4.0)
    u = BodyInput(p, 1.0)
    u.steer(0.01, 0.0, p)
    stiff_front = p.stiffness_front_per_rad * u.load_front_n
    stiff_rear = p.stiffness_rear_per_rad * u.load_rear_n
    gradient = p.mass_kg * (p.lr_m / stiff_front - p.lf_m / stiff_rear) / p.wheelbase_m
    state = BodyState(vx_mps=vx_mps)
    for _ in range(5000):
        u.force_x_n = 1000.0 * (vx_mps - state.vx_mps)
        step_body(state, DT_S, u, p, rk4)
    expected = vx_mps * 0.01 / (p.wheelbase_m + gradient * vx_mps**2)
    assert state.yaw_rate_radps == pytest.approx(expected, rel=1e-3)
    assert gradient > 0.007
    assert expected < 0.99 * vx_mps * 0.01 / p.wheelbase_m


def test_forces_and_spin_add_up_to_newton():
    """With a law of constant force the right-hand side is a sum that one does by hand."""
    p = replace(CAR, law=lambda slip, stiffness_n, limit_n: 5.0)
    u = BodyInput(p)
    u.steer(0.2, -0.1, p)
    u.force_front_n, u.force_rear_n, u.force_x_n = 3.0, 4.0, -1.0
    fx = 3 * cos(0.2) - 5 * sin(0.2) + 4 * cos(-0.1) - 5 * sin(-0.1) - 1.0
    front_y, rear_y = 3 * sin(0.2) + 5 * cos(0.2), 4 * sin(-0.1) + 5 * cos(-0.1)
    got = derivatives((0.0, 0.0, 0.0, 2.0, 0.3, 0.5), u, p)
    expected = (
        2.0,
        0.3,
        0.5,
        fx / p.mass_kg + 0.3 * 0.5,
        (front_y + rear_y) / p.mass_kg - 2.0 * 0.5,
        (p.lf_m * front_y - p.lr_m * rear_y) / p.inertia_z_kgm2,
    )
    assert got == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("accel_mps2", [0.3, -0.3])
@pytest.mark.parametrize("name", CARS)
def test_no_jump_and_no_chatter_while_the_models_change(name, accel_mps2):
    """Through the band, up and down: the yaw rate never steps, and its slope keeps its sign."""
    p = CARS[name]
    u = BodyInput(p, 0.8)
    u.steer(0.3, 0.0, p)
    low, high = 0.5 * p.kinematic_below_mps, 2.0 * p.kinematic_below_mps
    state = BodyState(vx_mps=low if accel_mps2 > 0 else high + 0.1)
    u.force_x_n = accel_mps2 * p.mass_kg
    rolled(p, state, u, 100)  # until the turn is steady
    changes = []
    while state.vx_mps < high if accel_mps2 > 0 else state.vx_mps > low:
        rate = state.yaw_rate_radps
        step_body(state, DT_S, u, p, rk2)
        changes.append((state.yaw_rate_radps - rate) / (accel_mps2 * DT_S * u.turn_per_m))
    assert len(changes) > 500
    assert min(changes) > 0.5
    assert max(changes) < 1.2


def test_held_speed_within_the_band_is_steady():
    u = BodyInput(CAR, 0.8)
    u.steer(0.3, 0.0, CAR)
    state, rates = BodyState(vx_mps=0.36), []
    for _ in range(3000):
        u.force_x_n = 300.0 * (0.36 - state.vx_mps)
        step_body(state, DT_S, u, CAR, rk2)
        rates.append(state.yaw_rate_radps)
    assert max(rates[-1000:]) - min(rates[-1000:]) < 1e-9


def test_payload_shifts_centre_and_adds_mass_and_inertia():
    loaded = CAR.with_payload(1.0, -0.1)
    shift_m = -0.1 * 1.0 / (CAR.mass_kg + 1.0)
    assert loaded.mass_kg == pytest.approx(CAR.mass_kg + 1.0)
    assert (loaded.lf_m, loaded.lr_m) == pytest.approx((CAR.lf_m - shift_m, CAR.lr_m + shift_m))
    about_new_centre = CAR.inertia_z_kgm2 + CAR.mass_kg * shift_m**2
    about_new_centre += CAR.wheelbase_m**2 / 12 + (-0.1 - shift_m) ** 2
    assert loaded.inertia_z_kgm2 == pytest.approx(about_new_centre)


def test_load_moves_to_the_axle_that_the_car_leans_on():
    u = BodyInput(CAR, 0.5)
    u.load(-5.0, 0.5, CAR)
    weight_n = CAR.mass_kg * GRAVITY_MPS2
    shifted_n = CAR.mass_kg * 5.0 * CAR.h_cg_m / CAR.wheelbase_m
    assert u.load_front_n == pytest.approx(weight_n * CAR.lr_m / CAR.wheelbase_m + shifted_n)
    assert u.load_front_n + u.load_rear_n == pytest.approx(weight_n)
    assert u.grip_rear_n == pytest.approx(0.5 * u.load_rear_n)
