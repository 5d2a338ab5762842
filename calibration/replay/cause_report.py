"""The cause of a divergence as lines for people and as a row of JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from calibration.replay.cause_fit import Finding, FittedCause

_HEAD, _NEXT = "cause    ", "         "
_WIDE = 100  # columns, as the longest lines of this report


@dataclass(frozen=True)
class CauseReport:
    """The finding of a drive; without a finding ``why_not`` says why nothing was looked for.

    ``premise`` is what the finding takes for true and the drive does not tell, as a sentence.
    """

    finding: Finding | None
    why_not: str = ""
    premise: str = ""

    def row(self) -> dict[str, Any]:
        """Return it as ``--json`` prints it."""
        found = self.finding
        if found is None:
            return {"looked_for": False, "why_not": self.why_not}
        return {
            "looked_for": True,
            "differs": found.differs,
            "told": _row(found.told) if found.told else None,
            "undecided": [_row(it) for it in found.undecided],
            "could_not_tell": [it.name for it in found.not_told],
            "misfit": found.misfit,
            "premise": self.premise,
        }

    def lines(self) -> Iterator[str]:
        """Yield it as lines for people."""
        found = self.finding
        if found is None:
            yield f"{_HEAD}not looked for: {self.why_not}"
            return
        yield from wrap(_verdict(found), _WIDE, initial_indent=_HEAD, subsequent_indent=_NEXT)
        if self.premise and found.differs:
            yield from wrap(self.premise, _WIDE, initial_indent=_NEXT, subsequent_indent=_NEXT)
        if found.not_told:
            words = "; ".join(f"{it.title} ({it.lacks})" for it in found.not_told)
            told = f"this drive could not tell: {words}"
            yield from wrap(told, _WIDE, initial_indent=_NEXT, subsequent_indent=_NEXT)


def _verdict(found: Finding) -> str:
    if found.told:
        share = 100.0 * min(found.told.share, 1.0)
        return f"{found.told.sentence()}; that explains {share:.0f} % of the misfit"
    if found.undecided:
        one, two = found.undecided
        return (
            "no single cause explains it clearly; undecided between "
            f"{one.sentence()} and {two.sentence()}"
        )
    if found.differs:
        return "car and twin differ, and no single cause that is known here explains it"
    return "none: car and twin differ no more than two runs of one car"


def _row(one: FittedCause) -> dict[str, Any]:
    low, high = one.interval()
    return {
        "cause": one.cause.name,
        "sentence": one.sentence(),
        "amount": one.amount,
        "low": low,
        "high": high,
        "share_of_misfit": one.share,
    }
