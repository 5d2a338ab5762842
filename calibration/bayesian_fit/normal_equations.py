"""The normal equations of parameters and effects, from runs that are linearised and whitened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibration.arrays import Floats
from calibration.bayesian_fit.linearised_run import Sight
from calibration.bayesian_fit.odometry_noise import whitened


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
