"""Rewards: plain functions of the moments before and after a step.

Any function of two ``Moment`` may take their place: ``gymnasium.make(..., reward=mine)``. In
``tandem/BodyRace-v0`` the fields of a ``Moment`` are arrays, one number for each body.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tandem.gym.racer import Moment

Reward = Callable[[Moment, Moment], float]

_HIT = 10.0  # chosen: as much as ten metres of progress
_LAP = 10.0  # chosen: as much as ten seconds
_SMOOTH = 0.1  # chosen: full lock from one step to the next costs ten centimetres


def progress(before: Moment, after: Moment) -> float:
    """Metres made along the centre line, less 10 for each hit."""
    return after.progress_m - before.progress_m - _HIT * (after.hits - before.hits)


def speed_along(before: Moment, after: Moment) -> float:
    """Speed along the centre line, times the duration of the step: v cos(psi) dt, in m."""
    duration_s = after.t_s - before.t_s
    along_m: float = after.speed_mps * np.cos(after.heading_rad) * duration_s
    return along_m


def minimum_time(before: Moment, after: Moment) -> float:
    """Minus the duration of the step in s, plus 10 for each lap that it ended."""
    return before.t_s - after.t_s + _LAP * (after.laps - before.laps)


def smooth(before: Moment, after: Moment) -> float:
    """``progress`` less 0.1 times the square of the change of steering, as a part of full lock."""
    turned = (after.steer_rad - before.steer_rad) / after.steer_max_rad
    return progress(before, after) - _SMOOTH * turned * turned


REWARDS: dict[str, Reward] = {
    reward.__name__: reward for reward in (progress, speed_along, minimum_time, smooth)
}
