"""Says where a page lies that a text names: pages are installed beside the program."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_PAGE = re.compile(r"\b(?:\w+/)+\w+\.md\b")


def page_places(text: str) -> list[str]:
    """Return the whole path of each page that a text names, where it is not found from here."""
    names = dict.fromkeys(_PAGE.findall(text))
    places = {name: ROOT / name for name in names if not Path(name).is_file()}
    return [str(place) for place in places.values() if place.is_file()]


def with_pages(text: str) -> str:
    """Return the text, and below it a line with the path of each page that it names."""
    return "\n".join([text.rstrip("\n"), *(f"  page: {place}" for place in page_places(text))])
