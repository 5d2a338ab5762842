"""Judges the rows of a campaign: each cell's failures with intervals, pairs, and the worst."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from host_bridge.drive.lockstep.campaign.judging.comparing import Comparison, compare
from host_bridge.drive.lockstep.campaign.judging.intervals import (
    Share,
    rank_correlation,
    share,
)
from host_bridge.drive.lockstep.campaign.judging.sensitivity import Sensitivity, sensitivity
from host_bridge.drive.lockstep.campaign.plan import Plan
from host_bridge.drive.lockstep.campaign.rare.estimate import RareEstimate, estimate
from host_bridge.drive.lockstep.campaign.rare.splitting import ESTIMATED
from host_bridge.drive.lockstep.campaign.sampling import SALTELLI

JUDGED = ("passed", "failed")  # refused and not measured cases are listed, in no denominator
FIGURES = {"failing": "failed", "the distance": "distance_m"}  # whose variance is explained
WORST = 10  # chosen: as many as somebody looks into by hand
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
    comparisons: Sequence[Comparison]  # of all cells together
    in_cells: Sequence[Comparison]  # of each cell apart, where there is more than one
    worst: Sequence[Row]
    core_s: float
    compiled: int  # cases that ran as machine code
    overall: Share
    sampled: Sequence[Sampled] = ()
    indices: Sequence[Sensitivity] = ()  # of Saltelli's design
    rare: RareEstimate | None = None
    driven_s: float = 0.0  # of all judged cases, in virtual time
    results_hash: str = ""  # of the results of all cases, in whatever order they came
    impure: int = 0  # cases that a ROS node drove, in the time of the world
    machines: Sequence[str] = ()  # by which Python, processor, C library and NumPy


def analyse(plan: Plan, rows: Sequence[Row]) -> Analysis:
    """Judge the rows of a campaign by its plan."""
    by_cell: dict[str, list[Row]] = {}
    replicates = [row for row in rows if row["outcome"] == ESTIMATED]
    for row in (row for row in rows if row["outcome"] != ESTIMATED):
        by_cell.setdefault(_key(row["levels"]), []).append(row)
    cells = [_cell(cell, by_cell.get(_key(cell), []), plan.confidence) for cell in plan.cells()]
    judged = [row for row in rows if row["outcome"] in JUDGED]
    failed = [row for row in judged if row["outcome"] == "failed"]
    worst = sorted(failed, key=_badness)
    together, apart = compare(plan, judged)
    return Analysis(
        Counter(row["outcome"] for row in rows),
        plan.count() - len(rows),
        cells,
        together,
        apart,
        worst[:WORST],
        sum(row.get("ran", {}).get("cpu_s", 0.0) for row in rows),
        sum(bool(row.get("ran", {}).get("machine_code")) for row in rows),
        share(len(failed), len(judged), plan.confidence),
        [_sampled(key, judged) for key in plan.uncertain],
        sensitivity(tuple(plan.uncertain), judged, FIGURES, plan.confidence)
        if plan.design == SALTELLI
        else [],
        estimate(replicates, plan.confidence),
        sum(row["driven_s"] for row in judged),
        _hash_of_all(rows),
        sum(not row.get("is_pure", True) for row in rows),
        sorted({_machine(row["ran"]) for row in rows if "ran" in row}),
    )


def _hash_of_all(rows: Sequence[Row]) -> str:
    lines = sorted(f"{row.get('case_id')} {row.get('result_hash')}\n" for row in rows)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _machine(ran: Mapping[str, Any]) -> str:
    names = ("cpu", "machine", "libc", "numpy")
    return ", ".join([f"Python {ran['python']}", *(ran[it] for it in names if it in ran)])


def _badness(row: Row) -> tuple[float, float, float]:
    """Return the order of failures: the hardest hits, the longest ways to rest, the earliest."""
    return -(row["hit_mps"] or 0.0), -(row.get("claim_to_rest_m") or 0.0), row["driven_s"]


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
