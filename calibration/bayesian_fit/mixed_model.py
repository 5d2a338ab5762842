"""Maximum likelihood of the scales: of the odometry's noise and of the scatter between runs.

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
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize  # type: ignore[import-untyped]

from calibration.arrays import Floats
from calibration.bayesian_fit.variance_priors import SCALES


@dataclass(frozen=True)
class Sight:
    """One run, linearised at some values of the parameters and of its own effects.

    ``residual``: predicted less measured, (samples, 3). The other columns, (samples, 3, any), are
    derivatives: by the parameters' beliefs, the run's effects, the speed and curvature of each
    piece, and the suspects. ``own``: the run's effects at which it is linearised. ``still_s``: how
    long the car was seen standing at its start.
    """

    t_s: Floats
    residual: Floats
    slopes: Floats
    run: Floats
    piece_speed: Floats
    piece_bend: Floats
    suspects: Floats
    own: Floats
    still_s: float

    def run_scales(self, scales: Floats) -> Floats:
        """Return the scales of the run's effects."""
        return run_scales(scales, self.still_s)

    @property
    def piece_count(self) -> int:
        """The number of the pieces' effects."""
        return int(self.piece_speed.shape[2] + self.piece_bend.shape[2])

    def pieces(self, scales: Floats) -> Floats:
        """Return the columns of the effects that no parameter explains, each times its scale."""
        return scaled_pieces(self.piece_speed, self.piece_bend, scales)

    def effects(self, scales: Floats) -> Floats:
        """Return the columns of all effects, each times its scale."""
        return np.concatenate([self.run * self.run_scales(scales), self.pieces(scales)], axis=2)

    def without_own(self) -> Floats:
        """Return the residual as it would be if the run had no effects of its own."""
        return np.asarray(self.residual - self.run @ self.own)


def scaled_pieces(speed: Floats, bend: Floats, scales: Floats) -> Floats:
    """Join the columns of each piece's speed and bend, each times its scale."""
    return np.concatenate((speed * scales[7], bend * scales[8]), axis=2)


def run_scales(scales: Floats, still_s: float) -> Floats:
    """Return the scales of a run's effects; its start pose has noise of its own.

    The start pose is the mean over ``still_s``, so part of that noise is left in it.
    """
    start = scales[[0, 1]] * start_share(still_s, float(scales[2]))
    speed, trim, delay, yaw = scales[3:7]
    return np.array([speed, trim, delay, np.hypot(yaw, start[1]), start[0], start[0]])


def start_share(still_s: float, memory_s: float) -> float:
    """Return the share of the noise's spread that is left in a mean over ``still_s``.

    It is that of an Ornstein-Uhlenbeck process.
    """
    ratio = still_s / memory_s
    if ratio < 1e-3:
        return 1.0
    return float(np.sqrt(2.0 / ratio * (1.0 + np.expm1(-ratio) / ratio)))


def whitened(t_s: Floats, columns: Floats, scales: Floats) -> Floats:
    """Whiten the noise in columns (samples, 3, any); return them as (3 samples, any)."""
    rest = np.exp(-np.diff(t_s) / scales[2])
    share = np.concatenate([[1.0], np.sqrt(1.0 - rest**2)])
    fresh = columns.copy()
    fresh[1:] -= rest[:, None, None] * columns[:-1]
    spread = share[:, None] * scales[[0, 0, 1]]
    return np.asarray((fresh / spread[:, :, None]).reshape(3 * len(t_s), columns.shape[2]))


def log_spreads(t_s: Floats, scales: Floats) -> float:
    """Return half the logarithm of the determinant of the noise's covariance."""
    rest = np.exp(-np.diff(t_s) / scales[2])
    each = float(np.log(scales[[0, 0, 1]]).sum())
    return len(t_s) * each + 1.5 * float(np.log1p(-(rest**2)).sum())


class System(NamedTuple):
    """Whitened normal equations of parameters, then of effects, run by run.

    ``matrix`` = I + B'B, where I holds the priors, ``right`` = B'r, ``square`` = r'r, where r is
    the residual at the priors' centre, without effects.
    """

    matrix: Floats
    right: Floats
    square: float


class State(NamedTuple):
    """The current point in a ``System``'s order: beliefs, and effects over their scales.

    ``begins``: the index of each run's own effects. ``is_bent``: true for the unknowns in which the
    model is nonlinear; false for the effects of pieces, which are zero here.
    """

    values: Floats
    begins: list[int]
    is_bent: npt.NDArray[np.bool_]


def state(sights: Sequence[Sight], at: Floats, scales: Floats) -> State:
    """Return the state at these beliefs, and at each sight's own effects."""
    values, is_bent, begins = [at], [np.ones(len(at), bool)], []
    begin = len(at)
    for sight in sights:
        own = sight.own / sight.run_scales(scales)
        none = np.zeros(sight.piece_count)
        values += [own, none]
        is_bent += [np.ones(len(own), bool), none > 0.0]
        begins.append(begin)
        begin += len(own) + len(none)
    return State(np.concatenate(values), begins, np.concatenate(is_bent))


def system(sights: Sequence[Sight], at: Floats, scales: Floats) -> System:
    """Return the normal equations, linearised around ``at``, the parameters' beliefs."""
    count = len(at)
    blocks = [_whitened(sight, at, scales) for sight in sights]
    size = count + sum(effects.shape[1] for _, _, effects in blocks)
    matrix, right, square = np.eye(size), np.zeros(size), 0.0
    begin = count
    for residual, slopes, effects in blocks:
        own = slice(begin, begin + effects.shape[1])
        begin = own.stop
        matrix[:count, :count] += slopes.T @ slopes
        matrix[:count, own] = slopes.T @ effects
        matrix[own, :count] = matrix[:count, own].T
        matrix[own, own] += effects.T @ effects
        right[:count] += slopes.T @ residual
        right[own] = effects.T @ residual
        square += float(residual @ residual)
    return System(matrix, right, square)


def _whitened(sight: Sight, at: Floats, scales: Floats) -> tuple[Floats, Floats, Floats]:
    centre = sight.without_own() - sight.slopes @ at
    count = sight.slopes.shape[2]
    columns = np.concatenate([centre[:, :, None], sight.slopes, sight.effects(scales)], axis=2)
    white = whitened(sight.t_s, columns, scales)
    return white[:, 0], white[:, 1 : 1 + count], white[:, 1 + count :]


def unlikely(sights: Sequence[Sight], at: Floats, scales: Floats) -> float:
    """Return the negative log likelihood of residuals and scales, up to a constant."""
    one = system(sights, at, scales)
    factor = np.linalg.cholesky(one.matrix)
    told = np.linalg.solve(factor, one.right)
    wobble = sum(log_spreads(sight.t_s, scales) for sight in sights)
    strange = (np.log(scales) - _BELIEVED) / _SPREADS
    halves = one.square - float(told @ told) + float(strange @ strange)
    return wobble + float(np.log(np.diag(factor)).sum()) + 0.5 * halves


def likeliest(sights: Sequence[Sight], at: Floats, first: Floats) -> Floats:
    """Return the likeliest scales, in the order of ``SCALES``; the search begins at ``first``."""
    bounds = zip(*_bounds(), strict=True)
    found = minimize(
        lambda logs: unlikely(sights, at, np.exp(logs)),
        np.log(first),
        method="L-BFGS-B",
        bounds=list(bounds),
        options={"ftol": 1e-7},
    )
    return np.asarray(np.exp(found.x))


def drawn_scales(sights: Sequence[Sight], at: Floats, scales: Floats) -> Floats:
    """Draw scales (DRAWS, scales) from a Laplace approximation around the likeliest ones.

    Their covariance is the inverse curvature of the log likelihood; each draw is clipped to its
    range.
    """
    here, count = np.log(scales), len(scales)

    def height(step: Floats) -> float:
        return unlikely(sights, at, np.exp(here + step))

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


def mixed(sights: Sequence[Sight], at: Floats, every: Floats) -> Floats:
    """Return the covariance of the beliefs, averaged over these scales, linearised at ``at``."""
    count = len(at)
    means, covariances = [], []
    for scales in every:
        one = system(sights, at, scales)
        inverse = np.linalg.inv(one.matrix)
        covariances.append(inverse[:count, :count])
        means.append(-(inverse @ one.right)[:count])
    return np.asarray(np.mean(covariances, axis=0) + np.cov(np.array(means).T, bias=True))


def _bounds() -> tuple[Floats, Floats]:
    """Return the bounds of the scales' logarithms."""
    most = np.array([WOBBLE_MOST] * 3 + [FARTHEST] * 4 + [PIECE_MOST] * 2)
    return _BELIEVED - FARTHEST * _SPREADS, _BELIEVED + most * _SPREADS


LOOK = 0.1  # step of a logarithm for second differences: far enough to show the curvature
DRAWS = 64
FARTHEST = 4.0  # spreads from a prior: the limit of a scale
# Limit of the noise, in spreads: 0.04 m, 0.04 rad, 0.7 s. More would let noise explain what the
# model does not.
WOBBLE_MOST = 2.0
# The same for pieces: they are linear columns, valid near by only. Larger ones let a search end at
# cars that drive quite differently.
PIECE_MOST = 2.0
_BELIEVED = np.log([one.believed for one in SCALES])
_SPREADS = np.array([one.spread for one in SCALES])


def believed_scales() -> Floats:
    """Return the centres of the scales' priors."""
    return np.array([one.believed for one in SCALES])
