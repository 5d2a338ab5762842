"""How large wobble and scatter are: the scales under which the runs' residuals are likeliest.

An odometry wobbles and remembers: an Ornstein-Uhlenbeck process for each channel, with one spread
for positions, one for yaw and one memory. Runs and pieces of runs differ by ``effects``, each with
a scale. All scales are found together by maximum marginal likelihood (REML): parameters, effects
and wobble are Gaussian, so all but the scales is integrated in closed form (Rasmussen and Williams,
Gaussian Processes for Machine Learning, 2.7). Two runs hardly tell a scale between runs, so each
has a belief, log-normal. What a run differs by is not small: poses bend with it. So a run is
linearised at the effects of its own that were found, not at none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize  # type: ignore[import-untyped]

from calibration.samples import Floats
from calibration.scales import SCALES


@dataclass(frozen=True)
class Sight:
    """Hold one run, linearised at some values of the parameters and of its own effects.

    ``residual``: predicted less measured, (samples, 3). Columns, (samples, 3, any): of the
    parameters by their beliefs, of the run's effects, of each piece's speed and bend, of suspects.
    ``own``: the run's effects at which this holds. ``still_s``: how long it was seen at its start.
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
        """Return how large the run's effects are."""
        return run_scales(scales, self.still_s)

    @property
    def piece_count(self) -> int:
        """Count the effects of pieces."""
        return int(self.piece_speed.shape[2] + self.piece_bend.shape[2])

    def pieces(self, scales: Floats) -> Floats:
        """Return the columns of what no parameter explains, each times its scale."""
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
    """Return how large a run's effects are; its start wobbled too, and was seen so long."""
    start = scales[[0, 1]] * start_share(still_s, float(scales[2]))
    speed, trim, delay, yaw = scales[3:7]
    return np.array([speed, trim, delay, np.hypot(yaw, start[1]), start[0], start[0]])


def start_share(still_s: float, memory_s: float) -> float:
    """Return what is left of a wobble's spread in the mean of so long (Ornstein-Uhlenbeck)."""
    ratio = still_s / memory_s
    if ratio < 1e-3:
        return 1.0
    return float(np.sqrt(2.0 / ratio * (1.0 + np.expm1(-ratio) / ratio)))


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
    centre, without effects.
    """

    matrix: Floats
    right: Floats
    square: float


class State(NamedTuple):
    """Hold where a search is, in a ``System``'s order: beliefs, and effects by their scales.

    ``begins``: where each run's own effects are. ``is_bent``: of what slopes change with, which is
    not so of the effects of pieces: these are none here.
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
    centre = sight.without_own() - sight.slopes @ at
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
    """(DRAWS, scales): how large they may be as well, around the likeliest ones.

    By the curvature of their likelihood's logarithm (Laplace), each within its range.
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
    """Covariance of the beliefs, whichever of these scales is right; linearised around ``at``."""
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


LOOK = 0.1  # of a logarithm: far enough to see how the likelihood bends
DRAWS = 64
FARTHEST = 4.0  # spreads from a belief
WOBBLE_MOST = 2.0  # or a wobble would explain what the model does not: 0.04 m, 0.04 rad, 0.7 s
# The same of pieces: they are columns, true near by only; with all that they may explain a search
# walks off to cars that drive quite otherwise.
PIECE_MOST = 2.0
_BELIEVED = np.log([one.believed for one in SCALES])
_SPREADS = np.array([one.spread for one in SCALES])


def believed_scales() -> Floats:
    """Before any log."""
    return np.array([one.believed for one in SCALES])
