"""Intervals of shares, and the paired comparison of two cells, by scipy."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from statistics import median

from scipy.stats import (  # type: ignore[import-untyped]
    beta,
    binomtest,
    quantile_test,
    spearmanr,
)


@dataclass(frozen=True)
class Share:
    """``count`` of ``total``, with its Wilson interval at ``confidence``.

    ``most`` is the exact (Clopper and Pearson) one-sided upper bound at the same confidence.
    """

    count: int
    total: int
    low: float
    high: float
    most: float


def share(count: int, total: int, confidence: float) -> Share:
    """Return the share of ``count`` in ``total``; of nothing anything may be: 0 to 1."""
    if not total:
        return Share(0, 0, 0.0, 1.0, 1.0)
    found = binomtest(count, total).proportion_ci(confidence, method="wilson")
    most = 1.0 if count == total else float(beta.ppf(confidence, count + 1, total - count))
    return Share(count, total, float(found.low), float(found.high), most)


@dataclass(frozen=True)
class Paired:
    """The comparison of two cells on common seeds.

    ``only_first`` and ``only_second`` count the seeds on which only that one failed; ``p_value`` is
    McNemar's, exact.
    """

    pairs: int
    only_first: int
    only_second: int
    p_value: float


def rank_correlation(first: list[float], second: list[float]) -> float | None:
    """Return Spearman's rank correlation; None for fewer than 3 pairs, or without variation."""
    if len(first) < 3 or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    return float(spearmanr(first, second).statistic)


def paired(failures: list[tuple[bool, bool]]) -> Paired:
    """Compare two cells by whether each failed, seed by seed."""
    first = sum(a and not b for a, b in failures)
    second = sum(b and not a for a, b in failures)
    apart = first + second
    p_value = float(binomtest(first, apart, 0.5).pvalue) if apart else 1.0
    return Paired(len(failures), first, second, p_value)


@dataclass(frozen=True)
class Middle:
    """The median of some values, with its exact interval, which asks for no distribution.

    ``low`` and ``high`` are None for values too few to bound it at that confidence.
    """

    count: int
    value: float
    low: float | None
    high: float | None


def middle(values: list[float], confidence: float) -> Middle | None:
    """Return the median with its interval by order statistics (scipy); None without values."""
    if not values:
        return None
    found = quantile_test(values, q=0.0, p=0.5).confidence_interval(confidence)
    ends = [float(it) if isfinite(it) else None for it in (found.low, found.high)]
    return Middle(len(values), float(median(values)), *ends)


def holm(p_values: list[float]) -> list[float]:
    """Return the p values by Holm's correction (Scand. J. Statist. 6, 1979), in their order."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    corrected, least = [1.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        least = max(least, min((len(p_values) - rank) * p_values[place], 1.0))
        corrected[place] = least
    return corrected
