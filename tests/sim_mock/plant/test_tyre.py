"""The tyre laws: slope, limit, symmetry, and what driving leaves for the side."""

import itertools
from math import atan, sqrt

import pytest

from sim_mock.plant.tyre import fiala_n, linear_n, side_limit_n
from tests.support.evidence import every

STIFFNESS_N, LIMIT_N = 80.0, 14.0


def test_no_slip_no_force():
    assert fiala_n(0.0, STIFFNESS_N, LIMIT_N) == linear_n(0.0, STIFFNESS_N, LIMIT_N) == 0.0


@pytest.mark.parametrize("law", [fiala_n, linear_n])
def test_slope_at_the_origin_is_the_stiffness(law):
    assert law(1e-6, STIFFNESS_N, LIMIT_N) / 1e-6 == pytest.approx(STIFFNESS_N, rel=1e-4)


def test_fiala_never_exceeds_the_limit_and_never_falls():
    forces_n = [fiala_n(0.001 * i, STIFFNESS_N, LIMIT_N) for i in range(2000)]
    assert every(a <= b for a, b in itertools.pairwise(forces_n))
    assert forces_n[-1] == LIMIT_N
    assert max(forces_n) == LIMIT_N


def test_fiala_slides_from_three_times_limit_over_stiffness_on():
    slides_at = 3 * LIMIT_N / STIFFNESS_N
    assert fiala_n(0.99 * slides_at, STIFFNESS_N, LIMIT_N) < LIMIT_N
    assert fiala_n(slides_at, STIFFNESS_N, LIMIT_N) == LIMIT_N
    assert fiala_n(slides_at / 3, STIFFNESS_N, LIMIT_N) == pytest.approx(LIMIT_N * 19 / 27)


def test_linear_has_no_limit():
    assert linear_n(2.0, STIFFNESS_N, LIMIT_N) == STIFFNESS_N * atan(2.0) > LIMIT_N


@pytest.mark.parametrize("law", [fiala_n, linear_n])
def test_laws_are_odd(law):
    for slip in (0.01, 0.1, 0.5, 3.0):
        assert law(-slip, STIFFNESS_N, LIMIT_N) == -law(slip, STIFFNESS_N, LIMIT_N)


def test_driving_takes_from_the_side_within_the_circle():
    assert side_limit_n(10.0, 0.0) == 10.0
    assert side_limit_n(10.0, 6.0) == side_limit_n(10.0, -6.0) == pytest.approx(8.0)
    assert side_limit_n(10.0, 9.0) == pytest.approx(sqrt(19.0))
    assert side_limit_n(10.0, 10.0) == side_limit_n(10.0, 11.0) == 0.0
    assert fiala_n(1.0, STIFFNESS_N, 0.0) == 0.0
