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

    The covariance is the clustered sandwich of the jackknife (CR3): each group's residuals as if
    the others alone had been fitted, because few groups pull the fit toward themselves. Source:
    Cameron and Miller, A Practitioner's Guide to Cluster-Robust Inference, 2015, section VI.B.
    """
    root = np.ones(len(measured)) if weights is None else np.sqrt(weights)
    rows, aims = design * root[:, None], measured * root
    values = solve_least_squares(rows, aims)
    left = aims - rows @ values
    bread = np.linalg.pinv(rows.T @ rows)
    _, places = np.unique(groups, return_inverse=True)
    count = int(places.max()) + 1 if len(places) else 0
    scores = np.array([_jackknifed(rows[at], left[at], bread) for at in _parts(places, count)])
    scores = scores.reshape(count, design.shape[1])
    scale = max(count - 1, 1) / max(count, 1)
    covariance = scale * bread @ (scores.T @ scores) @ bread
    return LinearFit(values, covariance, count, measured - design @ values)


def _parts(places: Groups, count: int) -> list[Groups]:
    """Return the rows of each group."""
    order = np.argsort(places, kind="stable")
    return np.split(order, np.searchsorted(places[order], np.arange(1, count))) if count else []


def _jackknifed(
    rows: npt.NDArray[np.float64], left: Floats, bread: npt.NDArray[np.float64]
) -> Floats:
    """Return a group's score with the residuals that a fit without this group would leave."""
    own = np.eye(rows.shape[1]) - (rows.T @ rows) @ bread
    return np.asarray(np.linalg.pinv(own) @ (rows.T @ left))


def consecutive_slices(is_in: npt.NDArray[np.bool_], least: int) -> list[slice]:
    """Return the slices of at least ``least`` consecutive samples where ``is_in`` holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_in, [False]]).astype(int)))
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [slice(int(a), int(b)) for a, b in pairs if b - a >= least]
