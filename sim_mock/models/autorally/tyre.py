"""The magic formula on total slip, and the forces of one wheel's contact patch.

Source: the paper, eq. 8 to 10. Eq. 9 is taken as printed, with atan(S) where Pacejka (Tire and
Vehicle Dynamics, 3rd ed., eq. 4.49) has atan(B S): Table 5 was estimated for it.
"""

from math import atan, cos, hypot, sin
from typing import NamedTuple

from sim_mock.models.autorally.parameters import Tyre

# Eq. 8 divides by the speed of the rim; below this speed it divides by this one. At a crawl a tyre
# is then a damper, a locked wheel has a large but finite slip, and rest is an equilibrium.
SLOWEST_RIM_MPS = 0.5


class Grip(NamedTuple):
    """One wheel's force per newton of its load: along the wheel; ahead and aside of the car."""

    along: float
    ahead: float
    aside: float


def friction(slip: float, tyre: Tyre) -> float:
    """Return the coefficient of friction at a total slip: eq. 9."""
    s = slip - tyre.shift_slip
    bent = tyre.b * s - tyre.e * (tyre.b * s - atan(s))
    return tyre.d * sin(tyre.c * atan(bent)) + tyre.shift_mu


def grip(ahead_mps: float, aside_mps: float, rim_mps: float, steer_rad: float, tyre: Tyre) -> Grip:
    """Return the grip of a wheel that moves so over the ground, in the car's axes: eq. 8, 10."""
    c, n = (cos(steer_rad), sin(steer_rad)) if steer_rad else (1.0, 0.0)
    pace_mps = max(abs(rim_mps), SLOWEST_RIM_MPS)
    slip_x = (ahead_mps * c + aside_mps * n - rim_mps) / pace_mps
    slip_y = (aside_mps * c - ahead_mps * n) / pace_mps
    slip = hypot(slip_x, slip_y)
    share = -friction(slip, tyre) / max(slip, tyre.ramp)
    along, across = share * slip_x, share * slip_y
    return Grip(along, along * c - across * n, along * n + across * c)
