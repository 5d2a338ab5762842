"""A car for the tests of the single tracks; understeering, of an F1TENTH's size.

Numbers: mass, inertia and lengths as in the tests of the plant (an F1TENTH); stiffnesses apart
from each other on purpose, so that front and rear cannot be mistaken for one another.
"""

from sim_mock.models.single_track.parameters import ControlLimits, SingleTrackParameters

LIMITS = ControlLimits(-0.42, 0.42, -3.2, 3.2, -5.0, 20.0, 7.3, 9.5)
UNDERSTEERING = SingleTrackParameters(
    3.47, 0.04712, 0.15875, 0.17145, 0.074, 1.05, 4.7, 5.5, LIMITS
)
OVERSTEERING = UNDERSTEERING._replace(stiffness_front_per_rad=5.5, stiffness_rear_per_rad=4.7)
NEUTRAL = UNDERSTEERING._replace(stiffness_front_per_rad=5.0, stiffness_rear_per_rad=5.0)
