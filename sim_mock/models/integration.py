"""The integrator of the vehicle models: classical Runge-Kutta with inputs held over the step.

``plant/integrators.py`` has the same rule unrolled for the six numbers of its body, where half of a
step's time would go into loops; the states here have three to fifteen.
"""

from collections.abc import Callable
from typing import TypeVar

State = tuple[float, ...]
Input = TypeVar("Input")
Given = TypeVar("Given")
RightHandSide = Callable[[State, Input, Given], State]


def rk4(f: RightHandSide[Input, Given], x: State, u: Input, p: Given, dt_s: float) -> State:
    """Return ``x`` after ``dt_s`` seconds of x' = f(x, u, p) with ``u`` held. Fourth order.

    Source: W. Kutta, Z. Math. Phys. 46 (1901); Hairer, Norsett and Wanner, Solving Ordinary
    Differential Equations I, 2nd ed., table II.1.2.
    """
    k1 = f(x, u, p)
    k2 = f(moved(x, k1, 0.5 * dt_s), u, p)
    k3 = f(moved(x, k2, 0.5 * dt_s), u, p)
    k4 = f(moved(x, k3, dt_s), u, p)
    sixth = dt_s / 6.0  # the classic Runge-Kutta method: weights 1, 2, 2 and 1
    columns = zip(x, k1, k2, k3, k4, strict=True)
    return tuple([a + sixth * (b + 2.0 * (c + d) + e) for a, b, c, d, e in columns])


def moved(x: State, rate: State, dt_s: float) -> State:
    """Return the state ``x + dt_s * rate``, element by element."""
    return tuple([a + dt_s * b for a, b in zip(x, rate, strict=True)])  # faster than a generator
