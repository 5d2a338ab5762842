"""Tables of what was measured on chips: their rows as texts, and how releases of MicroPython are
compared."""

from __future__ import annotations

import csv
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "hardware" / "boards"


def rows_in(path: Path) -> list[dict[str, str]]:
    """Read a table's rows by its columns; none if there is no such file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def numbers_of(micropython: str) -> tuple[int, ...]:
    """Split a release into its numbers, by which it is older or newer; () of no release."""
    return tuple(map(int, re.findall(r"\d+", micropython)))


def minor_of(micropython: str) -> tuple[int, ...]:
    """Return the first two numbers of a release: they decide where its interpreter lies."""
    return numbers_of(micropython)[:2]
