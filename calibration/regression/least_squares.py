"""Least squares with cluster-robust intervals: neighbouring samples of a log err together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student  # type: ignore[import-untyped]

from calibration.arrays import Floats

Groups = npt.NDArray[np.signedinteger[Any]]
_SURE = 0.975  # the quantile of a two-sided 95 % interval


@dataclass(frozen=True)
class LinearFit:
    """The result of a linear least-squares fit.

    ``values`` (k,) with their ``covariance`` (k, k), and ``residuals`` (n,);
    ``groups`` is the number of independent groups of samples.
    """

    values: Floats
    covariance: npt.NDArray[np.float64]
    groups: int
    residuals: Floats

    @property
    def deviations(self) -> Floats:
        return np.asarray(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))

    @property
    def quantile(self) -> float:
        """The factor from a deviation to half of a 95 % interval: Student's quantile."""
        return student_quantile(self.groups - len(self.values))


def student_quantile(freedom: int) -> float:
    """Return Student's quantile for a 95 % interval; infinite without a degree of freedom."""
    return float(student.ppf(_SURE, freedom)) if freedom > 0 else float("inf")


def solve_least_squares(design: npt.NDArray[np.float64], measured: Floats) -> Floats:
    """Return the values that explain what was measured best, without their uncertainty."""
    return np.asarray(np.linalg.lstsq(design, measured, rcond=None)[0], float)


def fit_least_squares(
    design: npt.NDArray[np.float64],
    measured: Floats,
    groups: Groups,
    weights: Floats | None = None,
) -> LinearFit:
    """Fit ``design`` times values to ``measured``; rows of one group are correlated.

    The covariance is the clustered sandwich with its small-sample factor: Cameron and Miller, A
    Practitioner's Guide to Cluster-Robust Inference, 2015, equations 10 and 12.
    """
    root = np.ones(len(measured)) if weights is None else np.sqrt(weights)
    rows, aims = design * root[:, None], measured * root
    values = solve_least_squares(rows, aims)
    left = aims - rows @ values
    bread = np.linalg.pinv(rows.T @ rows)
    _, places = np.unique(groups, return_inverse=True)
    count = int(places.max()) + 1 if len(places) else 0
    scores = np.zeros((count, design.shape[1]))
    np.add.at(scores, places, rows * left[:, None])
    size, width = design.shape
    scale = count / max(count - 1, 1) * (size - 1) / max(size - width, 1)
    covariance = scale * bread @ (scores.T @ scores) @ bread
    return LinearFit(values, covariance, count, measured - design @ values)


def consecutive_slices(is_in: npt.NDArray[np.bool_], least: int) -> list[slice]:
    """Return the slices of at least ``least`` consecutive samples where ``is_in`` holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_in, [False]]).astype(int)))
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [slice(int(a), int(b)) for a, b in pairs if b - a >= least]
