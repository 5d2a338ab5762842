"""Levels of rare events: how near a drive has come to the failure, looked at before each tick.

A level need not be right, only helpful: the estimate is unbiased with any (``splitting.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor

from host_bridge.core import State
from host_bridge.drive.lockstep.campaign.case import CaseInHand
from host_bridge.drive.lockstep.campaign.detector import BrakeForObstacle
from sim_mock.faults.bounds.promises import accepted_of, state_of

_ARMED = (State.ACTIVE, State.HOLD)
Measure = Callable[[CaseInHand], float]


class _ClaimsMissed:
    def __init__(self) -> None:
        self._accepted: int | None = None
        self._missed = 0
        self._is_armed = False

    def __call__(self, case: CaseInHand) -> float:
        world = case.car.world
        before, self._accepted = self._accepted, accepted_of(world)
        was_armed, self._is_armed = self._is_armed, state_of(world) in _ARMED
        is_missed = was_armed and self._accepted == before
        self._missed = self._missed + 1 if is_missed else 0
        return float(self._missed)


def _path_error_m(case: CaseInHand) -> float:
    path = case.chosen.figures().get("path")
    return float(path["cross_track_worst_m"]) if isinstance(path, dict) else 0.0


def _looks_missed(case: CaseInHand) -> float:
    return float(case.chosen.missed) if isinstance(case.chosen, BrakeForObstacle) else 0.0


@dataclass(frozen=True)
class Level:
    """A kind of level: ``grid`` is how much higher a new one has to be to count."""

    meaning: str
    grid: float
    make: Callable[[], Measure]

    def rounded(self, value: float) -> float:
        """Return the value on the grid, below it."""
        return floor(value / self.grid) * self.grid


# Grids are chosen: some ten levels from an ordinary drive to one that fails
LEVELS = {
    "claims_missed": Level("ticks in a row without a claim accepted", 1.0, _ClaimsMissed),
    "path_error_m": Level(
        "the largest until now, of a `path:` controller", 0.02, lambda: _path_error_m
    ),
    "looks_missed": Level(
        "looks of a `brake:obstacle` that saw nothing of an obstacle within range",
        1.0,
        lambda: _looks_missed,
    ),
}
