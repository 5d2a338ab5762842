"""``python -m tests.studies.chip_heap PORT``: the heap that a car needs on a chip, into the tables.

Of the board as it is flashed, with a runstop box's key if it has one (``tandem pair``): the least
heap in which the car starts, and in which hardware in the loop does. A block is taken first, of
what the last program left, and changed until it just starts (hil/on_board/heap.py). ``tandem
flash`` refuses by the two tables, hardware/boards/heap_needs.csv and runtime_heaps.csv; a row that
is measured anew takes the place of the old one. But a release keeps the smallest heap that was
seen of it: two builds of one release differ by kilobytes, and cars are to fit each.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from typing import Any

from host_bridge.config.boards import load_board
from host_bridge.config.boards.heap import (
    NEED_COLUMNS,
    NEEDS_TABLE,
    RUNTIME_COLUMNS,
    RUNTIMES_TABLE,
    HeapNeed,
    RuntimeHeap,
    heap_need,
    read_needs,
    read_runtimes,
)
from host_bridge.deploy.flash.board.pairing_key import has_key
from host_bridge.deploy.hil import on_chip
from host_bridge.deploy.hil.bench import HilBench
from host_bridge.deploy.hil.bench import facts as facts_of
from tests.studies import chip_tables

EPILOG = """examples:
  python -m tests.studies.chip_heap /dev/ttyACM0 --board pico --wiring f1tenth --how "a Pico"
  python -m tests.studies.chip_heap /dev/pts/3 --board pico --wiring autorally --patience 30 \\
    --how "emulated RP2040, MicroPython 1.29.0"

Nothing moves: the car is started and not driven. It takes five to ten starts, each a reset."""


class NoStart(RuntimeError):
    """The board's whole heap is too small."""


def rows_of(
    args: argparse.Namespace, facts: dict[str, Any], is_paired: bool, spares: Iterable[Any]
) -> tuple[list[HeapNeed], RuntimeHeap]:
    """The rows of a board whose ``spares`` were measured, each (what, detail of its row).

    Raises NoStart.
    """
    chip, date = load_board(args.board).chip.name, time.strftime("%Y-%m-%d", time.gmtime())
    needs, heap = [], 0
    for what, detail in spares:
        heap = detail["total"]
        if detail["need"] is None:
            raise NoStart(f"{what}: it does not start in {heap} B of heap: nothing is written")
        needs.append(
            HeapNeed(
                chip, args.wiring, is_paired, what, facts["micropython"], args.link,
                detail["need"], facts["program_hash"], date, args.how,
            )
        )  # fmt: skip
    return needs, RuntimeHeap(chip, facts["micropython"], heap, date, args.how)


def main() -> int:
    """Measure, show, write."""
    args = chip_tables.parser_of("chip_heap", __doc__, EPILOG).parse_args()
    try:
        keep(chip_tables.bench_of(args), args)
    except NoStart as error:
        chip_tables.say(str(error))
        return 1
    return 0


def keep(bench: HilBench, args: argparse.Namespace) -> None:
    """Measure the board at hand and put its rows into the tables. Raises NoStart."""
    facts = next(iter(facts_of(bench)))[0]
    with bench.board() as board:
        is_paired = has_key(board)
    chip = load_board(args.board).chip.name
    spares = []
    for what in on_chip.HEAP_KEYS:
        known = heap_need(chip, args.wiring, is_paired, what)
        spares.append((what, _measured(bench, what, known.needs if known else 0)))
    needs, runtime = rows_of(args, facts, is_paired, spares)
    rows = chip_tables.merge(read_needs(), needs, lambda row: row.key)
    chip_tables.write(NEEDS_TABLE, NEED_COLUMNS, rows)
    chip_tables.write(RUNTIMES_TABLE, RUNTIME_COLUMNS, least_heaps(read_runtimes(), runtime))
    chip_tables.say(f"{len(needs)} rows in {NEEDS_TABLE.name}, one in {RUNTIMES_TABLE.name}")


def least_heaps(known: Iterable[RuntimeHeap], runtime: RuntimeHeap) -> list[RuntimeHeap]:
    """Return the table with this row in it, unless its release was seen with less."""
    rows = list(known)
    is_less = any(row.key == runtime.key and row.heap < runtime.heap for row in rows)
    return chip_tables.merge(rows, [] if is_less else [runtime], lambda row: row.key)


def _measured(bench: HilBench, what: str, need: int) -> dict[str, Any]:
    row = on_chip.heap_spare(bench, what, need)
    chip_tables.say(f"{what}: {row.got} to spare; {row.how}")
    return row.detail


if __name__ == "__main__":
    sys.exit(main())
