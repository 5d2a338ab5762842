"""Reader of the tables of chip measurements, and the order of MicroPython releases."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from host_bridge.core.files import TableSchema, read_table

FOLDER = Path(__file__).resolve().parents[3] / "hardware" / "boards"


def rows_in(path: Path, schema: TableSchema) -> list[dict[str, Any]]:
    """Read a table's rows by its columns; an empty list if there is no such file.

    Raises errors.DataFileFault.
    """
    return [row.values for row in read_table(path, schema).rows] if path.exists() else []


def numbers_of(micropython: str) -> tuple[int, ...]:
    """Return a release's numbers, by which releases compare; () for a text without any."""
    return tuple(map(int, re.findall(r"\d+", micropython)))


def minor_of(micropython: str) -> tuple[int, ...]:
    """Return a release's first two numbers, which decide where its interpreter lies in memory."""
    return numbers_of(micropython)[:2]
