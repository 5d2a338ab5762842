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
)
