"""The refusal of a program that does not fit a board's heap, before anything is erased."""

from __future__ import annotations

from host_bridge.config.boards import BoardType
from host_bridge.config.boards.heap import SPARE, HeapNeed, heap_need, runtime_heaps
from host_bridge.core.errors import RefusedFault
from host_bridge.deploy.flash.board.board import BoardFacts

ROOMIER = "take a board with more memory: a Pico 2 has twice as much"


def refuse_small_heap(
    board: BoardType, wiring: str, facts: BoardFacts, is_paired: bool, where: str
) -> dict[str, object]:
    """Return the rows about the heap, for people and programs.

    What a boot.py holds is not the car's. Raises errors.RefusedFault if what the board's heap has
    beside it is less than the car needs and ``SPARE``; a car that was never measured is not
    refused.
    """
    need = heap_need(board.chip.name, wiring, is_paired)
    row: dict[str, object] = {"heap_bytes": facts.left}
    if need is None:
        return row
    if facts.left < need.needs + SPARE:
        raise RefusedFault(
            "this board's MicroPython leaves the program too little heap",
            where=where,
            expected=f"{_kb(need.needs + SPARE)}: {_text(need, wiring)}, and {_kb(SPARE)} to spare",
            got=_got(facts),
            remedy=_remedy(board, need, wiring, facts),
        )
    return {**row, "heap_needed_bytes": need.needs}


def fitting_releases(board: BoardType, wiring: str, is_paired: bool = False) -> str:
    """Return a text on which of the measured releases has room for the car, for a dry run."""
    need = heap_need(board.chip.name, wiring, is_paired)
    heaps = runtime_heaps(board.chip.name)
    if need is None or not heaps:
        return "its heap was not measured on this chip"
    fits = [release for release, heap in heaps.items() if heap >= need.needs + SPARE]
    available = ", ".join(f"{release} has {_kb(heap)}" for release, heap in heaps.items())
    take = f"take {fits[-1]}" if fits else f"none has room: {ROOMIER}"
    return f"{take}; {_text(need, wiring)}; MicroPython {available}"


def _text(need: HeapNeed, wiring: str) -> str:
    wiring_name = (
        need.wiring if need.wiring == wiring else f"{need.wiring}, which is the largest known,"
    )
    key = " with a runstop box's key" if need.is_paired else ""
    return f"{wiring_name}{key} takes {_kb(need.needs)}"


def _got(facts: BoardFacts) -> str:
    release = f"MicroPython {'.'.join(map(str, facts.version))}"
    taken = f": its boot.py holds {_kb(facts.taken)}" if facts.taken else ""
    return f"{_kb(facts.left)}, of {release}{taken}"


def _remedy(board: BoardType, need: HeapNeed, wiring: str, facts: BoardFacts) -> str:
    """Return what would make room: no boot.py, another release, no key, another board."""
    least = need.needs + SPARE
    if facts.heap >= least:
        ways = ["remove its boot.py (mpremote rm :boot.py): this MicroPython has room without it"]
    else:
        ways = [
            f"put MicroPython {release} on it (tandem flash ... --runtime FILE): it has {_kb(has)}"
            for release, has in runtime_heaps(board.chip.name).items()
            if has - facts.taken >= least
        ][-1:]
    unpaired = heap_need(board.chip.name, wiring, False)
    if need.is_paired and unpaired and facts.left >= unpaired.needs + SPARE:
        ways.append("leave out the box's key: tandem pair --car PORT --forget")
    return "; or ".join([*ways, ROOMIER])


def _kb(size: int) -> str:
    return f"{size / 1000:.1f} kB"
