"""Edits of a text by position in the syntax tree; every line keeps its number."""

from __future__ import annotations

from collections.abc import Iterable

Edit = tuple[int, int, int, int, str]  # line, column, end line, end column, new text


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return ``text`` with each span replaced, and with as many lines as before."""
    lines = text.encode().split(b"\n")  # columns are those of bytes
    for line, column, last, end, new in sorted(edits, reverse=True):
        before, behind = lines[line][:column], lines[last][end:]
        lines[line : last + 1] = [before + new.encode(), *([b""] * (last - line))]
        lines[last] += behind
    return b"\n".join(lines).decode()
