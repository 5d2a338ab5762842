"""A test of lack of fit: do the residuals hold more than noise and variance between runs?

There are two F tests, with the noise whitened, the parameters free and the runs' effects in their
scales. The first is of all pieces of the runs, each with its own speed and curvature, whatever the
reason. The second is of the patterns of known faults (``effects.SUSPECTS``); it is more powerful
and names the reason. The smaller p counts, doubled as there are two tests (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import f as fisher  # type: ignore[import-untyped]

from calibration.arrays import Floats
from calibration.bayesian_fit.estimates import LEVEL, LackOfFit
from calibration.bayesian_fit.linearised_run import LinearisedRun
from calibration.bayesian_fit.odometry_noise import whitened
from calibration.bayesian_fit.run_effects import SUSPECTS
from calibration.bayesian_fit.variance_priors import SCALES

RUNS_MOST = 2.0  # limit of the run effects' scales over their priors; more is lack of fit too
SEEN = 0.03  # of the noise: the least effect, at prior size, of a direction that is tested
NOTICED = 0.01  # significance level at which a suspect is named


def lack_of_fit_test(linearised: Sequence[LinearisedRun], scales: Floats) -> LackOfFit:
    """Test runs that are linearised at their fit.

    The run effects' scales are capped at ``RUNS_MOST`` times their priors.
    """
    most = np.array([RUNS_MOST * one.prior_median for one in SCALES])
    of_runs = [one.name.startswith("run_") for one in SCALES]
    scales = np.where(of_runs, np.minimum(scales, most), scales)
    base, runs, pieces, suspects, residual = _stacked(linearised, scales)
    design = np.block(
        [[base, runs], [np.zeros((runs.shape[1], base.shape[1])), np.eye(runs.shape[1])]]
    )
    zeros = np.zeros((runs.shape[1], 1))
    q, _ = np.linalg.qr(_scaled(design))

    def left(columns: Floats) -> Floats:
        whole = np.concatenate([columns, np.repeat(zeros, columns.shape[1], axis=1)])
        return np.asarray(whole - q @ (q.T @ whole))

    rest, strange, named = left(residual[:, None])[:, 0], left(pieces), left(suspects)
    # Beside columns of unit size: smaller directions are rounding
    free = len(residual) - base.shape[1]
    alone = [_f_test(rest, named[:, [i]], free, 1e-6) for i in range(len(SUSPECTS))]
    p = min(1.0, 2.0 * min(_f_test(rest, strange, free, SEEN), _f_test(rest, named, free, 1e-6)))
    likely = int(np.argmin(alone))
    return LackOfFit(p, SUSPECTS[likely] if p < LEVEL and alone[likely] < NOTICED else "")


def _f_test(rest: Floats, columns: Floats, free: int, seen: float) -> float:
    """Return p of the F test of the hypothesis that these columns explain nothing."""
    directions, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    directions = directions[:, sizes > seen]
    count = directions.shape[1]
    if not count or free - count < 5:  # an F test of fewer degrees of freedom shows nothing
        return 1.0
    projected = directions.T @ rest
    explained = float(projected @ projected)
    other = float(rest @ rest) - explained
    return float(fisher.sf((explained / count) / (other / (free - count)), count, free - count))


def _stacked(
    linearised: Sequence[LinearisedRun], scales: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return all runs whitened and stacked.

    In order: parameters, run effects, pieces of prior size, suspects, residual.
    """
    speed, curvature = (one.prior_median for one in SCALES[7:9])
    rows = []
    for run in linearised:
        own = (
            *(run.slopes, run.of_run(scales)),
            *(run.piece_speed * speed, run.piece_curvature * curvature),
            *(run.suspects, run.without_own()[:, :, None]),
        )
        rows.append([whitened(run.t_s, one, scales) for one in own])
    slopes, run_effects, piece_speed, piece_curvature, suspects, residual = zip(*rows, strict=True)
    pieces = np.concatenate(
        [_block_diagonal(piece_speed), _block_diagonal(piece_curvature)], axis=1
    )
    together = [np.concatenate(one) for one in (slopes, suspects, residual)]
    return together[0], _block_diagonal(run_effects), pieces, together[1], together[2][:, 0]


def _block_diagonal(blocks: Sequence[Floats]) -> Floats:
    """Stack the blocks along the diagonal, each with columns of its own."""
    band_half_widths = np.cumsum([0, *(block.shape[1] for block in blocks)])
    whole = [
        np.pad(block, ((0, 0), (int(begin), int(band_half_widths[-1] - end))))
        for block, begin, end in zip(
            blocks, band_half_widths[:-1], band_half_widths[1:], strict=True
        )
    ]
    return np.concatenate(whole)


def _scaled(design: Floats) -> Floats:
    """Return the columns scaled to length one, so that a weak column is no rounding error."""
    lengths = np.linalg.norm(design, axis=0)
    return np.asarray(design / np.where(lengths > 0.0, lengths, 1.0))
