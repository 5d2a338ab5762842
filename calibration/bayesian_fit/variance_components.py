"""Maximum likelihood of the scales: of the odometry's noise and of the variance between runs.

An odometry's noise is correlated: an Ornstein-Uhlenbeck process for each channel, with one spread
for positions, one for yaw and one memory. Runs and pieces of runs differ by ``effects``, each with
a scale. All scales are found together by maximum marginal likelihood (REML): parameters, effects
and noise are Gaussian, so all but the scales is integrated in closed form (Rasmussen and Williams,
Gaussian Processes for Machine Learning, 2.7). Two runs hardly determine a scale between runs, so
each has a prior, log-normal. The effects of a run are not small, and poses are nonlinear in them.
So a run is linearised at its fitted effects, not at zero.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize  # type: ignore[import-untyped]

from calibration.arrays import Floats
from calibration.bayesian_fit.linearised_run import LinearisedRun
from calibration.bayesian_fit.normal_equations import normal_equations
from calibration.bayesian_fit.odometry_noise import log_spreads
from calibration.bayesian_fit.variance_priors import SCALES


def neg_log_likelihood(linearised: Sequence[LinearisedRun], at: Floats, scales: Floats) -> float:
    """Return the negative log likelihood of residuals and scales, up to a constant."""
    one = normal_equations(linearised, at, scales)
    factor = np.linalg.cholesky(one.matrix)
    solved = np.linalg.solve(factor, one.right)
    noise = sum(log_spreads(run.t_s, scales) for run in linearised)
    strange = (np.log(scales) - _LOG_MEDIANS) / _SPREADS
    halves = one.square - float(solved @ solved) + float(strange @ strange)
    return noise + float(np.log(np.diag(factor)).sum()) + 0.5 * halves


def likeliest_scales(linearised: Sequence[LinearisedRun], at: Floats, first: Floats) -> Floats:
    """Return the likeliest scales, in the order of ``SCALES``; the search begins at ``first``."""
    bounds = zip(*_bounds(), strict=True)
    found = minimize(
        lambda logs: neg_log_likelihood(linearised, at, np.exp(logs)),
        np.log(first),
        method="L-BFGS-B",
        bounds=list(bounds),
        options={"ftol": 1e-7},  # of a log likelihood: far less than a unit, which would show
    )
    return np.asarray(np.exp(found.x))


def drawn_scales(linearised: Sequence[LinearisedRun], at: Floats, scales: Floats) -> Floats:
    """Draw scales (DRAWS, scales) from a Laplace approximation around the likeliest ones.

    Their covariance is the inverse curvature of the log likelihood; each draw is clipped to its
    range.
    """
    here, count = np.log(scales), len(scales)

    def height(step: Floats) -> float:
        return neg_log_likelihood(linearised, at, np.exp(here + step))

    moves = LOOK * np.eye(count)
    curved = np.zeros((count, count))
    for i, j in zip(*np.tril_indices(count), strict=True):
        a, b = moves[i], moves[j]
        curved[i, j] = curved[j, i] = (
            height(a + b) - height(a - b) - height(b - a) + height(-a - b)
        ) / (4.0 * LOOK**2)
    sizes, directions = np.linalg.eigh(curved)
    spread = directions / np.sqrt(np.maximum(sizes, 1.0 / float(_SPREADS.max()) ** 2))
    normal = np.random.default_rng(0).normal(size=(DRAWS // 2, count))
    steps = np.concatenate([normal, -normal]) @ spread.T
    least, most = _bounds()
    return np.asarray(np.exp(np.clip(here + steps, least, most)))


def averaged_covariance(linearised: Sequence[LinearisedRun], at: Floats, every: Floats) -> Floats:
    """Return the covariance of the parameters, averaged over these scales, linearised at ``at``."""
    count = len(at)
    means, covariances = [], []
    for scales in every:
        one = normal_equations(linearised, at, scales)
        inverse = np.linalg.inv(one.matrix)
        covariances.append(inverse[:count, :count])
        means.append(-(inverse @ one.right)[:count])
    return np.asarray(np.mean(covariances, axis=0) + np.cov(np.array(means).T, bias=True))


def _bounds() -> tuple[Floats, Floats]:
    """Return the bounds of the scales' logarithms."""
    most = np.array([NOISE_MOST] * 3 + [FARTHEST] * 4 + [PIECE_MOST] * 2 + [DIFFERING_MOST] * 4)
    return _LOG_MEDIANS - FARTHEST * _SPREADS, _LOG_MEDIANS + most * _SPREADS


LOOK = 0.1  # step of a logarithm for second differences: far enough to show the curvature
DRAWS = 64  # chosen: half of them drawn, half their mirror images, which keeps the mean
FARTHEST = 4.0  # spreads from a prior: the limit of a scale
# Limit of the noise, in spreads: 0.04 m, 0.04 rad, 0.7 s. More would let noise explain what the
# model does not.
NOISE_MOST = 2.0
# The same for pieces: they are linear columns, valid near by only. Larger ones let a search end at
# cars that drive quite differently.
PIECE_MOST = 2.0
# The same for parameters that differ from run to run: a gain by 8 %, a speed lag by 24 %.
DIFFERING_MOST = 3.0
_LOG_MEDIANS = np.log([one.prior_median for one in SCALES])
_SPREADS = np.array([one.spread for one in SCALES])


def prior_scales() -> Floats:
    """Return the centres of the scales' priors."""
    return np.array([one.prior_median for one in SCALES])
