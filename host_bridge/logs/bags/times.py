"""The order of a bag's messages: stamps that jump, stand or run back are named with their place.

The time of receipt stands in for such a stamp.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

_OTHER_CLOCK_S = 10.0  # a stamp farther from its receipt comes from another clock
_STEPPED_S = 0.5  # a stamp that is so far off the others' lag was set, or stood
_GAP_S, _GAP_PERIODS = 1.0, 10.0  # a longer pause of both is told


class Timed(NamedTuple):
    """A message's times in s since the bag's beginning, and its content; None: it has no stamp."""

    received_s: float
    stamp_s: float | None
    content: tuple[float, ...]


def in_time_order(
    topic: str, rows: Sequence[Timed]
) -> tuple[list[tuple[float, tuple[float, ...]]], list[str]]:
    """Return times and contents in rising order, and a sentence for each fault of the times.

    A stamp counts while it keeps the lag behind its receipt that the others have. One that was set,
    or stands, is replaced by the receipt less that lag. What is then no later than the row before
    it is left out. A long pause is told.
    """
    lags = [row.received_s - row.stamp_s for row in rows if row.stamp_s is not None]
    lag_s = median(lags) if lags else 0.0
    if abs(lag_s) > _OTHER_CLOCK_S:  # the whole topic is of another clock
        return _rising(topic, [(row.received_s, row.content) for row in rows], [])
    timed, wrong = [], []
    for row in rows:
        off_s = 0.0 if row.stamp_s is None else row.received_s - row.stamp_s - lag_s
        if row.stamp_s is None or abs(off_s) > _STEPPED_S:
            timed.append((row.received_s - lag_s, row.content))
            wrong += [(row.received_s, off_s)] if row.stamp_s is not None else []
        else:
            timed.append((row.stamp_s, row.content))
    notes = []
    if wrong:
        most_s = max(abs(off_s) for _, off_s in wrong)
        notes.append(
            f"{topic}: {len(wrong)} stamps jump or stand, by up to {most_s:.1f} s, the first at "
            f"{wrong[0][0]:.3f} s; the time of receipt stands in"
        )
    return _rising(topic, timed, notes)


def _rising(
    topic: str, timed: Sequence[tuple[float, tuple[float, ...]]], notes: list[str]
) -> tuple[list[tuple[float, tuple[float, ...]]], list[str]]:
    kept: list[tuple[float, tuple[float, ...]]] = []
    late: list[float] = []
    for time_s, content in timed:
        if kept and time_s <= kept[-1][0]:
            late.append(time_s)
        else:
            kept.append((time_s, content))
    if late:
        notes.append(
            f"{topic}: {len(late)} messages are no later than the one before them, the first at "
            f"{late[0]:.3f} s; they are left out"
        )
    return kept, [*notes, *gaps(topic, [time_s for time_s, _ in kept])]


def gaps(name: str, times_s: Sequence[float]) -> Iterator[str]:
    """Yield a sentence on the longest pause of a series, if it is long for it."""
    steps = [(b - a, a) for a, b in itertools.pairwise(times_s)]
    if not steps:
        return
    longest_s, at_s = max(steps)
    if longest_s > max(_GAP_S, _GAP_PERIODS * median(step for step, _ in steps)):
        yield f"{name}: nothing came for {longest_s:.1f} s from {at_s:.3f} s on"
