"""The scales of odometry noise and of differences between runs: fitted beside the parameters."""

from __future__ import annotations

from math import log
from typing import NamedTuple


class ScalePrior(NamedTuple):
    """A scale of the noise or of an effect, with a log-normal prior.

    ``prior_median`` is the prior's median, ``spread`` the standard deviation of its logarithm.
    """

    name: str
    prior_median: float
    spread: float
    meaning: str


_THREEFOLD, _TWICE, _HALF_MORE = log(3.0), log(2.0), log(1.5)
SCALES = (
    ScalePrior("wobble_position_m", 0.01, _TWICE, "of the odometry, while the car drives"),
    ScalePrior("wobble_yaw_rad", 0.01, _TWICE, "the same"),
    ScalePrior("wobble_memory_s", 0.3, _HALF_MORE, "until a wobble is forgotten to a third"),
    ScalePrior("run_speed_share", 0.01, _TWICE, "from run to run: speed at full throttle"),
    ScalePrior("run_trim_norm", 0.006, _TWICE, "where the steering rests"),
    ScalePrior("run_delay_s", 0.03, _TWICE, "when the car starts"),
    ScalePrior("run_yaw_rad", 0.005, _TWICE, "how the car was set down"),
    ScalePrior(
        "piece_speed_share", 0.003, _THREEFOLD, "within a run, by no parameter explained: speed"
    ),
    ScalePrior("piece_bend_per_m", 0.005, _THREEFOLD, "the same: curvature"),
    ScalePrior(
        "run_steering_share", 0.01, _TWICE, "from run to run, of a prior: gain, lock, sides"
    ),
    ScalePrior("run_response_share", 0.03, _TWICE, "the same: speed lag, tyres, servo rate"),
    ScalePrior("run_mount_share", 0.01, _TWICE, "the same: where and how the tracker is mounted"),
    ScalePrior("run_queue_share", 0.003, _TWICE, "the same: time of a message in the queue"),
)
# The parameters that differ from run to run beside speed, trim and delay, and by which scale: a
# share of the spread of the parameter's own prior. Medians are our own choice: a gain by 1 %, a
# speed lag by 3 %, tyres by 2 %, a mount by 1 mrad and 1 mm, a message by 3 us.
DIFFERING = {
    "steer_gain": "run_steering_share",
    "steer_lock_ratio": "run_steering_share",
    "steer_asymmetry": "run_steering_share",
    "speed_lag_s": "run_response_share",
    "queue_s_per_message": "run_queue_share",
    "mount_yaw_rad": "run_mount_share",
    "mount_x_m": "run_mount_share",
    "tyre_stiffness_front_per_rad": "run_response_share",
    "steer_rate_radps": "run_response_share",
}
