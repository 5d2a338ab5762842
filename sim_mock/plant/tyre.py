"""What one axle's tyres push sideways: the law is a parameter.

Slip is the tangent of the slip angle, positive when the tyre pushes to the left; forces are of both
tyres of an axle together, in newtons. ``limit_n`` is what the friction circle leaves for the side
once the tyre drives or brakes.
"""

from collections.abc import Callable
from math import atan, sqrt
from typing import Final

# Sliding grips less than rolling. Tenths are estimates for rubber on a floor; without a difference
# a car with spinning wheels would have no side force left at all and could not be caught.
SLIDING_SHARE: Final = 0.9

TyreLaw = Callable[[float, float, float], float]


def side_limit_n(grip_n: float, along_n: float) -> float:
    """Side force left within the friction circle: sqrt((mu N)^2 - Fx^2).

    Source: Pacejka, Tire and Vehicle Dynamics, 3rd ed., section 3.3 (isotropic friction).
    """
    left = grip_n * grip_n - along_n * along_n
    return sqrt(left) if left > 0.0 else 0.0


def linear_n(slip: float, stiffness_n: float, limit_n: float) -> float:
    """C * alpha without any limit: for comparison with linear models only."""
    return stiffness_n * atan(slip)


def fiala_n(slip: float, stiffness_n: float, limit_n: float) -> float:
    """The brush model with parabolic pressure: C * slip when small, ``limit_n`` when sliding.

    With x = C tan(alpha) / (3 limit): F = limit x (3 - 3|x| + x^2) up to |x| = 1.
    Source: E. Fiala, VDI-Zeitschrift 96 (1954); Pacejka, section 3.2; with the limit lowered by
    the force along the wheel as in Hindiyeh and Gerdes, J. Dyn. Sys. 136 (2014), eq. 2 to 4.
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
