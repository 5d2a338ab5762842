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


def every(values: Iterable[object]) -> bool:
    """``all``, which is not true of nothing; an AssertionError if there is nothing to look at.

    Where nothing is good evidence too, a test says ``not any``.
    """
    is_empty = True
    for value in values:
        if not value:
            return False
        is_empty = False
    assert not is_empty, "there was nothing to look at"
    return True
