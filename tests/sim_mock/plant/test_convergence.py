"""The order of each integrator, and the errors that chose the default."""

from math import hypot, log2, sin

import pytest

from sim_mock.plant.body import BodyInput, State
from sim_mock.plant.integrators import INTEGRATORS, Integrator
from tests.sim_mock.plant.cars import f1tenth

CAR = f1tenth().body
ORDERS = {"euler": 1, "rk2": 2, "rk4": 4}


def weave(integrate: Integrator, steps: int) -> State:
    """One second at 3 m/s into a turn of 0.1 rad with a little drive: smooth, tyres at work."""
    u = BodyInput(CAR, 1.0)
    u.steer(0.1, 0.0, CAR)
    u.force_rear_n = 2.0
    state: State = (0.0, 0.0, 0.0, 3.0, 0.0, 0.0)
    for _ in range(steps):
        state = integrate(state, 1.0 / steps, u, CAR)
    return state


REFERENCE = weave(INTEGRATORS["rk4"], 16_000)


def error_m(integrate: Integrator, steps: int) -> float:
    state = weave(integrate, steps)
    return hypot(state[0] - REFERENCE[0], state[1] - REFERENCE[1])


@pytest.mark.parametrize("name", ORDERS)
def test_halving_the_step_divides_the_error_by_two_to_the_order(name):
    coarse, fine = (error_m(INTEGRATORS[name], steps) for steps in (250, 500))
    print(f"{name}: {coarse:.3g} m at 4 ms, {fine:.3g} m at 2 ms: order {log2(coarse / fine):.2f}")
    assert log2(coarse / fine) == pytest.approx(ORDERS[name], abs=0.2)


def test_default_is_right_to_a_tenth_of_a_millimetre_at_1_ms():
    errors = {name: error_m(INTEGRATORS[name], 1000) for name in ORDERS}
    print(errors)
    assert f1tenth().integrate is INTEGRATORS["rk2"]
    assert errors["rk4"] < errors["rk2"] < 1e-4 < errors["euler"] < 1e-2
    assert sin(REFERENCE[2]) > 0.1  # it did turn
