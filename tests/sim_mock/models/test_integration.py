"""The integrator: its order is measured, and it is the plant's rule."""

from itertools import pairwise
from math import cos, exp, log2, sin

import pytest

from sim_mock.models.integration import rk4


def decay(x, u, p):
    return (-p * x[0] + u,)


def swing(x, u, p):
    return (x[1], -p * p * x[0])


def swung(steps: int) -> tuple[float, ...]:
    x: tuple[float, ...] = (1.0, 0.0)
    for _ in range(steps):
        x = rk4(swing, x, None, 2.0, 3.0 / steps)
    return x


def test_halving_the_step_divides_the_error_by_sixteen():
    errors = [abs(swung(steps)[0] - cos(6.0)) for steps in (200, 400, 800)]
    orders = [log2(coarse / fine) for coarse, fine in pairwise(errors)]
    print(errors, orders)
    assert orders == pytest.approx([4.0, 4.0], abs=0.06)


def test_both_numbers_of_a_swing_are_right():
    assert swung(1000) == pytest.approx((cos(6.0), -2.0 * sin(6.0)), abs=1e-9)


def test_one_step_of_a_decay_is_the_series_of_exp_to_the_fourth_power():
    h = 0.5
    assert rk4(decay, (1.0,), 0.0, 1.0, h)[0] == pytest.approx(
        1 - h + h**2 / 2 - h**3 / 6 + h**4 / 24, abs=1e-15
    )


def test_the_input_is_held_over_the_step():
    x: tuple[float, ...] = (0.0,)
    for _ in range(100):
        x = rk4(decay, x, 3.0, 1.0, 0.01)
    assert x[0] == pytest.approx(3.0 * (1.0 - exp(-1.0)), abs=1e-10)


def test_states_of_another_length_are_refused():
    with pytest.raises(ValueError, match="zip"):
        rk4(lambda x, u, p: (0.0, 0.0), (1.0,), None, None, 0.1)
