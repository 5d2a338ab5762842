"""Least squares whose intervals know that neighbours in a log are wrong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student  # type: ignore[import-untyped]

from calibration.samples import Floats

Groups = npt.NDArray[np.signedinteger[Any]]
_SURE = 0.975  # of a two-sided 95 %


@dataclass(frozen=True)
class Line:
    """``values`` and their covariance; ``groups`` is how many independent pieces there were."""

    values: Floats
    covariance: npt.NDArray[np.float64]
    groups: int
    residuals: Floats

    @property
    def deviations(self) -> Floats:
        return np.asarray(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))

    @property
    def quantile(self) -> float:
        """By which a deviation becomes half of a 95 % interval; Student's, of few pieces."""
        return quantile(self.groups - len(self.values))


def quantile(freedom: int) -> float:
    """Student's for a 95 % interval; with no degree of freedom there is none."""
    return float(student.ppf(_SURE, freedom)) if freedom > 0 else float("inf")


def fitted(
    design: npt.NDArray[np.float64],
    measured: Floats,
    groups: Groups,
    weights: Floats | None = None,
) -> Line:
    """Rows of ``design`` times values against ``measured``; rows of a group stand or fall together.

    The covariance is the clustered sandwich with its small-sample factor: Cameron and Miller, A
    Practitioner's Guide to Cluster-Robust Inference, 2015, equations 10 and 12.
    """
    root = np.ones(len(measured)) if weights is None else np.sqrt(weights)
    rows, aims = design * root[:, None], measured * root
    values = np.asarray(np.linalg.lstsq(rows, aims, rcond=None)[0], float)
    left = aims - rows @ values
    bread = np.linalg.pinv(rows.T @ rows)
    _, places = np.unique(groups, return_inverse=True)
    count = int(places.max()) + 1 if len(places) else 0
    scores = np.zeros((count, design.shape[1]))
    np.add.at(scores, places, rows * left[:, None])
    size, width = design.shape
    scale = count / max(count - 1, 1) * (size - 1) / max(size - width, 1)
    covariance = scale * bread @ (scores.T @ scores) @ bread
    return Line(values, covariance, count, measured - design @ values)


def runs_of(is_in: npt.NDArray[np.bool_], least: int) -> list[slice]:
    """Stretches of at least so many samples in which it holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_in, [False]]).astype(int)))
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [slice(int(a), int(b)) for a, b in pairs if b - a >= least]
