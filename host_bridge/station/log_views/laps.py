"""The laps of a log's car, by its odometry: over a line through the place where it first moved."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from math import hypot
from typing import NamedTuple

from host_bridge.core.laps import Laps

Pose = tuple[float, float, float]  # x in m, y in m, yaw in rad


class LapMoment(NamedTuple):
    """A moment of a lap: its number from 1, its s so far, and the last and the best whole lap.

    The last and the best are None in the first lap.
    """

    number: int
    time_s: float
    last_s: float | None
    best_s: float | None


def lap_begins(times_s: Sequence[float], poses: Sequence[Pose], from_s: float) -> tuple[float, ...]:
    """Return when each lap began, and when the last whole one ended; () without a whole lap.

    The line is crossed within one of the log's reports. A lap counts after the car was half as far
    away as it ever was: of a log it is not known how large the track is.
    """
    first = bisect_right(times_s, from_s) - 1
    if first < 0:
        return ()
    x_m, y_m, yaw_rad = poses[first]
    farthest_m = max(hypot(x - x_m, y - y_m) for x, y, _ in poses[first:])
    laps = Laps(x_m, y_m, yaw_rad, away_m=farthest_m / 2.0)
    begins = [from_s]
    for n in range(first, len(times_s)):
        laps.step(poses[n][0], poses[n][1], round(times_s[n] * 1e6))
        if laps.count == len(begins):
            begins.append(times_s[n])
    return tuple(begins) if len(begins) > 1 else ()


def lap_at(begins_s: Sequence[float], time_s: float) -> LapMoment | None:
    """Return the lap of a moment; None before the first, or without any."""
    number = bisect_right(begins_s, time_s)
    if not number:
        return None
    ended = [end - begin for begin, end in pairwise(begins_s[:number])]
    last_s, best_s = (ended[-1], min(ended)) if ended else (None, None)
    return LapMoment(number, time_s - begins_s[number - 1], last_s, best_s)
