"""The pages of the safety case, and the tables of figures that stand on them."""

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
CASE, FIGURES = FOLDER / "HAZARDS.md", FOLDER / "FIGURES.md"


def block(name: str, text: str) -> re.Match[str]:
    """Find a table that a command writes. Raises ValueError if the page has no place for it."""
    found = re.search(rf"(?<=<!-- figures: {name} -->\n).*?(?=\n<!-- end -->)", text, re.DOTALL)
    if found is None:
        raise ValueError(f"{FIGURES.name} has no place for {name}")
    return found


def rows_of(name: str) -> list[tuple[str, ...]]:
    """Return the rows of such a table, without its head."""
    lines = block(name, FIGURES.read_text())[0].splitlines()[2:]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
