"""Formats rows of text as aligned columns."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return each row as a line, indented by two; the first row is usually the head."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return [f"  {line}".rstrip() for line in padded]
