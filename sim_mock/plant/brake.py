"""A friction brake on the front axle, pulled by a servo: from a pulse in ns to a braking force."""

from dataclasses import dataclass
from math import exp

from sim_mock.plant.tyre import SLIDING_SHARE


@dataclass(frozen=True, slots=True)
class BrakeParameters:
    """The numbers of a friction brake and its servo.

    ``torque_max_nm`` is of both front wheels together, at the pulse ``full_ns``; linear from
    ``released_ns`` on. ``lag_s``: first order, of servo, linkage and hydraulics; 0 is none.
    """

    channel: int
    released_ns: float
    full_ns: float
    torque_max_nm: float
    lag_s: float


class FrontBrake:
    """A friction brake: it is dry friction, so it holds a standing car and never moves one.

    The front wheels' own inertia is neglected: they lock at once where the brake is stronger than
    the tyres, and then give ``SLIDING_SHARE`` of their grip.
    """

    __slots__ = ("_full_n", "_p", "_share", "is_locked")

    def __init__(self, parameters: BrakeParameters, wheel_radius_m: float) -> None:
        self._p = parameters
        self._full_n = parameters.torque_max_nm / wheel_radius_m
        self._share = 0.0  # of its full torque
        self.is_locked = False

    def step(self, dt_s: float, pulse_ns: int) -> None:
        """Advance by ``dt_s`` with this pulse on the wire; without one (0) nothing changes."""
        if pulse_ns == 0:
            return
        p = self._p
        wanted = (pulse_ns - p.released_ns) / (p.full_ns - p.released_ns)
        wanted = min(max(wanted, 0.0), 1.0)
        follows = 1.0 - exp(-dt_s / p.lag_s) if p.lag_s else 1.0
        self._share += (wanted - self._share) * follows

    def max_force_n(self, grip_n: float) -> float:
        """Return the largest braking force now, with tyres whose grip is ``grip_n``."""
        force_n = self._share * self._full_n
        self.is_locked = force_n > grip_n
        return SLIDING_SHARE * grip_n if self.is_locked else force_n
