"""Branches of a case, computed by running it again from its beginning: the reference.

A branch is a spec with a lineage: at each of its moments all chance begins anew, from a seed of its
own. It is a case like any other, and ``tandem campaign show`` runs it again.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass

from host_bridge.drive.lockstep.campaign.case import CaseInHand, Row, run_case
from host_bridge.drive.lockstep.campaign.rare.levels import LEVELS
from host_bridge.drive.lockstep.campaign.spec import LINEAGE, SPLITTING, Spec
from host_bridge.drive.lockstep.car import VehicleFiles

Lineage = tuple[tuple[int, int], ...]
Place = tuple[Lineage, int]  # from which a branch goes on: a lineage, and a moment in us
Crossings = tuple[tuple[float, int], ...]  # each new highest level, and when it was reached in us


class NeverBeganError(Exception):
    """The case was refused, or ended before it might drive; ``row`` says why."""

    def __init__(self, row: Row) -> None:
        super().__init__(row["why"])
        self.row = row


@dataclass(frozen=True)
class Branch:
    """One branch that was driven to its end."""

    crossings: Crossings
    row: Row
    ends_us: int

    @property
    def lineage(self) -> Lineage:
        return tuple((at_us, seed) for at_us, seed in self.row["spec"][LINEAGE])

    @property
    def has_failed(self) -> bool:
        return bool(self.row["outcome"] == "failed")

    @property
    def highest(self) -> float:
        """The highest level that it reached; a failure is above all."""
        return float("inf") if self.has_failed else self.crossings[-1][0]

    def first_above(self, level: float) -> int | None:
        """Return when it was first above a level, in us; None if only its failure was."""
        return next((at_us for reached, at_us in self.crossings if reached > level), None)

    def until(self, at_us: int) -> Lineage:
        """Return the lineage that it had then."""
        return tuple(moment for moment in self.lineage if moment[0] < at_us)


class Climb:
    """Watches a case from when it may drive, and tells each rise to a new highest level."""

    def __init__(self, level: str, rises: Callable[[CaseInHand], None]) -> None:
        self._level = LEVELS[level]
        self._measure = self._level.make()
        self._rises = rises
        self.crossings: Crossings = ()
        self.ends_us = 0

    def __call__(self, case: CaseInHand) -> None:
        """Look at the level, before each tick; the first time that it may drive counts as one."""
        self.ends_us = case.now_us
        if case.drive.drive.begun_us is None:
            return
        reached = self._level.rounded(self._measure(case))
        if not self.crossings or reached > self.crossings[-1][0]:
            self.crossings += ((reached, case.now_us),)
            self._rises(case)


class BranchesByRunning:
    """Runs each branch as a case, from power-up."""

    def __init__(self, spec: Spec, files: VehicleFiles) -> None:
        self._level: str = spec[SPLITTING]["level"]
        self._spec = {key: value for key, value in spec.items() if key != SPLITTING}
        self._files = files
        self.runs_again = 0  # from power-up

    def begin(self) -> int:
        """Return when the case may drive, in us since power-up. Raises NeverBeganError."""
        try:
            row = run_case(self._spec, self._files, Climb(self._level, _end_there))
        except _BeginsError as begins:
            return begins.at_us
        raise NeverBeganError(row)

    def run(self, lineage: Lineage) -> Branch:
        """Return the branch of a lineage."""
        self.runs_again += 1
        climb = Climb(self._level, lambda _: None)
        spec = {**self._spec, LINEAGE: [list(moment) for moment in lineage]}
        row = run_case(spec, self._files, climb)
        return Branch(climb.crossings, row, climb.ends_us)

    def keep(self, wanted: Container[Place]) -> None:
        """Do nothing: nothing is kept between two runs."""

    def close(self) -> None:
        """Do nothing."""


class _BeginsError(Exception):
    def __init__(self, at_us: int) -> None:
        super().__init__()
        self.at_us = at_us


def _end_there(case: CaseInHand) -> None:
    raise _BeginsError(case.now_us)
