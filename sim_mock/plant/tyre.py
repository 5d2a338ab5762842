"""The side force of one axle's tyres, by a law that is a parameter.

Slip is the tangent of the slip angle, positive when the tyre pushes to the left. Forces are of both
tyres of an axle together, in newtons. ``limit_n`` is the side force that the friction circle leaves
when the tyre drives or brakes.
"""

from collections.abc import Callable
from math import atan, sqrt
from typing import Final

# Sliding friction is less than static friction. One tenth is an estimate for rubber on a floor.
# Without a difference a car with spinning wheels would have no side force left and could not be
# recovered.
SLIDING_SHARE: Final = 0.9

TyreLaw = Callable[[float, float, float], float]


def side_limit_n(grip_n: float, along_n: float) -> float:
    """Return the side force left within the friction circle: sqrt((mu N)^2 - Fx^2).

    Source: Pacejka, Tire and Vehicle Dynamics, 3rd ed., section 3.3 (isotropic friction).
    """
    left = grip_n * grip_n - along_n * along_n
    return sqrt(left) if left > 0.0 else 0.0


def linear_n(slip: float, stiffness_n: float, limit_n: float) -> float:
    """Return C * alpha without any limit: for comparison with linear models only."""
    return stiffness_n * atan(slip)


def fiala_n(slip: float, stiffness_n: float, limit_n: float) -> float:
    """Return the force of the brush model with parabolic pressure.

    It is C * slip when small, ``limit_n`` when sliding. With x = C tan(alpha) / (3 limit): F =
    limit x (3 - 3|x| + x^2) up to |x| = 1. Source: E. Fiala, VDI-Zeitschrift 96 (1954); Pacejka,
    section 3.2; with the limit lowered by the force along the wheel as in Hindiyeh and Gerdes, J.
    Dyn. Sys. 136 (2014), eq. 2 to 4.
    """
    if limit_n <= 0.0:
        return 0.0
    x = stiffness_n * slip / (3.0 * limit_n)
    if x >= 1.0:
        return limit_n
    if x <= -1.0:
        return -limit_n
    return limit_n * x * (3.0 - 3.0 * abs(x) + x * x)


LAWS: dict[str, TyreLaw] = {"linear": linear_n, "fiala": fiala_n}
