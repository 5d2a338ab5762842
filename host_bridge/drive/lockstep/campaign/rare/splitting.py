"""Adaptive multilevel splitting of one case: how often does it fail, when it hardly ever does?

So many branches of the case are driven. Those that came least near to the failure are killed, and
replaced by new branches of ones that came nearer, from the moment when these first did; then again,
until all that came nearer have failed. Each time the share that survives is a factor of the
estimate, and the last one is the share that has failed. Unbiased for every level and number:
C.-E. Brehier, M. Gazeau, L. Goudenege, T. Lelievre, M. Rousset, Unbiasedness of some generalized
adaptive multilevel splitting algorithms, Ann. Appl. Probab. 26, 2016.
"""

from __future__ import annotations

import os
import time
from collections.abc import Container
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from host_bridge.drive.lockstep.campaign.case import Row, result_hash, run_case
from host_bridge.drive.lockstep.campaign.provenance import ran
from host_bridge.drive.lockstep.campaign.rare.branches import (
    Branch,
    BranchesByRunning,
    Lineage,
    NeverBeganError,
    Place,
)
from host_bridge.drive.lockstep.campaign.rare.forks import BranchesByFork, BranchLostError
from host_bridge.drive.lockstep.campaign.spec import SPLITTING, Spec, case_id, refuse_changed
from host_bridge.drive.lockstep.car import VehicleFiles

ESTIMATED = "estimated"  # the outcome of a replicate: it is no case, and in no denominator


class Branches(Protocol):
    """A way to compute branches: ``BranchesByRunning`` or ``BranchesByFork``."""

    def begin(self) -> int: ...

    def run(self, lineage: Lineage) -> Branch: ...

    def keep(self, wanted: Container[Place]) -> None: ...

    def close(self) -> None: ...


@dataclass
class Replicate:
    """One independent estimate: ``steps`` has each level with the number that was killed at it."""

    particles: list[Branch]
    steps: list[tuple[float, int]] = field(default_factory=list)
    runs: int = 0
    virtual_us: int = 0  # driven anew
    is_cut: bool = False  # it would have taken more runs than it may: unbiased, but less exact

    @property
    def failed(self) -> list[Branch]:
        return [it for it in self.particles if it.has_failed]

    @property
    def share(self) -> float:
        """The estimate of the probability that the case fails."""
        found = len(self.failed) / len(self.particles)
        for _, killed in self.steps:
            found *= 1.0 - killed / len(self.particles)
        return found

    @property
    def relative_variance(self) -> float | None:
        """The estimate's variance over its square, as if all branches were independent."""
        total = len(self.particles)
        killed = [*(it for _, it in self.steps), total - len(self.failed)]
        if killed[-1] == total:
            return None  # none has failed
        return sum(it / (total * (total - it)) for it in killed)


def split(branches: Branches, particles: int, most_runs: int, seed: int) -> Replicate:
    """Return one estimate; equal seeds draw the same. Raises NeverBeganError, BranchLostError."""
    chance = Random(f"splitting {seed}")
    begins_us = branches.begin()
    found = Replicate([])
    for _ in range(particles):
        found.particles.append(_run(found, branches, ((begins_us, _drawn(chance)),)))
    while True:
        least = min((it.highest for it in found.particles), default=0.0)
        survivors = [it for it in found.particles if it.highest > least]
        killed = particles - len(survivors)
        if all(it.has_failed for it in survivors):
            return found
        if found.runs + killed > most_runs:
            found.is_cut = True
            return found
        found.steps.append((least, killed))
        branches.keep(_wanted(survivors, least))
        grown = list(survivors)
        for _ in range(killed):
            parent = survivors[int(chance.random() * len(survivors))]
            grown.append(_branch_of(found, branches, parent, least, chance))
        found.particles = grown


def _branch_of(
    found: Replicate, branches: Branches, parent: Branch, least: float, chance: Random
) -> Branch:
    at_us, seed = parent.first_above(least), _drawn(chance)
    if at_us is None:  # it has failed from below, after which nothing is left to chance
        return parent
    return _run(found, branches, (*parent.until(at_us), (at_us, seed)))


def _run(found: Replicate, branches: Branches, lineage: Lineage) -> Branch:
    branch = branches.run(lineage)
    if branch.row["outcome"] not in ("passed", "failed"):
        raise BranchLostError(branch.row["why"])
    found.runs += 1
    found.virtual_us += branch.ends_us - lineage[-1][0]
    return branch


def _drawn(chance: Random) -> int:
    return int(chance.random() * 2**32)  # as all seeds of cases


def _wanted(survivors: list[Branch], least: float) -> set[Place]:
    """Return the places from which branches may go on yet."""
    return {
        (it.until(at_us), at_us)
        for it in survivors
        for level, at_us in it.crossings
        if level > least
    }


def run_spec(spec: Spec, files: VehicleFiles) -> Row:
    """Return the row of a case, or of a replicate. Raises errors.DataFileFault as both."""
    return run_replicate(spec, files) if SPLITTING in spec else run_case(spec, files)


def run_replicate(spec: Spec, files: VehicleFiles, *, may_fork: bool = True) -> Row:
    """Return the row of a replicate. Where there is a ``fork``, branches are computed by it.

    Raises errors.DataFileFault if a file of the case has changed.
    """
    refuse_changed(spec)
    settings: dict[str, Any] = spec[SPLITTING]
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    row: Row = {"case_id": case_id(spec), "spec": spec}
    forked = (
        BranchesByFork(spec, files, settings["wall_s"])
        if may_fork and hasattr(os, "fork")
        else None
    )
    branches = forked or BranchesByRunning(spec, files)
    try:
        found = split(branches, settings["particles"], settings["most_runs"], spec["seed"])
        row.update(_figures(found))
    except NeverBeganError as error:
        row.update(outcome=error.row["outcome"], why=error.row["why"])
    except BranchLostError as error:
        row.update(outcome="not_measured", why=str(error))
    finally:
        branches.close()
    row["result_hash"] = result_hash(row)
    spent_s = time.process_time() - cpu_s + (forked.cpu_s if forked else 0.0)
    row["ran"] = ran(time.perf_counter() - wall_s, spent_s)
    row["ran"]["runs_again"] = branches.runs_again
    return row


def _figures(found: Replicate) -> Row:
    failed = {it.row["case_id"]: it.row for it in found.failed}
    return {
        "outcome": ESTIMATED,
        "why": "",
        "share": found.share,
        "relative_variance": found.relative_variance,
        "steps": [list(step) for step in found.steps],
        "runs": found.runs,
        "virtual_s": round(found.virtual_us * 1e-6, 6),
        "is_cut": found.is_cut,
        "branches": [
            {key: row[key] for key in ("case_id", "why", "result_hash", "spec")}
            for row in failed.values()
        ],
    }
