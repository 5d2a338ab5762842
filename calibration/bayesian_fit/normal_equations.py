"""The normal equations of parameters and effects, from runs that are linearised and whitened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibration.arrays import Floats
from calibration.bayesian_fit.linearised_run import LinearisedRun
from calibration.bayesian_fit.odometry_noise import whitened


class NormalEquations(NamedTuple):
    """Whitened normal equations of parameters, then of effects, run by run.

    ``matrix`` = I + B'B, where I holds the priors, ``right`` = B'r, ``square`` = r'r, where r is
    the residual at the priors' centre, without effects.
    """

    matrix: Floats
    right: Floats
    square: float


class Unknowns(NamedTuple):
    """The current point in the equations' order: parameters, and effects over their scales.

    Parameters are standardised. ``begins``: the index of each run's own effects. ``is_nonlinear``:
    true for the unknowns in which the model is nonlinear; false for the effects of pieces, which
    are zero here.
    """

    values: Floats
    begins: list[int]
    is_nonlinear: npt.NDArray[np.bool_]


def unknowns(linearised: Sequence[LinearisedRun], at: Floats, scales: Floats) -> Unknowns:
    """Return the state at these parameters, and at each run's own effects."""
    values, is_nonlinear, begins = [at], [np.ones(len(at), bool)], []
    begin = len(at)
    for run in linearised:
        own = run.own / run.run_scales(scales)
        none = np.zeros(run.linear_count)
        values += [own, none]
        is_nonlinear += [np.ones(len(own), bool), none > 0.0]
        begins.append(begin)
        begin += len(own) + len(none)
    return Unknowns(np.concatenate(values), begins, np.concatenate(is_nonlinear))


def normal_equations(
    linearised: Sequence[LinearisedRun], at: Floats, scales: Floats
) -> NormalEquations:
    """Return the normal equations, linearised around ``at``, the standardised parameters."""
    count = len(at)
    blocks = [_whitened(run, at, scales) for run in linearised]
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
    return NormalEquations(matrix, right, square)


def _whitened(run: LinearisedRun, at: Floats, scales: Floats) -> tuple[Floats, Floats, Floats]:
    centre = run.without_own() - run.slopes @ at
    count = run.slopes.shape[2]
    columns = np.concatenate([centre[:, :, None], run.slopes, run.effects(scales)], axis=2)
    white = whitened(run.t_s, columns, scales)
    return white[:, 0], white[:, 1 : 1 + count], white[:, 1 + count :]
