"""The histograms of ``on_board/steps.py``: steps by their duration, in bins of 100 us."""

from __future__ import annotations

from collections import Counter
from typing import Any

_BIN_US = 100  # as on_board/steps.py has it


def merged(rows: Any, kind: str) -> dict[str, Any]:
    """Return one histogram of all steps of this kind, however many messages they received."""
    those = [row for row in rows if row["kind"] == kind]
    bins: Counter[int] = Counter()
    for row in those:
        bins.update(dict(row["bins"]))
    return {
        "steps": sum(row["steps"] for row in those),
        "spent_us": sum(row["spent_us"] for row in those),
        "longest_us": max((row["longest_us"] for row in those), default=0),
        "bins": sorted(bins.items()),
    }


def summary(found: Any) -> dict[str, float]:
    """Return a histogram's figures. Percentiles are upper edges of bins, so never too small."""
    if not found["steps"]:
        return {"steps": 0}
    return {
        "steps": found["steps"],
        "mean_ms": round(found["spent_us"] / found["steps"] / 1000, 3),
        "median_ms": _share(found, 0.5),
        "p99_ms": _share(found, 0.99),  # of the steps
        "longest_ms": found["longest_us"] / 1000,
    }


def _share(found: Any, share: float) -> float:
    left = share * found["steps"]
    for begin_us, count in found["bins"]:
        left -= count
        if left <= 0:
            return float(min(begin_us + _BIN_US, found["longest_us"]) / 1000)
    return float(found["longest_us"] / 1000)
