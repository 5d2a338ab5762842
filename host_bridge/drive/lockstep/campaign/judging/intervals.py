"""Intervals of shares, and the paired comparison of two cells, by scipy."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.stats import beta, binomtest, spearmanr  # type: ignore[import-untyped]


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
