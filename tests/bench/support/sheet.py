"""How every bench shows its numbers: tables for people, or ``--json`` for programs."""

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

Cell = str | int | float | None


@dataclass(frozen=True)
class Sheet:
    """One table. ``title`` ends with the unit where all columns share it; None is an empty cell."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()


def publish(bench: str, measure: Callable[[], Iterable[Sheet]]) -> None:
    """Measure, and print what was found on standard output."""
    parser = argparse.ArgumentParser(description=f"The bench {bench!r}.")
    parser.add_argument("--json", action="store_true", help="one JSON object, for programs")
    as_json = parser.parse_args().json
    load = os.getloadavg()[0]
    sheets = list(measure())
    if not any(sheet.rows for sheet in sheets):
        raise SystemExit(f"the bench {bench!r} measured nothing")
    if as_json:
        print(json.dumps({"bench": bench, **machine(load), "sheets": list(map(plain, sheets))}))
        return
    console = Console(width=None if Console().is_terminal else 110)
    for sheet in sheets:
        show(sheet, console)
    console.print(f"load of the machine when this began: {load:.1f} on {os.cpu_count()} cores\n")


def machine(load: float) -> dict[str, Cell]:
    return {"cores": os.cpu_count(), "load": load, "python": platform.python_version()}


def plain(sheet: Sheet) -> dict[str, object]:
    rows = [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows]
    return {"title": sheet.title, "rows": rows, "notes": list(sheet.notes)}


def show(sheet: Sheet, console: Console) -> None:
    table = Table(title=sheet.title, title_justify="left", title_style="bold")
    for place, column in enumerate(sheet.columns):
        is_number = any(isinstance(row[place], int | float) for row in sheet.rows)
        table.add_column(column, justify="right" if is_number else "left")
    for row in sheet.rows:
        table.add_row(*map(text, row))
    console.print(table)
    for note in sheet.notes:
        console.print(f"  {note}", highlight=False)


def text(cell: Cell) -> str:
    """Three digits are all that a measurement of time is good for."""
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.0f}" if abs(cell) >= 100 else f"{cell:.3g}"
    return str(cell)


def verdict(holds: bool) -> str:
    return "pass" if holds else "FAIL"
