"""The table that ``chip.py`` prints: what the measured tables say of each car on a chip.

A row is a car, its key, a release of MicroPython, a link, a control period and a model of an
emulated chip's flash cache, driving with one source at 100 Hz. A car over a UART is wired by
another board file, and so has another program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from host_bridge.config.boards.heap import HeapNeed, read_needs, runtime_heaps
from host_bridge.config.boards.measured import MeasuredSteps, read_measured

HEADS = (
    "car", "key", "MicroPython", "link", "heap to spare, kB: car", "in the loop", "period, ms",
    "cache", "median, ms", "p99", "longest", "missed", "program",
)  # fmt: skip
NONE = "-"
Case = tuple[str, bool, str, str]  # wiring, is_paired, MicroPython, link


def table(chip: str, programs: Mapping[str, str]) -> list[str]:
    """Return the lines of the table; ``programs`` has the present program's hash of each car."""
    needs = [row for row in read_needs() if row.chip == chip and row.wiring in programs]
    steps = [row for row in read_measured() if row.chip == chip and row.wiring in programs]
    return aligned([HEADS, *rows_of(needs, runtime_heaps(chip), steps, programs)])


def rows_of(
    needs: Sequence[HeapNeed],
    heaps: Mapping[str, int],
    steps: Sequence[MeasuredSteps],
    programs: Mapping[str, str],
) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each row. A figure of another program than the present is in brackets."""
    driven = [row for row in steps if _is_driven_by_one(row, steps)]
    cases = {*map(_case_of, driven), *map(_case_of, needs)}
    for case in sorted(cases):
        wiring, is_paired, release, link = case
        heads = (wiring, "key" if is_paired else "", release, link)
        spare = [_spare(needs, case, what, heaps, programs) for what in ("car", "hitl")]
        own = [row for row in driven if _case_of(row) == case]
        for row in sorted(own, key=lambda row: (row.beat_us, row.model)):
            yield (*heads, *spare, *_timed(row, programs))
        if not own:
            yield (*heads, *spare, *[NONE] * (len(HEADS) - 6))


def _case_of(row: MeasuredSteps | HeapNeed) -> Case:
    return row.wiring, row.is_paired, row.micropython, row.link


def _is_driven_by_one(row: MeasuredSteps, steps: Iterable[MeasuredSteps]) -> bool:
    """Return whether it is the drive with the fewest sources of its kind that was timed."""
    if row.state != "driving" or not row.is_configured:
        return False
    kin = (other for other in steps if other.state == "driving" and _drive(other) == _drive(row))
    return row.heard == min(other.heard for other in kin)


def _drive(row: MeasuredSteps) -> tuple[object, ...]:
    return *_case_of(row), row.mhz, row.beat_us, row.model


def _spare(
    needs: Iterable[HeapNeed],
    case: Case,
    what: str,
    heaps: Mapping[str, int],
    programs: Mapping[str, str],
) -> str:
    wiring, _, release, _ = case
    for row in needs:
        if (row.wiring, row.is_paired, row.micropython, row.link) == case and row.what == what:
            text = f"{(heaps[release] - row.needs) / 1000:.1f}" if release in heaps else NONE
            return text if row.program == programs[wiring] else f"({text})"
    return NONE


def _timed(row: MeasuredSteps, programs: Mapping[str, str]) -> tuple[str, ...]:
    figures = [
        NONE if us is None else f"{us / 1000:.2f}"
        for us in (row.median_us, row.p99_us, row.longest_us)
    ]
    missed = NONE if row.missed is None else f"{row.missed} of {row.steps}"
    told = [*figures, missed]
    if row.program != programs[row.wiring]:
        told = [f"({text})" for text in told]
    return f"{row.beat_us / 1000:g}", row.model, *told, row.program


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines whose columns are under each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
