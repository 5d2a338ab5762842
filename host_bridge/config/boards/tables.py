"""Reader of the tables of chip measurements, and the order of MicroPython releases."""

from __future__ import annotations

import csv
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "hardware" / "boards"


def rows_in(path: Path) -> list[dict[str, str]]:
    """Read a table's rows by its columns; an empty list if there is no such file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def numbers_of(micropython: str) -> tuple[int, ...]:
    """Return a release's numbers, by which releases compare; () for a text without any."""
    return tuple(map(int, re.findall(r"\d+", micropython)))


def minor_of(micropython: str) -> tuple[int, ...]:
    """Return a release's first two numbers, which decide where its interpreter lies in memory."""
    return numbers_of(micropython)[:2]
