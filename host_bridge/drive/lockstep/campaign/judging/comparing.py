"""Paired comparisons: the first level of a factor against each other one, on common seeds.

All pairs of two levels are compared together, and those of each cell apart. Of many tests one seems
to find something by chance: Holm's correction keeps the chance that any does at the level asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from host_bridge.drive.lockstep.campaign.judging.intervals import (
    Middle,
    Paired,
    holm,
    middle,
    paired,
)
from host_bridge.drive.lockstep.campaign.plan import Plan

# Figures of a row whose difference is told, where both cases of a pair have them
DIFFERENCES = {"m driven": "distance_m", "m from the last claim to rest": "claim_to_rest_m"}
Row = Mapping[str, Any]
_Pairs = list[tuple[Row, Row]]
_Found = tuple[Any, Any, Mapping[str, Any], _Pairs]  # first and second level, cell, pairs


@dataclass(frozen=True)
class Comparison:
    """Two levels of one factor, everything else and the seeds being equal.

    ``cell`` has the other factors' levels; it is empty for all cells together. ``p_holm`` is the p
    value by Holm's correction among all of its kind: all cells together, or each apart.
    ``differences`` are medians of the second less the first, by ``DIFFERENCES``.
    """

    first: Any
    second: Any
    cell: Mapping[str, Any]
    result: Paired
    p_holm: float
    differences: Mapping[str, Middle | None]


def compare(plan: Plan, judged: Sequence[Row]) -> tuple[list[Comparison], list[Comparison]]:
    """Return the comparisons of all cells together, and those of each cell where there are more."""
    if not plan.compare:
        return [], []
    by_place: dict[tuple[str, int], dict[str, Row]] = {}
    for row in judged:
        rest = {key: level for key, level in row["levels"].items() if key != plan.compare}
        place = json.dumps(rest, sort_keys=True), row["repetition"]
        by_place.setdefault(place, {})[json.dumps(row["levels"][plan.compare])] = row
    together: list[_Found] = []
    apart: list[_Found] = []
    first, *others = plan.factors[plan.compare]
    for other in others:
        cells: dict[str, _Pairs] = {}
        for (rest_text, _), rows in by_place.items():
            pair = rows.get(json.dumps(first)), rows.get(json.dumps(other))
            if pair[0] is not None and pair[1] is not None:
                cells.setdefault(rest_text, []).append((pair[0], pair[1]))
        every = [pair for pairs in cells.values() for pair in pairs]
        together.append((first, other, {}, every))
        apart += [(first, other, json.loads(text), pairs) for text, pairs in cells.items()]
    is_many = len(apart) > len(together)
    return _judged(together, plan.confidence), _judged(apart, plan.confidence) if is_many else []


def _judged(found: Sequence[_Found], confidence: float) -> list[Comparison]:
    results = [paired([(_failed(a), _failed(b)) for a, b in pairs]) for *_, pairs in found]
    corrected = holm([it.p_value for it in results])
    return [
        Comparison(
            first,
            second,
            cell,
            result,
            p_holm,
            {name: _difference(key, pairs, confidence) for name, key in DIFFERENCES.items()},
        )
        for (first, second, cell, pairs), result, p_holm in zip(
            found, results, corrected, strict=True
        )
    ]


def _failed(row: Row) -> bool:
    return bool(row["outcome"] == "failed")


def _difference(key: str, pairs: _Pairs, confidence: float) -> Middle | None:
    both = [(a.get(key), b.get(key)) for a, b in pairs]
    return middle([b - a for a, b in both if a is not None and b is not None], confidence)
