"""The estimate of a rare event from its independent replicates, with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, sqrt
from typing import Any

from scipy.stats import norm, t  # type: ignore[import-untyped]

Row = Mapping[str, Any]


@dataclass(frozen=True)
class RareEstimate:
    """The probability that the case fails: the mean of the replicates, and its interval.

    ``low`` and ``high`` are None if no replicate found the failure: then nothing bounds it but
    the ordinary cases beside it.
    """

    share: float
    low: float | None
    high: float | None
    replicates: int
    runs: int
    virtual_s: float
    extinct: int  # replicates that did not find the failure
    cut: int  # replicates that came to the end of their runs
    failures: Sequence[Row]  # branches that failed, each a case


def estimate(rows: Sequence[Row], confidence: float) -> RareEstimate | None:
    """Return the estimate of so many replicates; None without any.

    The interval is ``share * exp(-+w)``: ``w`` is the larger of the normal quantile times the error
    that follows from the numbers killed, and of Student's times that of the replicates among
    themselves. The first is too small where the level forgets what matters, and the second
    scatters, being of a few. Both are relative errors of the mean.
    """
    if not rows:
        return None
    shares, number = [row["share"] for row in rows], len(rows)
    mean = sum(shares) / number
    found = [row["relative_variance"] for row in rows if row["relative_variance"] is not None]
    low = high = None
    if mean > 0.0 and number > 1:
        upper = (1.0 + confidence) / 2.0
        of_killed = sqrt(sum(found) / len(found) / number)
        scatter = sum((it - mean) ** 2 for it in shares) / (number - 1)
        of_replicates = sqrt(scatter / number) / mean
        width = max(norm.ppf(upper) * of_killed, t.ppf(upper, number - 1) * of_replicates)
        low, high = mean * exp(-width), min(mean * exp(width), 1.0)
    return RareEstimate(
        mean,
        low,
        high,
        number,
        sum(row["runs"] for row in rows),
        sum(row["virtual_s"] for row in rows),
        sum(not it for it in shares),
        sum(row["is_cut"] for row in rows),
        [branch for row in rows for branch in row["branches"]],
    )
