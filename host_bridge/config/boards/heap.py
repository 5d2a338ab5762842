"""Measured heap: what a car's program needs on a chip, and what MicroPython's releases have there.

``tests/studies/chip_heap.py`` writes both tables. What is in neither was not measured.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from host_bridge.config.boards.tables import FOLDER, numbers_of, rows_in
from host_bridge.core.files import TableSchema, choice, flag, integer, text

NEEDS_TABLE = FOLDER / "heap_needs.csv"
RUNTIMES_TABLE = FOLDER / "runtime_heaps.csv"
SPARE = 4096  # bytes to stay free beside the program, for its next change


@dataclass(frozen=True)
class HeapNeed:
    """The smallest heap in which a program starts, in bytes, with its temporary needs included.

    ``what`` is ``car``, or ``hitl`` for hardware in the loop on the same board; ``link`` is
    ``usb`` or ``uart``.
    """

    chip: str
    wiring: str
    is_paired: bool
    what: str
    micropython: str
    link: str
    needs: int
    program: str
    date: str
    how: str

    @property
    def key(self) -> tuple[str, str, bool, str, str, str]:
        return self.chip, self.wiring, self.is_paired, self.what, self.micropython, self.link


@dataclass(frozen=True)
class RuntimeHeap:
    """The whole heap of a MicroPython release on a chip, in bytes."""

    chip: str
    micropython: str
    heap: int
    date: str
    how: str

    @property
    def key(self) -> tuple[str, str]:
        return self.chip, self.micropython


NEED_COLUMNS = tuple(field.name for field in fields(HeapNeed))
RUNTIME_COLUMNS = tuple(field.name for field in fields(RuntimeHeap))
_MOST = 1 << 30  # bytes: more than any board's memory
_OTHERS = {
    "is_paired": flag("is_paired"),
    "what": choice("what", ("car", "hitl")),
    "link": choice("link", ("usb", "uart")),
    "needs": integer("needs", 1, _MOST),
    "heap": integer("heap", 1, _MOST),
}
NEEDS = TableSchema(
    "table of heap needs", tuple(_OTHERS.get(name) or text(name) for name in NEED_COLUMNS)
)
RUNTIMES = TableSchema(
    "table of heaps", tuple(_OTHERS.get(name) or text(name) for name in RUNTIME_COLUMNS)
)


def heap_need(chip: str, wiring: str, is_paired: bool, what: str = "car") -> HeapNeed | None:
    """Return the largest need of this wiring, or else the largest one on the chip, if any.

    Under each release and over each link a car needs much the same: the largest of them counts.
    """
    asked = (chip, is_paired, what)
    rows = [row for row in read_needs() if (row.chip, row.is_paired, row.what) == asked]
    own = [row for row in rows if row.wiring == wiring]
    return max(own or rows, key=lambda row: row.needs, default=None)


def runtime_heaps(chip: str) -> dict[str, int]:
    """Return the heap of each release that was measured on the chip, the oldest release first."""
    heaps = {row.micropython: row.heap for row in read_runtimes() if row.chip == chip}
    return {release: heaps[release] for release in sorted(heaps, key=numbers_of)}


def read_needs(path: Path = NEEDS_TABLE) -> list[HeapNeed]:
    """Read the table of needs; an empty list if there is no such file.

    Raises errors.DataFileFault.
    """
    return [HeapNeed(**row) for row in rows_in(path, NEEDS)]


def read_runtimes(path: Path = RUNTIMES_TABLE) -> list[RuntimeHeap]:
    """Read the table of releases; an empty list if there is no such file.

    Raises errors.DataFileFault.
    """
    return [RuntimeHeap(**row) for row in rows_in(path, RUNTIMES)]
