"""The table of parameters that a log can tell about a car and its command queue, with priors."""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

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
    meaning: str
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

# The spreads are our own choice. Lock: a vehicle file's full lock is a third off at worst. Gain:
# linkages and units are wrong by factors. Left against right: a tenth. Speed: varies with battery
# and floor. Mounting: 6 degrees, 0.1 m.
FIT_PARAMETERS = (
    FitParameter(
        *("steer_trim_norm", -0.5, 0.5, 0.25, False),
        "steering command, of full lock, that drives straight",
    ),
    FitParameter(
        *("steer_gain", 0.05, 2.0, 1.0, True),
        "angle of the wheels over the one commanded, near the trim",
        (0.3, 1.5),
    ),
    FitParameter("steer_lock_ratio", 0.05, 2.0, 0.3, False, "the same at full lock: the end point"),
    FitParameter(
        *("steer_asymmetry", -0.5, 0.5, 0.1, False),
        "left angles over the mean of both sides, less 1",
    ),
    FitParameter("speed_mps", 0.1, 1.0, 0.3, True, "steady speed at full throttle"),
    FitParameter(
        "speed_lag_s", 0.01, 1.0, 1.0, True, "time constant of the speed, starting and stopping"
    ),
    FitParameter(
        "queue_delay_s", 0.0, 4.0, 0.5, False, "from a command to its effect, when nothing queues"
    ),
    FitParameter(
        *("queue_s_per_message", 0.0, 0.005, 0.001, False),
        "what each message holds up the next ones",
        (LINE_S,),
    ),
    FitParameter(
        "mount_yaw_rad", -0.3, 0.3, 0.1, False, "the car's heading less that of its odometry"
    ),
    FitParameter(
        "mount_x_m", -0.3, 0.3, 0.1, False, "the odometry's point, ahead of the centre of gravity"
    ),
    FitParameter(
        "tyre_stiffness_per_rad",
        0.5,
        20.0,
        0.7,
        True,
        "cornering stiffness per load of the front axle; the rear one keeps its ratio to it",
    ),
    FitParameter("steer_rate_radps", 1.0, 20.0, 0.5, True, "how fast the servos turn the wheels"),
)
FIT_PARAMETER_NAMES = tuple(parameter.name for parameter in FIT_PARAMETERS)


def known_values(vehicle: Vehicle) -> dict[str, float]:
    """Return the values assumed before any log: the vehicle file's numbers, no trim, no queue."""
    plant = plant_parameters(vehicle)
    return {
        "steer_trim_norm": 0.0,
        "steer_gain": 1.0,
        "steer_lock_ratio": 1.0,
        "steer_asymmetry": 0.0,
        "speed_mps": steady_speed_mps(plant),
        "speed_lag_s": speed_lag_s(plant),
        "queue_delay_s": 0.0,
        "queue_s_per_message": 0.0,
        "mount_yaw_rad": 0.0,
        "mount_x_m": 0.0,
        "tyre_stiffness_per_rad": plant.body.stiffness_front_per_rad,
        "steer_rate_radps": plant.servo.rate_rad_s,
    }
