"""Widening of the prediction band by leave-one-out cross-validation of the fitted runs.

A band that trusts the model is too narrow for a car that the model does not describe. So each run
is predicted by the posterior of the others, linearised at the fit of all. If the model is right, 90
of 100 runs lie in the band that this draws, and a band that no run contradicts stays as it is. If
one lies outside, the farthest run, in widths of its band, says how far the next may lie. Each of
n + 1 runs is equally likely the farthest, so few runs say little: the factor is raised by
(n + 1) / n.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibration.arrays import Floats
from calibration.bayesian_fit.estimates import BAND_SHARE
from calibration.bayesian_fit.linearised_run import LinearisedRun
from calibration.bayesian_fit.normal_equations import normal_equations
from calibration.bayesian_fit.odometry_noise import drawn_noise

DRAWS = 1000  # chosen: a share of so many is known to 2 %, and they take seconds
SEED = 1


def band_stretch(linearised: Sequence[LinearisedRun], at: Floats, scales: Floats) -> float:
    """Return the factor by which to widen a band; it is 1 where each run lies in its own."""
    count = len(linearised)
    if count < 2:
        return 1.0
    farthest = max(relative_distance(linearised, i, at, scales) for i in range(count))
    return farthest * (count + 1) / count if farthest > 1.0 else 1.0


def relative_distance(
    linearised: Sequence[LinearisedRun], number: int, at: Floats, scales: Floats
) -> float:
    """Return the distance of this run from the others' prediction, in widths of its band."""
    run, count = linearised[number], len(at)
    others = normal_equations([*linearised[:number], *linearised[number + 1 :]], at, scales)
    inverse = np.linalg.inv(others.matrix)
    moved = -(inverse @ others.right)[:count] - at
    errors = run.without_own() + run.slopes @ moved
    rng = np.random.default_rng(SEED)
    cars = np.linalg.cholesky(inverse[:count, :count]) @ rng.normal(size=(count, DRAWS))
    effects = run.effects(scales)
    drawn = (
        run.slopes @ cars
        + effects @ rng.normal(size=(effects.shape[2], DRAWS))
        + drawn_noise(rng, run.t_s, scales, DRAWS)
    )
    position_m, yaw_rad = band_half_widths(drawn, BAND_SHARE)
    apart_m = np.hypot(errors[:, 0], errors[:, 1])
    return float(np.max(np.maximum(apart_m / position_m, np.abs(errors[:, 2]) / yaw_rad)))


def band_half_widths(drawn: Floats, share: float) -> tuple[Floats, Floats]:
    """Return the widths in m and rad, sample by sample, of draws (samples, 3, draws).

    They are the draws' spread, times the factor that holds this share of the draws from
    start to end.
    """
    apart_m = np.hypot(drawn[:, 0], drawn[:, 1])
    position_m = np.sqrt(np.mean(apart_m**2, axis=1))
    yaw_rad = np.sqrt(np.mean(drawn[:, 2] ** 2, axis=1))
    shares = np.maximum(apart_m / position_m[:, None], np.abs(drawn[:, 2]) / yaw_rad[:, None])
    factor = float(np.quantile(shares.max(axis=0), share))
    return factor * position_m, factor * yaw_rad
