"""The whole car: rest, symmetry, energy, closed forms, and what no other model here does."""

import csv
from cmath import rect
from dataclasses import replace
from itertools import pairwise
from math import cos, exp, log2, pi, sin, sqrt, tan
from pathlib import Path
from random import Random

import pytest

from sim_mock.models.autodrive.car import Sprung, spring_forces_n, sprung_rates, wheel_loads_n
from sim_mock.models.autodrive.cars import F1TENTH, HUNTER_SE, NIGEL
from sim_mock.models.autodrive.curve import Curve
from sim_mock.models.autodrive.motor import wheel_torque_nm
from sim_mock.models.autodrive.parameters import NormalisedInput
from sim_mock.models.autodrive.steering import wheel_angles_rad
from sim_mock.models.autorally.parameters import AUTORALLY
from sim_mock.models.autorally.parameters import ActuatorInput as RallyInput
from sim_mock.models.integration import rk4
from tests.sim_mock.models.autodrive.drives import assert_mirrored, energy_j, rolling
from tests.sim_mock.models.autorally.drives import MODELS as RALLY
from tests.sim_mock.models.autorally.drives import rolling as rally_rolling

CARS = {"nigel": NIGEL, "f1tenth": F1TENTH, "hunter": HUNTER_SE}
TEST_SPEED_MPS = {"nigel": 0.3, "f1tenth": 3.0, "hunter": 2.0}
LOG = Path(__file__).parents[5] / "shared" / "data" / "nigel" / "throttle_velocity.csv"
SLIPPERY = Curve(0.1, 0.0, 0.2, 0.0)
each_car = pytest.mark.parametrize("name", CARS)


def steps(p, x, u, seconds, dt_s=0.001):
    for _ in range(round(seconds / dt_s)):
        x = Sprung(*rk4(sprung_rates, x, u, p, dt_s))
        yield x


def run(p, x, u, seconds, dt_s=0.001):
    *_, last = steps(p, x, u, seconds, dt_s)
    return last


@each_car
@pytest.mark.parametrize("steering", [0.0, 1.0])
def test_at_rest_stays_at_rest(name, steering):
    end = run(CARS[name], Sprung(), NormalisedInput(0.0, steering), 0.3)
    assert end == Sprung(steer_rad=end.steer_rad)
    assert (end.steer_rad > 0.0) == (steering > 0.0)


@each_car
def test_at_rest_the_floor_carries_the_weight(name):
    p = CARS[name]
    corners = p.corners
    loads = wheel_loads_n(spring_forces_n(Sprung(), corners), corners, p)
    assert sum(loads) == pytest.approx(p.mass_kg * 9.81)
    front_n, rear_n = (loads[k] + loads[k + 1] - 2 * p.wheel_kg * 9.81 for k in (0, 2))
    assert front_n * p.lf_m == pytest.approx(rear_n * p.lr_m)


@each_car
def test_mirrored_commands_mirror_the_drive(name):
    p = CARS[name]
    left, right = (
        run(p, rolling(p, TEST_SPEED_MPS[name]), NormalisedInput(0.4, side * 0.6), 0.8)
        for side in (1, -1)
    )
    assert left.y_m > 0.005
    assert_mirrored(left, right)


@each_car
def test_turning_the_world_turns_the_drive(name):
    p, u = CARS[name], NormalisedInput(0.4, 0.6)
    slide = {"vy_mps": 0.2 * TEST_SPEED_MPS[name]}
    ahead = run(p, rolling(p, TEST_SPEED_MPS[name], **slide), u, 0.4)
    turned = run(p, rolling(p, TEST_SPEED_MPS[name], yaw_rad=1.1, **slide), u, 0.4)
    c, n = cos(1.1), sin(1.1)
    place = (c * ahead.x_m - n * ahead.y_m, n * ahead.x_m + c * ahead.y_m, ahead.yaw_rad + 1.1)
    assert turned[:3] == pytest.approx(place, abs=1e-9)
    assert turned[3:] == pytest.approx(ahead[3:], abs=1e-9)


def test_sliding_aside_it_goes_aside():
    rates = sprung_rates(rolling(F1TENTH, 2.0, vy_mps=0.5), NormalisedInput(0.1), F1TENTH)
    assert rates[:2] == (2.0, 0.5)


@each_car
def test_plane_and_wheels_follow_newton_under_the_reports_tyres(name):
    """The forces of each wheel written out again, on random slides with wheels at angles."""
    p, random = CARS[name], Random(11)
    for _ in range(60):
        vx, vy = random.uniform(-4.0, 8.0), random.uniform(-1.0, 1.0)
        x = Sprung(
            0, 0, 0.4, vx, vy, random.uniform(-2.0, 2.0),
            *[vx / p.wheel_radius_m * random.uniform(0.8, 1.2) for _ in range(4)],
            steer_rad=random.uniform(-0.3, 0.3),
        )  # fmt: skip
        out, ahead_n, left_n, moment_nm = (
            Sprung(*sprung_rates(x, NormalisedInput(0.5), p)),
            0.0,
            0.0,
            0.0,
        )
        corners = p.corners
        loads = wheel_loads_n(spring_forces_n(x, corners), corners, p)
        angles = wheel_angles_rad(x.steer_rad, p)
        for k, (at, load, angle) in enumerate(zip(corners, loads, angles, strict=True)):
            velocity = complex(
                vx - x.yaw_rate_radps * at.left_m, vy + x.yaw_rate_radps * at.ahead_m
            )
            on_wheel = velocity * rect(1.0, -angle)
            pace = max(abs(on_wheel.real), p.slow_mps)
            rim = x[6 + k] * p.wheel_radius_m
            along = load * p.tyre_along.force((rim - on_wheel.real) / pace)
            push = complex(along, -load * p.tyre_aside.force(on_wheel.imag / pace)) * rect(1, angle)
            ahead_n, left_n = ahead_n + push.real, left_n + push.imag
            moment_nm += at.ahead_m * push.imag - at.left_m * push.real
            is_driven = p.is_front_driven if k < 2 else p.is_rear_driven
            torque = wheel_torque_nm(0.5, x[6 + k], is_driven, p) - along * p.wheel_radius_m
            assert out[6 + k] == pytest.approx(torque / p.spin_kgm2, rel=1e-9, abs=1e-9)
        moment_nm -= p.drag_nms_per_rad * x.yaw_rate_radps
        accel = complex(ahead_n - p.drag_ns_per_m * vx, left_n - p.drag_ns_per_m * vy) / p.mass_kg
        assert out.vx_mps == pytest.approx(accel.real + vy * x.yaw_rate_radps, rel=1e-9, abs=1e-9)
        assert out.vy_mps == pytest.approx(accel.imag - vx * x.yaw_rate_radps, rel=1e-9, abs=1e-9)
        yaw_kgm2 = p.inertia.yaw_kgm2
        assert out.yaw_rate_radps == pytest.approx(moment_nm / yaw_kgm2, rel=1e-9, abs=1e-9)


@each_car
def test_without_throttle_energy_never_grows_and_the_car_comes_to_rest(name):
    p, speed = CARS[name], TEST_SPEED_MPS[name]
    start = rolling(p, speed, vy_mps=0.3 * speed, yaw_rate_radps=1.0)
    energies = [energy_j(p, x) for x in (start, *steps(p, start, NormalisedInput(0.0, 0.5), 2.0))]
    assert max(b - a for a, b in pairwise(energies)) <= 1e-9
    assert energies[-1] < 1e-3 * energies[0]


@each_car
def test_held_wheels_stop_it_sooner_than_drag(name):
    p, speed = CARS[name], TEST_SPEED_MPS[name]
    free = replace(p, hold_nm=0.0)
    held, coasting = (run(q, rolling(q, speed), NormalisedInput(), 0.15) for q in (p, free))
    assert held.vx_mps < coasting.vx_mps - 0.05 * speed


@each_car
def test_coasting_decays_as_linear_drag_does(name):
    """m' v' = -D v, with the wheels' inertia in m'; slip takes a little of it."""
    p = replace(CARS[name], hold_nm=0.0)
    mass_kg = p.mass_kg + 4 * p.spin_kgm2 / p.wheel_radius_m**2
    end = run(p, rolling(p, 2.0), NormalisedInput(), 1.0)
    assert end.vx_mps == pytest.approx(2.0 * exp(-p.drag_ns_per_m / mass_kg), rel=0.03)


def test_spinning_on_ice_decays_as_angular_drag_does():
    p = replace(F1TENTH, tyre_along=SLIPPERY, tyre_aside=SLIPPERY)
    end = run(p, Sprung(yaw_rate_radps=4.0), NormalisedInput(), 2.0)
    rate = p.drag_nms_per_rad / p.inertia.yaw_kgm2
    assert end.yaw_rate_radps == pytest.approx(4.0 * exp(-2.0 * rate), rel=1e-6)


@pytest.mark.parametrize("throttle", [0.3, 1.0])
def test_its_steady_speed_is_where_motor_line_and_drag_meet(throttle):
    p = NIGEL
    end = run(p, rolling(p, 0.27 * throttle), NormalisedInput(throttle), 2.0)
    per_mps = p.drag_ns_per_m * p.wheel_radius_m / (4 * p.motor_nm)
    free_mps = p.wheel_speed_radps * p.wheel_radius_m
    rim_mps = sum(end[6:10]) / 4 * p.wheel_radius_m
    # Drag takes the body's speed, the motor's line the rim's: they differ by the slip.
    assert throttle * (1.0 - rim_mps / free_mps) == pytest.approx(per_mps * end.vx_mps, rel=1e-5)
    assert rim_mps > end.vx_mps


@pytest.mark.exhaustive
@pytest.mark.parametrize("throttle", [0.05, 0.2, 0.6, 1.0])
@pytest.mark.parametrize("name", ["f1tenth", "hunter"])
def test_its_steady_speed_is_in_proportion_to_throttle(name, throttle):
    """As torque and linear damping make it; the tyres' slip takes 2 % of the top speed."""
    p = CARS[name]
    expected = throttle * p.speed_max_mps
    end = run(p, rolling(p, expected), NormalisedInput(throttle), 6.0)
    assert end.vx_mps == pytest.approx(expected, rel=0.03)


def test_f1tenth_reaches_22_88_m_per_s_at_full_throttle():
    end = run(F1TENTH, rolling(F1TENTH, 22.8), NormalisedInput(1.0), 2.0)
    assert end.vx_mps == pytest.approx(22.88, abs=0.1)


@pytest.mark.skipif(not LOG.is_file(), reason="no throttle_velocity.csv beside the project")
def test_nigels_steady_speeds_are_the_simulators():
    with LOG.open(newline="") as file:
        rows = [(float(a), float(b)) for a, b in list(csv.reader(file))[1:]]
    assert len(rows) == 11
    for throttle, speed_mps in rows[1:]:
        end = run(NIGEL, rolling(NIGEL, speed_mps), NormalisedInput(throttle), 1.0)
        assert end.vx_mps == pytest.approx(speed_mps, rel=0.01)


@each_car
def test_slowly_it_turns_on_the_circle_of_its_geometry(name):
    p, speed = CARS[name], {"nigel": 0.15, "f1tenth": 1.0, "hunter": 0.7}[name]
    steering, drag = 0.4, CARS[name].drag_ns_per_m
    hold = drag * speed * p.wheel_radius_m / (p.motor_nm * (2 * p.is_front_driven + 2))
    end = run(p, rolling(p, speed), NormalisedInput(1.15 * hold, steering), 2.5)
    turns = tan(steering * p.steer_max_rad) * (1.0 - p.rear_steer_ratio) / p.wheelbase_m
    assert end.yaw_rate_radps / end.vx_mps == pytest.approx(turns, rel=0.08)


def test_a_lifted_body_rings_at_the_springs_frequency_and_damping():
    p = replace(HUNTER_SE, damper_ns_per_m=100.0)
    heights = [x.heave_m for x in steps(p, Sprung(heave_m=0.005), NormalisedInput(), 0.6, 0.0005)]
    rate = 4 * 100.0 / p.sprung_kg / 2
    ringing = sqrt(4 * 9000.0 / p.sprung_kg - rate**2)
    crossings = [k * 0.0005 for k, (a, b) in enumerate(pairwise(heights)) if a * b < 0.0]
    assert crossings[2] - crossings[0] == pytest.approx(2 * pi / ringing, rel=5e-3)


def test_it_leans_outwards_until_its_loads_carry_the_side_force():
    end = run(F1TENTH, rolling(F1TENTH, 3.0), NormalisedInput(0.1, 0.4), 1.0)
    corners = F1TENTH.corners
    lf, rf, lr, rr = wheel_loads_n(spring_forces_n(end, corners), corners, F1TENTH)
    side_n = F1TENTH.mass_kg * end.vx_mps * end.yaw_rate_radps
    moved_nm = 0.5 * F1TENTH.track_m * (rf + rr - lf - lr)
    assert end.roll_rad > 0.01
    assert moved_nm == pytest.approx(F1TENTH.h_cg_m * side_n, rel=0.05)


def test_a_wheel_that_its_spring_cannot_reach_down_pushes_nothing():
    corners = F1TENTH.corners
    rolled = Sprung(roll_rad=0.3)
    loads = wheel_loads_n(spring_forces_n(rolled, corners), corners, F1TENTH)
    assert loads[0] == loads[2] == 0.0
    assert loads[1] > 20.0


def test_halving_the_step_divides_the_error_by_sixteen():
    """Hunter SE in a gentle turn, wheels at their angle: within the curve's first piece."""
    p, u = HUNTER_SE, NormalisedInput(0.3, 0.1)
    start = rolling(p, 3.0, steer_rad=0.1 * p.steer_max_rad, vy_mps=0.05)
    exact = run(p, start, u, 0.2, 0.2 / 3200)
    ends = [run(p, start, u, 0.2, 0.2 / n) for n in (200, 400, 800)]
    errors = [max(abs(a - b) for a, b in zip(end, exact, strict=True)) for end in ends]
    orders = [log2(coarse / fine) for coarse, fine in pairwise(errors)]
    print(errors, orders)
    assert orders == pytest.approx([4.0, 4.0], abs=0.5)


# --- what no other model here does ---------------------------------------------------------------


def test_spinning_wheels_keep_their_side_force_as_autorallys_do_not():
    """Two curves and no friction circle: the report's tyres."""
    x = rolling(F1TENTH, 5.0, vy_mps=-0.1)
    spun = x._replace(spin_lr_radps=3 * x.spin_lr_radps, spin_rr_radps=3 * x.spin_rr_radps)
    kept = [sprung_rates(s, NormalisedInput(0.1), F1TENTH)[5] for s in (x, spun)]
    assert kept[1] == pytest.approx(kept[0], rel=1e-12)
    y = rally_rolling("double", 5.0, vy_mps=-0.1)
    lost = y._replace(spin_lr_radps=3 * y.spin_lr_radps, spin_rr_radps=3 * y.spin_rr_radps)
    rates = [RALLY["double"].rates(s, RallyInput(), AUTORALLY)[5] for s in (y, lost)]
    assert abs(rates[1] - rates[0]) > 0.1 * abs(rates[0])


def test_beyond_its_extremum_a_tyre_pushes_less():
    near, far = (
        sprung_rates(rolling(F1TENTH, 5.0, vy_mps=-5.0 * slip), NormalisedInput(), F1TENTH)[4]
        for slip in (0.01, 0.3)
    )
    drag = F1TENTH.drag_ns_per_m / F1TENTH.mass_kg  # of the sliding itself
    assert near == pytest.approx(9.81 * 1.0 + 0.05 * drag, rel=1e-3)
    assert far == pytest.approx(9.81 * 0.5 + 1.5 * drag, rel=1e-3)


def test_four_wheel_steering_halves_the_circle():
    two = replace(NIGEL, rear_steer_ratio=0.0)
    ends = [run(p, rolling(p, 0.15), NormalisedInput(0.55, 0.5), 2.0) for p in (NIGEL, two)]
    turns = [end.yaw_rate_radps / end.vx_mps for end in ends]
    assert turns[0] == pytest.approx(2.0 * turns[1], rel=0.08)
