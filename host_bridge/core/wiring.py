"""The report on whether a vehicle can be wired to a board, and what that uses of the board."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BudgetRow:
    """One limited resource of a board; ``detail`` says what uses it."""

    what: str
    used: int
    available: int
    detail: str = ""


@dataclass(frozen=True)
class WiringReport:
    """The result of wiring one vehicle to one board.

    ``is_wired``: the board's file has its pins; otherwise the budget is that of the wiring on the
    board ``wired_on``. ``refusals``: each with its remedy; empty if the pin module can be made.
    ``lacks``: what this chip or its port cannot do.
    """

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
