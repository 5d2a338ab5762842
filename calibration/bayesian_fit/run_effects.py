"""Effects by which the runs of one car differ, and those that vary along a run.

Effects of a whole run are simulated: the battery is fuller, the linkage rests elsewhere, the car is
set down a little turned. All other parameters may be other ones in each run, too, by little, so
they are not simulated: each is a column, the derivative of a run's poses by the parameter
(``variance_priors.py``). Effects of a piece of a run, about a second long, are what no parameter
explains; where they are needed the model does not fit (``lack_of_fit.py``). They are assumed small,
so each is a column, too. Columns have the shape (samples, 3): x and y in m, yaw in rad.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import NamedTuple

import numpy as np

from calibration.arrays import Floats
from calibration.simulation.command_queue import CommandChange
from calibration.simulation.plant_numbers import Values
from calibration.simulation.poses import Poses

PIECE_S = 0.8  # the time in which a turn of a small car becomes visible
PIECES_MOST = 12  # of a run: with more the effects would explain what the parameters should
STILL_M = 1e-4  # less than this from sample to sample is standing
STEERING_LAG_S = 0.2  # the lag that the suspect "a lag of the steering" is tested with


class RunEffects(NamedTuple):
    """The effects of one run, by which its car differs from the fitted one.

    ``speed`` is the logarithm of a ratio. The start is the pose where the odometry saw the car
    stand, less the pose where it stood.
    """

    speed: float = 0.0
    trim_norm: float = 0.0
    delay_s: float = 0.0
    start_yaw_rad: float = 0.0
    start_x_m: float = 0.0
    start_y_m: float = 0.0

    def applied(self, values: Values) -> dict[str, float]:
        """Return the parameters' values with this run's effects applied."""
        return {
            **values,
            "full_effort_mps": values["full_effort_mps"] * exp(self.speed),
            "steer_trim_norm": values["steer_trim_norm"] + self.trim_norm,
            "queue_delay_s": values["queue_delay_s"] + self.delay_s,
        }


ZERO_EFFECTS = np.zeros(len(RunEffects._fields))


class PredictedPath(NamedTuple):
    """A run's predicted path, sample by sample: steps in m and rad, and the times of their ends."""

    t_s: Floats
    step_m: Floats  # (samples, 2)
    step_length_m: Floats
    turn_rad: Floats

    @classmethod
    def of(cls, t_s: Floats, poses: Poses) -> PredictedPath:
        places = np.column_stack([poses.x_m, poses.y_m])
        step_m = np.diff(places, axis=0, prepend=places[:1])
        turn_rad = np.diff(poses.yaw_rad, prepend=poses.yaw_rad[:1])
        return cls(t_s, step_m, np.hypot(*step_m.T), turn_rad)

    def curvature_per_m(self) -> Floats:
        """Return the curvature in 1/m, 0 where the car stands."""
        is_driving = self.step_length_m > STILL_M
        return np.where(
            is_driving, self.turn_rad / np.where(is_driving, self.step_length_m, 1.0), 0.0
        )


def path_columns(path: PredictedPath, speed_share: Floats, curvature_per_m: Floats) -> Floats:
    """Return columns (samples, 3, columns): the poses' change if steps are faster or more curved.

    ``speed_share`` and ``curvature_per_m`` are the relative speed and the additional curvature of
    each step, both of shape (samples, columns).
    """
    turned = speed_share * path.turn_rad[:, None] + curvature_per_m * path.step_length_m[:, None]
    yaw = np.cumsum(turned, axis=0)
    middle = yaw - 0.5 * turned
    dx, dy = path.step_m.T
    x = np.cumsum(speed_share * dx[:, None] - middle * dy[:, None], axis=0)
    y = np.cumsum(speed_share * dy[:, None] + middle * dx[:, None], axis=0)
    return np.stack([x, y, yaw], axis=1)


def start_pose_columns(path: PredictedPath) -> Floats:
    """Return columns (samples, 3, 3) of a different start pose.

    The car was set down turned by one radian more than its odometry says, or one metre off along x
    and along y.
    """
    x, y = np.cumsum(path.step_m, axis=0).T
    one, none = np.ones_like(x), np.zeros_like(x)
    turned, along_x, along_y = (-y, x, one), (one, none, none), (none, one, none)
    return np.stack([np.column_stack(one) for one in (turned, along_x, along_y)], axis=2)


def pieces(path: PredictedPath) -> tuple[Floats, Floats]:
    """Return two sets of columns: each piece twice as fast, and each with 1/m more curvature."""
    is_driving = path.step_length_m > STILL_M
    if not is_driving.any():
        nothing = np.zeros((len(path.t_s), 3, 0))
        return nothing, nothing
    begin_s, end_s = path.t_s[is_driving][[0, -1]]
    count = int(np.clip(round((end_s - begin_s) / PIECE_S), 2, PIECES_MOST))
    # the last sample too belongs to the last piece
    number = np.clip((path.t_s - begin_s) / (end_s - begin_s + 1e-9) * count, 0, count - 1)
    share = (number.astype(int)[:, None] == np.arange(count)) & is_driving[:, None]
    weights = share.astype(float)
    none = np.zeros_like(weights)
    return path_columns(path, weights, none), path_columns(path, none, weights)


SUSPECTS = ("free play of the steering", "a lag of the steering", "speed lost in bends")


def suspects(path: PredictedPath, schedule: Sequence[CommandChange]) -> Floats:
    """Return columns (samples, 3, 3): the poses' change under each of ``SUSPECTS``.

    Free play: curvature to the side from which the steering last came. Lag: curvature as it was
    ``STEERING_LAG_S`` before. Speed lost in bends: in proportion to the square of the curvature.
    """
    curvature = path.curvature_per_m()
    nothing = np.zeros_like(curvature)
    before = np.interp(path.t_s - STEERING_LAG_S, path.t_s, curvature)
    bends = np.column_stack([_came_from(path.t_s, schedule), before - curvature, nothing])
    return path_columns(path, np.column_stack([nothing, nothing, -(curvature**2)]), bends)


def _came_from(times_s: Floats, schedule: Sequence[CommandChange]) -> Floats:
    """Return 1 after the steering went left and -1 after it went right, sample by sample."""
    steering = np.array([0.0, *(one.steering_norm for one in schedule)])
    moved = np.flatnonzero(np.diff(steering))
    signs = np.concatenate([[0.0], np.sign(np.diff(steering))[moved]])
    return np.asarray(
        signs[np.searchsorted(np.array([schedule[int(i)].t_s for i in moved]), times_s)]
    )
