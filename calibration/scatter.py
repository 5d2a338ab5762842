"""How large wobble and scatter are: the scales under which the runs' residuals are likeliest.

An odometry wobbles and remembers: an Ornstein-Uhlenbeck process for each channel, with one spread
for positions, one for yaw and one memory. Runs and pieces of runs differ by ``effects``, each with
a scale. All scales are found together by maximum marginal likelihood (REML): parameters, effects
and wobble are Gaussian, so all but the scales is integrated in closed form (Rasmussen and Williams,
Gaussian Processes for Machine Learning, 2.7). Two runs hardly tell a scale between runs, so each
has a belief, log-normal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize  # type: ignore[import-untyped]

from calibration.samples import Floats
from calibration.scales import SCALES


@dataclass(frozen=True)
class Sight:
    """One run at some values of the parameters, linearised.

    ``residual``: predicted less measured, (samples, 3). Columns, (samples, 3, any): of the
    parameters by their beliefs, of the run's effects, of each piece's speed and bend, of suspects.
    """

    t_s: Floats
    residual: Floats
    slopes: Floats
    run: Floats
    piece_speed: Floats
    piece_bend: Floats
    suspects: Floats

    def effects(self, scales: Floats) -> Floats:
        """The columns of all effects, each times its scale."""
        run, speed, bend = scales[3:7], scales[7], scales[8]
        columns = (self.run * run, self.piece_speed * speed, self.piece_bend * bend)
        return np.concatenate(columns, axis=2)


def whitened(t_s: Floats, columns: Floats, scales: Floats) -> Floats:
    """(samples, 3, any) as (3 samples, any) without the wobble's spread and memory."""
    rest = np.exp(-np.diff(t_s) / scales[2])
    share = np.concatenate([[1.0], np.sqrt(1.0 - rest**2)])
    fresh = columns.copy()
    fresh[1:] -= rest[:, None, None] * columns[:-1]
    spread = share[:, None] * scales[[0, 0, 1]]
    return np.asarray((fresh / spread[:, :, None]).reshape(3 * len(t_s), columns.shape[2]))


def log_spreads(t_s: Floats, scales: Floats) -> float:
    """Half the logarithm of the determinant of the wobble's covariance."""
    rest = np.exp(-np.diff(t_s) / scales[2])
    each = float(np.log(scales[[0, 0, 1]]).sum())
    return len(t_s) * each + 1.5 * float(np.log1p(-(rest**2)).sum())


class System(NamedTuple):
    """Whitened normal equations of parameters, then effects run by run; beliefs are in ``matrix``.

    ``matrix`` = I + B'B, ``right`` = B'r, ``square`` = r'r, where r is the residual at the beliefs'
    centre.
    """

    matrix: Floats
    right: Floats
    square: float


def system(sights: Sequence[Sight], at: Floats, scales: Floats) -> System:
    """Linearised around ``at``, the parameters' beliefs."""
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
    centre = sight.residual - sight.slopes @ at
    count = sight.slopes.shape[2]
    columns = np.concatenate([centre[:, :, None], sight.slopes, sight.effects(scales)], axis=2)
    white = whitened(sight.t_s, columns, scales)
    return white[:, 0], white[:, 1 : 1 + count], white[:, 1 + count :]


def unlikely(sights: Sequence[Sight], at: Floats, scales: Floats) -> float:
    """Minus the logarithm of how likely residuals and scales are, but for a constant."""
    one = system(sights, at, scales)
    factor = np.linalg.cholesky(one.matrix)
    told = np.linalg.solve(factor, one.right)
    wobble = sum(log_spreads(sight.t_s, scales) for sight in sights)
    strange = (np.log(scales) - _BELIEVED) / _SPREADS
    halves = one.square - float(told @ told) + float(strange @ strange)
    return wobble + float(np.log(np.diag(factor)).sum()) + 0.5 * halves


def likeliest(sights: Sequence[Sight], at: Floats, first: Floats) -> Floats:
    """The scales, in the order of ``SCALES``; the search begins at ``first``."""
    least, most = _BELIEVED - FARTHEST * _SPREADS, _BELIEVED + FARTHEST * _SPREADS
    most[:3] = (_BELIEVED + WOBBLE_MOST * _SPREADS)[:3]
    bounds = zip(least, most, strict=True)
    found = minimize(
        lambda logs: unlikely(sights, at, np.exp(logs)),
        np.log(first),
        method="L-BFGS-B",
        bounds=list(bounds),
        options={"ftol": 1e-7},
    )
    return np.asarray(np.exp(found.x))


FARTHEST = 4.0  # spreads from a belief
WOBBLE_MOST = 2.0  # or a wobble would explain what the model does not: 0.04 m, 0.04 rad, 0.7 s
_BELIEVED = np.log([one.believed for one in SCALES])
_SPREADS = np.array([one.spread for one in SCALES])


def believed_scales() -> Floats:
    """Before any log."""
    return np.array([one.believed for one in SCALES])
