"""Judges the rows of a campaign: each cell's failures with intervals, pairs, and the worst."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from host_bridge.drive.lockstep.campaign.judging.intervals import (
    Paired,
    Share,
    paired,
    rank_correlation,
    share,
)
from host_bridge.drive.lockstep.campaign.judging.sensitivity import Sensitivity, sensitivity
from host_bridge.drive.lockstep.campaign.plan import Plan
from host_bridge.drive.lockstep.campaign.sampling import SALTELLI

JUDGED = ("passed", "failed")  # refused and not measured cases are listed, in no denominator
FIGURES = {"failing": "failed", "the distance": "distance_m"}  # whose variance is explained
_WORST = 10  # chosen: as many as somebody looks into by hand
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """One combination of levels: failures of the judged cases, and medians of their metres."""

    levels: Mapping[str, Any]
    failed: Share
    distance_m: float | None
    rest_m: float | None  # of those that stopped: from the last claim to standstill
    left_out: int  # refused or not measured
    why: str = ""  # all of it was refused, for this reason


@dataclass(frozen=True)
class Comparison:
    """Two levels of one factor, everything else and the seeds being equal."""

    first: Any
    second: Any
    result: Paired


@dataclass(frozen=True)
class Sampled:
    """An uncertain key: the rank correlation of its values with failing and with the distance."""

    key: str
    with_failure: float | None
    with_distance: float | None


@dataclass(frozen=True)
class Analysis:
    """All that a report prints."""

    outcomes: Mapping[str, int]
    missing: int
    cells: Sequence[Cell]
    comparisons: Sequence[Comparison]
    worst: Sequence[Row]
    core_s: float
    compiled: int  # cases that ran as machine code
    overall: Share
    sampled: Sequence[Sampled] = ()
    indices: Sequence[Sensitivity] = ()  # of Saltelli's design


def analyse(plan: Plan, rows: Sequence[Row]) -> Analysis:
    """Judge the rows of a campaign by its plan."""
    by_cell: dict[str, list[Row]] = {}
    for row in rows:
        by_cell.setdefault(_key(row["levels"]), []).append(row)
    cells = [_cell(cell, by_cell.get(_key(cell), []), plan.confidence) for cell in plan.cells()]
    judged = [row for row in rows if row["outcome"] in JUDGED]
    failed = [row for row in judged if row["outcome"] == "failed"]
    worst = sorted(failed, key=lambda row: (-(row["hit_mps"] or 0.0), row["driven_s"]))
    return Analysis(
        Counter(row["outcome"] for row in rows),
        plan.count() - len(rows),
        cells,
        _comparisons(plan, judged),
        worst[:_WORST],
        sum(row.get("ran", {}).get("cpu_s", 0.0) for row in rows),
        sum(bool(row.get("ran", {}).get("machine_code")) for row in rows),
        share(len(failed), len(judged), plan.confidence),
        [_sampled(key, judged) for key in plan.uncertain],
        sensitivity(tuple(plan.uncertain), judged, FIGURES, plan.confidence)
        if plan.design == SALTELLI
        else [],
    )


def _sampled(key: str, judged: Sequence[Row]) -> Sampled:
    values = [row["sample"][key] for row in judged]
    failed = [float(row["outcome"] == "failed") for row in judged]
    metres = [row["distance_m"] for row in judged]
    return Sampled(key, rank_correlation(values, failed), rank_correlation(values, metres))


def _key(levels: Mapping[str, Any]) -> str:
    return json.dumps(levels, sort_keys=True)


def _cell(levels: Mapping[str, Any], rows: Sequence[Row], confidence: float) -> Cell:
    judged = [row for row in rows if row["outcome"] in JUDGED]
    failed = sum(row["outcome"] == "failed" for row in judged)
    middle = median(row["distance_m"] for row in judged) if judged else None
    rests = [row["claim_to_rest_m"] for row in judged if row.get("claim_to_rest_m") is not None]
    reasons = {row["why"] if row["outcome"] == "refused" else "" for row in rows}
    return Cell(
        levels,
        share(failed, len(judged), confidence),
        middle,
        median(rests) if rests else None,
        len(rows) - len(judged),
        reasons.pop() if len(reasons) == 1 else "",
    )


def _comparisons(plan: Plan, judged: Sequence[Row]) -> list[Comparison]:
    """Compare the first level of the compared factor with each other one."""
    if not plan.compare:
        return []
    seen: dict[tuple[str, int, str], bool] = {}
    for row in judged:
        rest = {key: level for key, level in row["levels"].items() if key != plan.compare}
        level = json.dumps(row["levels"][plan.compare])
        seen[_key(rest), row["repetition"], level] = row["outcome"] == "failed"
    first, *others = plan.factors[plan.compare]
    found = []
    for other in others:
        pairs = [
            (is_failed, seen[rest, repetition, json.dumps(other)])
            for (rest, repetition, level), is_failed in seen.items()
            if level == json.dumps(first) and (rest, repetition, json.dumps(other)) in seen
        ]
        found.append(Comparison(first, other, paired(pairs)))
    return found
