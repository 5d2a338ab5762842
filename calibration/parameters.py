"""The one table of a car's parameters, whichever method finds them, and the estimate of one."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import NamedTuple


class CarParameter(NamedTuple):
    """A parameter of a car, of its command queue or of what measured it.

    ``low`` to ``high`` is plausible for any car; ``manoeuvre`` is the drive that tells logs of it,
    "" for one that only a fit by replay finds.
    """

    name: str
    unit: str
    low: float
    high: float
    meaning: str
    manoeuvre: str = ""


PARAMETERS = (
    CarParameter(
        "counts_per_m", "1/m", 1.0, 1e6,
        "counts of the wheel sensors to a metre of floor",
        "roll 5 m or more straight ahead from rest to rest, measure from where to where it rolled "
        "with a tape, and say --tape METRES; or log what cameras or SLAM see of it",
    ),
    CarParameter(
        "steer_trim_rad", "rad", -0.6, 0.6,
        "steering that is commanded when it drives straight",
        "drive circles at a walk, both ways, at three steering angles or more, for 5 s each",
    ),
    CarParameter(
        "steer_gain_left", "", 0.02, 5.0,
        "angle of the wheels over the angle that was commanded beyond the trim, to the left",
        "drive circles to the left at a walk, at two steering angles or more, for 5 s each",
    ),
    CarParameter(
        "steer_gain_right", "", 0.02, 5.0,
        "the same, to the right",
        "drive circles to the right at a walk, at two steering angles or more, for 5 s each",
    ),
    CarParameter(
        "steer_delay_s", "s", 0.0, 1.0,
        "from a steering command until the wheels begin to turn",
        "at a walk, throw the steering from side to side ten times, once a second",
    ),
    CarParameter(
        "steer_lag_s", "s", 0.0, 1.0,
        "and from then on the time constant of the turn",
        "at a walk, throw the steering from side to side ten times, once a second",
    ),
    CarParameter(
        "steer_play_rad", "rad", -0.1, 0.5,
        "how far short of where they come to the wheels stay: half of the steering's free play",
        "drive circles at a walk and come to each steering angle from the left and from the right",
    ),
    CarParameter(
        "full_effort_mps", "m/s", 0.02, 200.0,
        "speed to which all the drive has would lead, from the speeds that were driven",
        "drive straight at three steady speeds, the fastest twice the slowest, for 3 s each",
    ),
    CarParameter(
        "dead_effort", "", -0.5, 0.9,
        "share of the drive that does not move it yet: dead band and friction",
        "drive straight at three steady speeds, the fastest twice the slowest, for 3 s each",
    ),
    CarParameter(
        "speed_lag_s", "s", 0.005, 10.0,
        "time constant of the speed when the drive's effort jumps",
        "start from rest ten times, to two speeds in turn, each as fast as it is allowed to",
    ),
    CarParameter(
        "start_delay_s", "s", 0.0, 5.0,
        "from the command to start until the wheels first move",
        "start from rest ten times, to two speeds in turn, each as fast as it is allowed to",
    ),
    CarParameter(
        "yaw_rate_bias_radps", "rad/s", -0.5, 0.5,
        "yaw rate that is told at rest, after the board's own zeroing",
        "let it stand for 10 s, switched on and untouched",
    ),
    CarParameter(
        "accel_x_bias_mps2", "m/s^2", -10.0, 10.0,
        "acceleration forward that is told at rest: the sensor's bias, and any slope or lean",
        "let it stand for 10 s on a level floor, switched on and untouched",
    ),
    CarParameter(
        "accel_y_bias_mps2", "m/s^2", -10.0, 10.0,
        "the same, to the left",
        "let it stand for 10 s on a level floor, switched on and untouched",
    ),
    CarParameter(
        "imu_yaw_rad", "rad", -3.2, 3.2,
        "how the inertial sensor is turned, to the left, against the car",
        "drive circles both ways and start and stop firmly on the straight, for a minute",
    ),
    CarParameter(
        "understeer_s2_per_m2", "s^2/m^2", -1.0, 1.0,
        "curvature is that of a walk over 1 + this times the square of the speed",
        "drive one circle, slowly and then faster and faster until the tyres give half of what "
        "they have; both ways",
    ),
    CarParameter(
        "tyre_stiffness_front_per_rad", "1/rad", 0.3, 100.0,
        "cornering stiffness of the front axle per load; the rear one's is held true by logs, and "
        "keeps its ratio to it in a fit by replay",
        "drive one circle, slowly and then faster and faster until the tyres give half of what "
        "they have; both ways",
    ),
    CarParameter(
        "steer_trim_norm", "", -0.5, 0.5,
        "steering command, of full lock, that drives straight",
    ),
    CarParameter(
        "steer_gain", "", 0.05, 2.0, "angle of the wheels over the one commanded, near the trim",
    ),
    CarParameter("steer_lock_ratio", "", 0.05, 2.0, "the same at full lock: the end point"),
    CarParameter(
        "steer_asymmetry", "", -0.5, 0.5, "left angles over the mean of both sides, less 1",
    ),
    CarParameter(
        "queue_delay_s", "s", 0.0, 4.0, "from a command to its effect, when nothing queues",
    ),
    CarParameter(
        "queue_s_per_message", "s", 0.0, 0.005, "what each message holds up the next ones",
    ),
    CarParameter("mount_yaw_rad", "rad", -0.3, 0.3, "the car's heading less that of its odometry"),
    CarParameter(
        "mount_x_m", "m", -0.3, 0.3, "the odometry's point, ahead of the centre of gravity",
    ),
    CarParameter("steer_rate_radps", "rad/s", 0.1, 20.0, "how fast the servos turn the wheels"),
)  # fmt: skip
BY_NAME = {parameter.name: parameter for parameter in PARAMETERS}
LOG_PARAMETER_NAMES = tuple(one.name for one in PARAMETERS if one.manoeuvre)
# As files named until 0.2.0 what has one name now
OLD_NAMES = {
    "speed_mps": "full_effort_mps",
    "tyre_stiffness_per_rad": "tyre_stiffness_front_per_rad",
}


@dataclass(frozen=True)
class Estimate:
    """A parameter's value with its 95 % interval; nan, where nothing determines it.

    ``why`` says why it is not determined, or on what it depends. A fit by replay begins at a
    ``known`` value; where ``is_fitted`` is false its runs tell little, and the value is near that.
    """

    name: str
    value: float
    low: float
    high: float
    why: str = ""
    known: float | None = None
    is_fitted: bool = True

    @property
    def is_estimated(self) -> bool:
        return isfinite(self.value)


def estimated(
    name: str, value: float, deviation: float, quantile: float, why: str = ""
) -> Estimate:
    """Return an estimate from a value and its standard deviation; implausible values are left out.

    ``quantile`` times ``deviation`` is half of the 95 % interval.
    """
    parameter = BY_NAME[name]
    half = quantile * deviation
    if not (isfinite(value) and isfinite(half)):
        return not_identifiable(name, "the log does not bear a number")
    if not parameter.low <= value <= parameter.high:
        bounds = f"{parameter.low:g} to {parameter.high:g}"
        return not_identifiable(name, f"it would be {value:.3g}, and no car is outside {bounds}")
    low, high = max(value - half, parameter.low), min(value + half, parameter.high)
    return Estimate(name, value, low, high, why)


def not_identifiable(name: str, why: str) -> Estimate:
    """Return the estimate of a parameter that the logs do not determine."""
    return Estimate(name, float("nan"), -inf, inf, why)
