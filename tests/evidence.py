"""Nothing is shown by looking at nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item")


def some(items: Iterable[Item]) -> list[Item]:
    """What a test looks at one by one; an AssertionError if there is nothing to look at."""
    found = list(items)
    assert found, "there was nothing to look at"
    return found
