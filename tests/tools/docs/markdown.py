"""Tables and headings of the pages that the site generates."""

import re

_SPECIAL = re.compile(r"([\\|*_<>\[\]`#])")


def plain(text: object) -> str:
    """Return a text as it is read, on one line, in a cell of a table."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def code(text: object) -> str:
    """Return a text as code in a cell; nothing stays nothing."""
    return f"`{str(text).replace('|', chr(92) + '|')}`" if str(text) else ""


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Return a table of cells that `plain` or `code` made."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def section(level: int, title: str, *parts: str) -> str:
    """Return a heading and what stands below it."""
    return "\n\n".join(["#" * level + " " + title, *(part for part in parts if part)]) + "\n"


def literal(text: str) -> str:
    """Return a text as it stands, in a block."""
    return f"```text\n{text.rstrip()}\n```"
