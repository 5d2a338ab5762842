"""How long a step of the car's program may take on a chip: estimated, no board was asked."""

from __future__ import annotations

from collections.abc import Iterator

from host_bridge.config.boards.facts import Board
from host_bridge.domain import BudgetRow

# Machine instructions of a step as flashed, driving, with one source and with four, all at 100 Hz:
# counted, firmware/README.md
_ONE, _FOUR = 572_000, 1_033_000


def step_time(board: Board, step_us: int) -> Iterator[BudgetRow]:
    """What one source takes at most of a step of ``step_us``; none for a chip of unknown speed."""
    span_ns = board.chip.instruction_ns
    if span_ns is None:
        return
    slower = board.chip.clock_mhz[0] / board.clock_mhz
    one, four = ([round(count * ns * slower / 1e3) for ns in span_ns] for count in (_ONE, _FOUR))
    yield BudgetRow(
        "us of a step",
        one[1],
        step_us,
        f"estimated at {board.clock_mhz} MHz: {one[0]} to {one[1]} with one source, "
        f"{four[0]} to {four[1]} with four",
    )
