"""What the samples exclude of a parameter that they do not tell.

Slopes at one point mislead there: a lag far shorter than the time between samples leaves no trace,
ten times the lag does. So values all over the range are tried, and for each the other parameters
are fitted again, by the slopes that they have at the best fit.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2  # type: ignore[import-untyped]

from calibration.look import CONFIDENCE, Look, Residuals, stacked
from calibration.parameters import Parameter, Values
from calibration.samples import Floats

POINTS = 24


def not_excluded(
    residuals: Residuals, best: Values, parameter: Parameter, look: Look, fitted: list[int]
) -> tuple[float, float]:
    """The least and the greatest of the tried values that the samples can live with.

    ``look`` is the one at ``best``, ``fitted`` the numbers of its columns that may give way.
    Excluded is what raises the sum of squares by more than chance would at 95 %: chi-squared of one
    degree, times what the sandwich says a residual counts for at most.
    """
    tried = np.append(_spread(parameter), best[parameter.name])
    basis, _ = np.linalg.qr(look.slopes[:, fitted])
    sums = []
    for value in tried:
        left = stacked(residuals({**best, parameter.name: float(value)}))
        left = left - basis @ (basis.T @ left)
        sums.append(float(left @ left))
    worth = np.diag(look.sandwich(fitted)) / np.diag(look.best_case(fitted))
    allowed = min(sums) + float(chi2.ppf(CONFIDENCE, 1)) * float(worth.max())
    kept = tried[np.array(sums) <= allowed]
    return float(kept.min()), float(kept.max())


def _spread(p: Parameter) -> Floats:
    """Over the range; by equal factors where it is all above 0."""
    spread = np.geomspace if p.low > 0.0 else np.linspace
    return np.asarray(spread(p.low, p.high, POINTS))
