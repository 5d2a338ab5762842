"""Shares of what was tried, with their 95 % intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest, norm

SURE = float(norm.ppf(0.975))


class Share(NamedTuple):
    """A share of what was tried, with its 95 % interval."""

    share: float
    low: float
    high: float
    of: int


def share(flags: Iterable[bool]) -> Share:
    """Return the share with the interval of Clopper and Pearson."""
    every = list(flags)
    test = binomtest(sum(every), len(every))
    low, high = test.proportion_ci(0.95)
    return Share(sum(every) / len(every), float(low), float(high), len(every))


def share_by_car(flags: Sequence[Sequence[bool]]) -> Share:
    """Return the share of all, with the variance between cars: those of one car stand together."""
    every = [flag for one in flags for flag in one]
    found = float(np.mean(every)) if every else 0.0
    weights = [len(one) * (float(np.mean(one)) - found) for one in flags if len(one)]
    half = SURE * float(np.sqrt(np.sum(np.square(weights)))) / max(len(every), 1)
    return Share(found, max(found - half, 0.0), min(found + half, 1.0), len(every))
