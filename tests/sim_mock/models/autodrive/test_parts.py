"""The report's parts by themselves: curve, slips, Ackermann, steering rate, motor, inertia."""

from dataclasses import replace
from math import degrees, tan

import pytest

from sim_mock.models.autodrive.automobiles import OPENCAV, RZR
from sim_mock.models.autodrive.car import slips
from sim_mock.models.autodrive.cars import F1TENTH, FLAT, HUNTER_SE, LINE, NIGEL
from sim_mock.models.autodrive.curve import Curve
from sim_mock.models.autodrive.motor import profile_at, wheel_torque_nm
from sim_mock.models.autodrive.steering import (
    ackermann_rad,
    steer_rate_radps,
    wheel_angles_rad,
)

CURVE = Curve(0.15, 0.72, 0.25, 0.464)
CARS = {
    "nigel": NIGEL,
    "f1tenth": F1TENTH,
    "hunter": HUNTER_SE,
    "opencav": OPENCAV,
    "rzr": RZR,
}


@pytest.mark.parametrize(
    ("slip", "force"),
    [(0.0, 0.0), (0.15, 0.72), (0.25, 0.464), (9.0, 0.464), (-0.15, -0.72), (-9.0, -0.464)],
)
def test_the_curve_goes_through_its_points_both_ways(slip, force):
    assert CURVE.force(slip) == pytest.approx(force, abs=1e-12)


@pytest.mark.parametrize(("first", "last"), [(0.0, 0.15), (0.15, 0.25)])
def test_each_piece_is_a_cubic(first, last):
    """The fourth differences of a cubic vanish; across both pieces they do not."""
    points = [CURVE.force(first + k * (last - first) / 4) for k in range(5)]
    a, b, c, d, e = points
    assert a - 4 * b + 6 * c - 4 * d + e == pytest.approx(0.0, abs=1e-12)
    across = [CURVE.force(0.05 + 0.05 * k) for k in range(5)]
    assert abs(across[0] - 4 * across[1] + 6 * across[2] - 4 * across[3] + across[4]) > 0.01


@pytest.mark.parametrize("slip", [0.15, 0.25])
def test_the_curve_is_level_at_its_extremum_and_its_asymptote(slip):
    for side in (-1e-6, 1e-6):
        assert (CURVE.force(slip + side) - CURVE.force(slip)) / side == pytest.approx(0, abs=1e-3)


def test_the_curve_never_exceeds_its_extremum_and_starts_with_its_slope():
    forces = [CURVE.force(0.001 * k) for k in range(400)]
    assert max(forces) == pytest.approx(0.72, abs=1e-5)
    assert forces[1] / 0.001 == pytest.approx(CURVE.slope, rel=0.01)


def test_slips_are_the_reports():
    assert slips(5.0, 0.5, 6.0, 1.0) == pytest.approx((0.2, 0.1))
    assert slips(-5.0, 0.5, -6.0, 1.0) == pytest.approx((-0.2, 0.1))
    assert slips(0.0, 0.1, 0.2, 0.5) == pytest.approx((0.4, 0.2))  # over slow_mps


@pytest.mark.parametrize("p", CARS.values(), ids=CARS)
@pytest.mark.parametrize("steer_rad", [-0.3, 0.1, 0.35])
def test_both_front_wheels_roll_about_one_point_on_the_rear_axle(p, steer_rad):
    left, right = ackermann_rad(steer_rad, p)
    # cot(right) - cot(left) = track / wheelbase, and the middle of the cots is that of the angle
    assert 1 / tan(right) - 1 / tan(left) == pytest.approx(p.track_m / p.wheelbase_m)
    assert 0.5 * (1 / tan(right) + 1 / tan(left)) == pytest.approx(1 / tan(steer_rad))


def test_nigels_wheels_stand_at_40_0_and_23_8_degrees_at_full_lock():
    left, right, rear_left, rear_right = wheel_angles_rad(NIGEL.steer_max_rad, NIGEL)
    assert degrees(left) == pytest.approx(40.0, abs=0.1)
    assert degrees(right) == pytest.approx(23.8, abs=0.1)
    assert (rear_left, rear_right) == pytest.approx((-left, -right))
    assert wheel_angles_rad(0.3, F1TENTH)[2:] == (0.0, 0.0)


def test_the_steering_rate_grows_with_speed_up_to_the_cars_top_speed():
    p = replace(F1TENTH, steer_rate_radps=2.0, steer_rate_by_speed_radps=1.0, speed_max_mps=10.0)
    rates = [steer_rate_radps(1.0, 0.0, speed, p) for speed in (0.0, 5.0, -5.0, 10.0, 40.0)]
    assert rates == pytest.approx([2.0, 2.5, 2.5, 3.0, 3.0])
    assert steer_rate_radps(-1.0, 0.0, 0.0, p) == -2.0
    assert steer_rate_radps(1.0, p.steer_max_rad, 0.0, p) == 0.0
    # Beyond full lock there is nothing to ask for
    assert steer_rate_radps(7.0, p.steer_max_rad, 0.0, p) == 0.0
    assert steer_rate_radps(-7.0, -p.steer_max_rad, 0.0, p) == 0.0


def test_a_profile_is_straight_between_its_points():
    profile = ((0.0, 1.0), (0.5, 0.8), (1.0, 0.0))
    shares = (-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0)
    out = [profile_at(profile, share) for share in shares]
    assert out == pytest.approx([1.0, 1.0, 0.9, 0.8, 0.4, 0.0, 0.0])


def test_a_motor_pushes_by_throttle_and_line_and_holds_when_idle():
    p = NIGEL
    half = 0.5 * p.wheel_speed_radps
    torque = [
        wheel_torque_nm(t, w, True, p) for t, w in ((1, 0), (0.5, half), (-1, -half), (-1, half))
    ]
    assert torque == pytest.approx([p.motor_nm * s for s in (1.0, 0.25, -0.5, -1.0)])
    held = [wheel_torque_nm(0.0, w, False, p) for w in (-50.0, 0.0, 50.0)]
    assert held == [p.hold_nm, 0.0, -p.hold_nm]
    assert wheel_torque_nm(1.0, 0.0, False, p) == 0.0
    assert p.profile is LINE


@pytest.mark.parametrize("p", [F1TENTH, HUNTER_SE], ids=["f1tenth", "hunter"])
def test_a_torque_without_a_line_is_slowed_down_by_the_wheels_damping(p):
    assert p.profile is FLAT
    for throttle, spin in ((1.0, 0.0), (0.5, 20.0), (-0.5, 20.0), (-1.0, -20.0)):
        expected = p.motor_nm * throttle - p.wheel_damping_nms * spin
        assert wheel_torque_nm(throttle, spin, True, p) == pytest.approx(expected)


@pytest.mark.parametrize("p", CARS.values(), ids=CARS)
def test_sprung_masses_have_the_cars_mass_centre_and_inertia(p):
    corners, inertia = p.corners, p.inertia
    assert sum(at.sprung_kg for at in corners) == pytest.approx(p.sprung_kg)
    assert sum(at.sprung_kg * at.ahead_m for at in corners) == pytest.approx(0.0, abs=1e-12)
    # Four point masses at the corners, in closed form
    assert inertia.pitch_kgm2 == pytest.approx(p.sprung_kg * p.lf_m * p.lr_m)
    assert inertia.roll_kgm2 == pytest.approx(p.sprung_kg * p.track_m**2 / 4)
    assert inertia.yaw_kgm2 > inertia.pitch_kgm2 + inertia.roll_kgm2
    assert p.spin_kgm2 == pytest.approx(0.5 * p.wheel_kg * p.wheel_radius_m**2)


@pytest.mark.parametrize("p", CARS.values(), ids=CARS)
def test_no_rate_of_its_tyres_is_beyond_runge_kutta_at_1_ms(p):
    load_n = 9.81 * p.mass_kg / 4
    spin = p.tyre_along.slope * load_n * p.wheel_radius_m**2 / p.spin_kgm2
    side = p.tyre_aside.slope * 9.81 * max(1.0, p.mass_kg * p.lf_m * p.lr_m / p.inertia.yaw_kgm2)
    assert max(spin, side) / p.slow_mps < 2000.0
