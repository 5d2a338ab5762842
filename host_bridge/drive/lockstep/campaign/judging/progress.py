"""Tells how far a campaign is: outcomes so far, cases a second, the time that is left."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from host_bridge.drive.lockstep.campaign.judging.intervals import share
from host_bridge.drive.lockstep.campaign.plan import Plan

Row = Mapping[str, Any]


class Progress:
    """The progress of a campaign: outcomes, rate and time left."""

    def __init__(self, plan: Plan, there: Mapping[str, Row]) -> None:
        self._plan = plan
        self._begun_s = time.monotonic()
        self._outcomes = Counter(row["outcome"] for row in there.values())
        self._new = 0
        self._virtual_s = 0.0

    def add(self, row: Row) -> None:
        """Count one more row."""
        self._new += 1
        self._outcomes[row["outcome"]] += 1
        self._virtual_s += row.get("driven_s", 0.0)

    def figures(self) -> dict[str, Any]:
        """Return the figures as a row for JSON."""
        passed_s = max(time.monotonic() - self._begun_s, 1e-9)  # no division by 0
        done, total = sum(self._outcomes.values()), self._plan.count()
        rate = self._new / passed_s
        return {
            "done": done,
            "total": total,
            "cases_per_s": round(rate, 2),
            "times_real_time": round(self._virtual_s / passed_s, 1),
            "left_s": round((total - done) / rate) if rate else None,
            "outcomes": dict(self._outcomes),
        }

    def line(self) -> str:
        """Return the figures as a line for people."""
        it = self.figures()
        left = (
            ""
            if it["left_s"] is None
            else f" · {it['left_s'] // 60} min {it['left_s'] % 60} s left"
        )
        failed = self._outcomes["failed"]
        judged = share(failed, failed + self._outcomes["passed"], self._plan.confidence)
        return (
            f"{it['done']} of {it['total']} · {it['cases_per_s']:g} cases/s · "
            f"{it['times_real_time']:g}x{left} · failed {failed} "
            f"({judged.low:.1%} to {judged.high:.1%}) · "
            f"not measured {self._outcomes['not_measured']}"
        )
