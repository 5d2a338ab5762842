"""The work of ``tandem why``: what stopped a log's car, and what each cause cost in metres."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from calibration.accidents.causes import Explanation, explain
from calibration.accidents.log_tail import LogTail, read_log_tail
from calibration.accidents.trigger import StopTrigger, find_trigger
from host_bridge.core import Vehicle
from host_bridge.core.errors import UsageFault
from host_bridge.core.texts.stops import why_nobody_drives, why_stopped
from sim_mock.runtime.compiled import ASKED, is_in_use

NAMES = {
    "release": "a late release",
    "grip": "too little grip",
    "cap": "a high cap",
    "delay": "delay of the line",
    "loss": "lost claims",
    "lease": "the lease",
}


@dataclass(frozen=True)
class WhyReport:
    """The explanation of one stop, as lines for people and as a row for programs."""

    tail: LogTail
    trigger: StopTrigger
    found: Explanation

    @property
    def stopped(self) -> str:
        """The sentence that says what stopped the car."""
        status = self.tail.status_at(self.tail.rested_us + 500_000)  # us: its last words are in it
        events = [it for _, it in self.tail.events]
        finding = why_stopped(status, events, self.tail.vehicle)
        if finding:
            return finding
        nobody = why_nobody_drives(events)
        return f"Nobody drove any more: {nobody}." if nobody else "Its driver asked it to stand."

    def row(self) -> dict[str, object]:
        """Return the report for a program."""
        found, blamed = self.found, self.found.blamed
        return {
            "car": self.tail.car,
            "vehicle": self.tail.vehicle.name,
            "stopped": self.stopped,
            "rest_s": self._log_s(self.tail.rested_us),
            "began_s": self._log_s(self.trigger.t_us),
            "answered": not found.reason,
            "reason": found.reason,
            "way_m": found.way_m,
            "miss_m": found.miss_m,
            "blamed": [it.cause for it in blamed],
            "causes": [
                {"cause": it.cause, "metres": it.metres, "told": it.finding} for it in found.costs
            ],
        }

    def lines(self) -> Iterator[str]:
        """Yield the report for people."""
        found = self.found
        rest_s, began_s = self._log_s(self.tail.rested_us), self._log_s(self.trigger.t_us)
        yield f"{self.tail.car} stood at {rest_s:.2f} s of the log. {self.stopped}"
        if found.reason:
            yield f"What it cost is not known: {found.reason}."
            return
        yield (
            f"From {began_s:.2f} s, when there was first a reason to stop, it went "
            f"{found.way_m:.2f} m; the twin's way is the log's within {found.miss_m * 100:.0f} cm."
        )
        for it in found.costs:
            metres = "   ?   " if it.metres is None else f"{it.metres:+5.2f} m"
            mark = "*" if it in found.blamed else " "
            yield f" {mark} {metres}  {NAMES[it.cause]}: {it.finding}"
        yield (
            f"Mainly {NAMES[found.blamed[0].cause]}."
            if found.blamed
            else "Nothing of this made its way longer than usual."
        )

    def _log_s(self, t_us: float) -> float:
        return (t_us - self.tail.began_us) * 1e-6


def explained(
    log: Path,
    car: str,
    load: Callable[[str], Vehicle],
    seen_s: float | None,
    at_s: float | None,
) -> WhyReport:
    """Explain the last stop of a log, or the first one that ends after ``at_s``.

    ``seen_s`` is when there was a reason to stop, in s of the log. Raises errors.DataFileFault,
    VehicleFileFault, NotHeldFault, and UsageFault in machine code.
    """
    if is_in_use():
        raise UsageFault(
            "tandem why goes on from the middle of a drive in several ways, and machine code of a "
            "virtual car cannot be copied there",
            got=f"{ASKED}=1",
            remedy=f"{ASKED}=0 tandem why {log}",
        )
    tail = read_log_tail(log, car, load, at_s)
    seen_us = None if seen_s is None else tail.began_us + round(seen_s * 1e6)
    trigger = find_trigger(tail, seen_us)
    return WhyReport(tail, trigger, explain(tail, trigger, seen_us))
