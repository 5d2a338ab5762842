"""Whether a vehicle can be wired to a board, and what of the board it uses up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BudgetRow:
    """One thing that there is only so much of; ``detail`` says where it goes."""

    what: str
    used: int
    available: int
    detail: str = ""


@dataclass(frozen=True)
class WiringReport:
    """Of one board and one vehicle. ``is_wired``: the board's file has its pins; otherwise the
    budget is that of the wiring on the board ``wired_on``. ``refusals``: each with its remedy, none
    if its pin module can be made. ``lacks``: what this chip or its port cannot do."""

    board: str
    board_title: str
    vehicle: str
    is_wired: bool
    wired_on: str
    refusals: tuple[str, ...]
    budget: tuple[BudgetRow, ...]
    lacks: tuple[str, ...]

    @property
    def fits(self) -> bool:
        return not any(row.used > row.available for row in self.budget)
