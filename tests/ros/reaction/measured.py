"""Reaction of a moving car: when its speed begins to fall, when it stands, and how far that was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tests.ros.reaction.f1tenth_rules import Moment
from tests.ros.reaction.impairment import Counts
from tests.ros.reaction.scenarios import Scenario

FALLS = 0.9  # of the speed that it was told
STANDS_MPS = 0.05
STAYS_S = 0.3  # so long it has to stand


@dataclass(frozen=True)
class Reaction:
    """From an event on; None where it did not come to that. ``fastest_mps`` since the event."""

    begins_ms: float | None
    stands_ms: float | None
    way_m: float | None
    fastest_mps: float
    last_mps: float


@dataclass(frozen=True)
class Result:
    """What one scenario came to. ``line`` and the numbers of commands are those of the impaired
    time, before the event."""

    scenario: Scenario
    line: Counts
    sent: int
    arrived: int
    numbers_in_order: bool
    stops_before: int  # of the car, while the line was bad and before the event
    why: str
    tandem: Reaction
    theirs: Reaction

    def plain(self) -> dict[str, Any]:
        row = asdict(self)
        row["scenario"] = self.scenario.name
        return row


def reaction(moments: Sequence[Moment], event_s: float, told_mps: float) -> Reaction:
    """``moments`` are in the order of time and go beyond the event. Raises ValueError."""
    before = [it for it in moments if it.at_s <= event_s]
    after = [it for it in moments if it.at_s > event_s]
    if not before or not after:
        raise ValueError("nothing was seen of the car before or after the event")
    way_m = _way_at(before[-1], after[0], event_s)
    begins = next((it for it in after if it.speed_mps < FALLS * told_mps), None)
    stands = _stands(after)
    return Reaction(
        None if begins is None else 1e3 * (begins.at_s - event_s),
        None if stands is None else 1e3 * (stands.at_s - event_s),
        None if stands is None else stands.way_m - way_m,
        max(it.speed_mps for it in after),
        after[-1].speed_mps,
    )


def _way_at(before: Moment, after: Moment, at_s: float) -> float:
    share = (at_s - before.at_s) / (after.at_s - before.at_s)
    return before.way_m + share * (after.way_m - before.way_m)


def _stands(moments: Sequence[Moment]) -> Moment | None:
    """When it began to stand, if it then stayed."""
    began: Moment | None = None
    for it in moments:
        if abs(it.speed_mps) >= STANDS_MPS:
            if began is not None and it.at_s - began.at_s >= STAYS_S:
                return began
            began = None
        elif began is None:
            began = it
    return began if began is not None and moments[-1].at_s - began.at_s >= STAYS_S else None
