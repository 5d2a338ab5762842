"""A failure of known probability: so many claims in a row are lost on a line that loses some."""

from __future__ import annotations

from collections.abc import Container
from random import Random

from host_bridge.drive.lockstep.campaign.rare.branches import Branch, Lineage, Place
from host_bridge.drive.lockstep.campaign.spec import LINEAGE


def probability(loss: float, run: int, claims: int) -> float:
    """Return the exact probability that ``run`` of so many ``claims`` in a row are lost."""
    lost_now = [1.0] + [0.0] * (run - 1)  # by how many of the last ones were lost
    found = 0.0
    for _ in range(claims):
        found += lost_now[-1] * loss
        lost_now = [sum(lost_now) * (1.0 - loss), *(it * loss for it in lost_now[:-1])]
    return found


def loss_for(wanted: float, run: int, claims: int) -> float:
    """Return the loss with which that probability is the wanted one, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):  # halvings: beyond a float's digits
        middle = (low + high) / 2.0
        low, high = (middle, high) if probability(middle, run, claims) < wanted else (low, middle)
    return low


class ChainBranches:
    """Branches of the bare chain, without a car; a moment is the number of claims before it."""

    def __init__(self, loss: float, run: int, claims: int, *, forgets: int = 0) -> None:
        """``forgets`` claims before the end of a run its level is as low as without one."""
        self._loss = loss
        self._run = run
        self._claims = claims
        self._forgets = forgets
        self.runs_again = 0

    def begin(self) -> int:
        """Return 0: it may drive at once."""
        return 0

    def run(self, lineage: Lineage) -> Branch:
        """Draw each claim by the seed that is due."""
        due = dict(lineage)
        chance, missed, highest = Random(), 0, -1
        crossings: list[tuple[float, int]] = []
        for at in range(self._claims + 1):
            level = min(missed, self._run - self._forgets)
            if level > highest:
                highest = level
                crossings.append((float(level), at))
            if missed >= self._run:
                break
            if at in due:
                chance.seed(due[at])
            missed = missed + 1 if chance.random() < self._loss else 0
        spec = {LINEAGE: [list(moment) for moment in lineage]}
        outcome = "failed" if missed >= self._run else "passed"
        return Branch(tuple(crossings), {"outcome": outcome, "why": "", "spec": spec}, at)

    def keep(self, wanted: Container[Place]) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
