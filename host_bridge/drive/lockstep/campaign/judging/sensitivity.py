"""Sobol indices of what is uncertain, by SciPy: which share of the variance each key explains.

The first-order index is the share of one key alone, the total one that of the key with all its
interactions. Of 0 the key may as well be left at any value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import sobol_indices  # type: ignore[import-untyped]

from host_bridge.drive.lockstep.campaign.sampling import saltelli_runs

_RESAMPLES = (
    1000  # of the bootstrap: chosen, an interval's ends then scatter by some per cent of it
)
_SEED = 1  # of the bootstrap: equal rows give an equal report
_LEAST = 2  # whole sets below which there is nothing to resample
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Index:
    """One index, with the ends of its bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Sensitivity:
    """A figure's indices by key: first-order and total, from so many whole sets of runs."""

    figure: str
    sets: int
    indices: Mapping[str, tuple[Index, Index]]


def sensitivity(
    keys: Sequence[str], rows: Sequence[Row], figures: Mapping[str, str], confidence: float
) -> list[Sensitivity]:
    """Return the indices of each figure that varies, from the judged rows of Saltelli's design.

    ``figures`` are shown by their names; each is a key of a row, or ``failed``. A set with a run
    that was refused, not measured or not made yet is left out, and of the whole ones as many as the
    largest power of 2 count.
    """
    runs = saltelli_runs(len(keys))
    by_run = {row["repetition"]: row for row in rows}
    firsts = range(0, max(by_run, default=-1) + 1, runs)
    whole = [at for at in firsts if all(at + run in by_run for run in range(runs))]
    count = 1 << (len(whole).bit_length() - 1) if whole else 0
    if count < _LEAST:
        return []
    found = []
    for name, figure in figures.items():
        values = np.array(
            [[_value(by_run[at + run], figure) for at in whole[:count]] for run in range(runs)]
        )
        if np.ptp(values[:2]) > 0.0:
            found.append(Sensitivity(name, count, _indices(keys, values, confidence)))
    return found


def _value(row: Row, figure: str) -> float:
    return float(row["outcome"] == "failed") if figure == "failed" else float(row[figure])


def _indices(keys: Sequence[str], values: Any, confidence: float) -> dict[str, tuple[Index, Index]]:
    """Return first-order and total index by key; ``values`` are [run of a set, set]."""
    count = values.shape[1]
    drawn = np.random.default_rng(_SEED).integers(0, count, (_RESAMPLES, count))
    with np.errstate(divide="ignore", invalid="ignore"):  # sets that all end alike: left out
        spread = np.array([_both(values[:, sets]) for sets in drawn])
    ends = (1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0
    low, high = np.nanquantile(spread, ends, axis=0)
    first, total = (
        [Index(*map(float, each)) for each in zip(*three, strict=True)]
        for three in zip(_both(values), low, high, strict=True)
    )
    return dict(zip(keys, zip(first, total, strict=True), strict=True))


def _both(values: Any) -> Any:
    """Return [first-order or total, key]."""
    given = {"f_A": values[0:1], "f_B": values[1:2], "f_AB": values[2:, None, :]}
    found = sobol_indices(func=given, n=values.shape[1])
    return np.array([np.ravel(found.first_order), np.ravel(found.total_order)])
