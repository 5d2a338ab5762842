"""The servo: curve, dead time, rate, lag, silence."""

import itertools
from math import exp

import pytest

from sim_mock.plant.servo import CalibrationCurve, Servo, ServoParameters

DT_S = 1e-3
CURVE = [(-0.4, 1_000_000), (0.0, 1_600_000), (0.5, 2_000_000)]  # lopsided, as real ones are


def servo(rate_rad_s: float = 1000.0, dead_time_s: float = 0.0, lag_s: float = 0.0) -> Servo:
    return Servo(CalibrationCurve(CURVE), ServoParameters(rate_rad_s, dead_time_s, lag_s))


def angles(one: Servo, pulse_ns: int, steps: int) -> list[float]:
    return [one.step(DT_S, pulse_ns) for _ in range(steps)]


@pytest.mark.parametrize("points", [CURVE, [(a, 3_000_000 - p) for a, p in CURVE]])
def test_curve_inverts_what_the_program_walks(points):
    curve = CalibrationCurve(points)
    for angle_rad, pulse_ns in points:
        assert curve.angle_rad(pulse_ns) == pytest.approx(angle_rad)
    middle_ns = (points[1][1] + points[2][1]) / 2
    assert curve.angle_rad(middle_ns) == pytest.approx(0.25)


def test_curve_is_flat_beyond_its_ends():
    curve = CalibrationCurve(CURVE)
    assert (curve.angle_rad(1), curve.angle_rad(2_999_999)) == (-0.4, 0.5)


def test_counter_phase_wheels_turn_the_other_way():
    assert CalibrationCurve(CURVE, -1.0).angle_rad(2_000_000) == -0.5


def test_nothing_moves_before_the_dead_time():
    turned = angles(servo(dead_time_s=0.010), 2_000_000, 12)
    assert turned[:10] == [0.0] * 10
    assert turned[10] > 0.0


def test_every_pulse_comes_as_late_as_the_first():
    one = servo(dead_time_s=0.010)
    angles(one, 2_000_000, 5)
    turned = angles(one, 1_600_000, 20)
    assert turned[4] == 0.0
    assert turned[5:10] == [0.5] * 5
    assert turned[10] == 0.0


def test_rate_is_kept_and_the_target_is_met_exactly():
    turned = angles(servo(rate_rad_s=2.0), 2_000_000, 300)
    steps = [b - a for a, b in itertools.pairwise(turned)]
    assert max(steps) == pytest.approx(2.0 * DT_S)
    assert turned[248] < 0.5 == turned[250] == turned[-1]


def test_lag_reaches_63_percent_after_one_time_constant():
    turned = angles(servo(lag_s=0.05), 2_000_000, 50)
    assert turned[-1] == pytest.approx(0.5 * (1 - exp(-1)), rel=1e-9)


def test_without_pulses_it_holds():
    one = servo(rate_rad_s=2.0)
    angles(one, 2_000_000, 100)
    held = angles(one, 0, 500)
    assert held[-1] == 0.5
