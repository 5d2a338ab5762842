"""Nothing is shown by looking at nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

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


def holds_for(cases: Iterable[tuple[object, ...]], check: Callable[..., object]) -> bool:
    """Makes one test of a table of values: tries a check on every case.

    An AssertionError names each case that it failed for, and why; pytest would cut a long
    comparison short. One, too, if there is no case.
    """
    tried, wrong = some(cases), []
    for case in tried:
        try:
            check(*case)
        except (Exception, pytest.fail.Exception) as fault:  # noqa: BLE001
            name = ", ".join(getattr(value, "__name__", repr(value)) for value in case)
            why = str(fault).partition("\n")[0]
            wrong.append(f"{name}: {type(fault).__name__}: {why}")
    assert not wrong, "\n".join([f"{len(wrong)} of {len(tried)} cases:", *wrong])
    return True
