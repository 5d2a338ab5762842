"""Changes of a text by place, as the syntax tree tells places: lines stay where they are."""

from __future__ import annotations

from collections.abc import Iterable

Edit = tuple[int, int, int, int, str]  # line and column, those of its end, what comes there


def edited(text: str, edits: Iterable[Edit]) -> str:
    """``text`` with each span of it replaced, and as many lines as before."""
    lines = text.encode().split(b"\n")  # columns are those of bytes
    for line, column, last, end, new in sorted(edits, reverse=True):
        before, behind = lines[line][:column], lines[last][end:]
        lines[line : last + 1] = [before + new.encode(), *([b""] * (last - line))]
        lines[last] += behind
    return b"\n".join(lines).decode()
