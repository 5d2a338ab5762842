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
    if board.chip.instruction_ns is None:
        return
    one, four = (_span_us(board, instructions) for instructions in (_ONE, _FOUR))
    yield BudgetRow(
        "us of a step",
        one[1],
        step_us,
        f"estimated at {board.clock_mhz} MHz: {one[0]} to {one[1]} with one source, "
        f"{four[0]} to {four[1]} with four",
    )


def _span_us(board: Board, instructions: int) -> tuple[int, int]:
    least_ns, most_ns = board.chip.instruction_ns or (0.0, 0.0)
    slower = board.chip.clock_mhz[0] / board.clock_mhz
    return round(instructions * least_ns * slower / 1e3), round(
        instructions * most_ns * slower / 1e3
    )
