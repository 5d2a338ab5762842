"""AutoDRIVE's friction curve: two cubics, through an extremum and an asymptote.

Source: "the report" of this folder, C. Samak and T. Samak, Autonomy-oriented digital twins
(AutoDRIVE and Autoware), section 3.1.1, Tire Dynamics: F(S) = f0 up to Se, f1 up to Sa. It gives
three points and the degree. Slopes of zero at two of them make them an extremum and an asymptote;
the slope at the origin is an estimate, that of the parabola: 2 Fe / Se.
"""

from typing import NamedTuple


class Curve(NamedTuple):
    """A friction curve, force per newton of load by slip: largest at the extremum, then falling.

    It is constant from the asymptote on.
    """

    extremum_slip: float
    extremum: float
    asymptote_slip: float
    asymptote: float

    @property
    def slope(self) -> float:
        """The force per newton of load and unit of slip, for small slip."""
        return 2.0 * self.extremum / self.extremum_slip

    def force(self, slip: float) -> float:
        """Return the force per newton of load; it has the sign of the slip."""
        size = abs(slip)
        if size < self.extremum_slip:
            return self.extremum * slip / self.extremum_slip * (2.0 - size / self.extremum_slip)
        force = self._falling(size)
        return force if slip >= 0.0 else -force

    def _falling(self, slip: float) -> float:
        s = min((slip - self.extremum_slip) / (self.asymptote_slip - self.extremum_slip), 1.0)
        return self.extremum + (self.asymptote - self.extremum) * s * s * (3.0 - 2.0 * s)
