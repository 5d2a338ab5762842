"""The parameters that a fit by replay finds, with their priors."""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

from calibration.bayesian_fit.variance_priors import DIFFERING
from calibration.parameters import BY_NAME
from calibration.simulation.plant_numbers import plant_parameters, speed_lag_s, steady_speed_mps
from host_bridge.core import Vehicle


class FitParameter(NamedTuple):
    """A parameter of the fit with its prior and its range.

    The prior is centred on the known value; ``spread`` is its standard deviation, of the logarithm
    if ``is_ratio``. ``low`` to ``high`` is the range that is possible at all. ``first`` lists
    values at which a fit starts, each in turn, instead of the known value.
    """

    name: str
    low: float
    high: float
    spread: float
    is_ratio: bool
    first: tuple[float, ...] = ()

    def standardised(self, value: float, known: float) -> float:
        """Return the distance of a value from the known one, in spreads of the prior."""
        apart = log(value / known) if self.is_ratio else value - known
        return apart / self.spread

    def value(self, standardised: float, known: float) -> float:
        """Return the value, clipped to the range; the inverse of ``standardised``."""
        by = standardised * self.spread
        value = known * exp(by) if self.is_ratio else known + by
        return min(max(value, self.low), self.high)


LINE_S = 12 * 10 / 115_200  # rosserial: a Float32 is 12 bytes, of 10 bits, at 115200 baud


def _prior(
    name: str,
    spread: float,
    first: tuple[float, ...] = (),
    *,
    is_ratio: bool = False,
    reach: tuple[float, float] | None = None,
) -> FitParameter:
    """Return a parameter of the table with its prior; ``reach`` narrows what is plausible."""
    low, high = reach or (BY_NAME[name].low, BY_NAME[name].high)
    return FitParameter(name, low, high, spread, is_ratio, first)


# The spreads are our own choice. Lock: a vehicle file's full lock is a third off at worst. Gain:
# linkages and units are wrong by factors. Left against right: a tenth. Speed: varies with battery
# and floor. Mounting: 6 degrees, 0.1 m.
FIT_PARAMETERS = (
    _prior("steer_trim_norm", 0.25),
    _prior("steer_gain", 1.0, (0.3, 1.5), is_ratio=True),
    _prior("steer_lock_ratio", 0.3),
    _prior("steer_asymmetry", 0.1),
    _prior("full_effort_mps", 0.3, is_ratio=True),
    # s: a run is not long enough for a slower one
    _prior("speed_lag_s", 1.0, is_ratio=True, reach=(0.01, 1.0)),
    _prior("queue_delay_s", 0.5),
    _prior("queue_s_per_message", 0.001, (LINE_S,)),
    _prior("mount_yaw_rad", 0.1),
    _prior("mount_x_m", 0.1),
    # of a tyre on a floor: softer it is no tyre, stiffer it shows no slip
    _prior("tyre_stiffness_front_per_rad", 0.7, is_ratio=True, reach=(0.5, 20.0)),
    _prior("steer_rate_radps", 0.5, is_ratio=True),
)
FIT_PARAMETER_NAMES = tuple(parameter.name for parameter in FIT_PARAMETERS)
DIFFERING_AT = [FIT_PARAMETER_NAMES.index(name) for name in DIFFERING]


def known_values(vehicle: Vehicle) -> dict[str, float]:
    """Return the values assumed before any log: the vehicle file's numbers, no trim, no queue."""
    plant = plant_parameters(vehicle)
    return {
        "steer_trim_norm": 0.0,
        "steer_gain": 1.0,
        "steer_lock_ratio": 1.0,
        "steer_asymmetry": 0.0,
        "full_effort_mps": steady_speed_mps(plant),
        "speed_lag_s": speed_lag_s(plant),
        "queue_delay_s": 0.0,
        "queue_s_per_message": 0.0,
        "mount_yaw_rad": 0.0,
        "mount_x_m": 0.0,
        "tyre_stiffness_front_per_rad": plant.body.stiffness_front_per_rad,
        "steer_rate_radps": plant.servo.rate_rad_s,
    }
