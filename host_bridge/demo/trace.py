"""The truth about a car, as its plant wrote it down while the host may have been dead."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

STANDSTILL_MPS = 0.02


@dataclass(frozen=True)
class Moment:
    """One line of the trace, 100 a second."""

    monotonic_s: float
    x_m: float
    y_m: float
    speed_mps: float


@dataclass(frozen=True)
class Stop:
    """From a fault to standstill; ``speeds`` are (s since the fault, m/s)."""

    from_mps: float
    seconds: float
    metres: float
    speeds: tuple[tuple[float, float], ...]


def read_trace(path: Path) -> list[Moment]:
    """All whole lines; the last may be cut where the car is still writing."""
    with path.open(newline="") as file:
        return [_moment(row) for row in csv.DictReader(file) if row.get("channel_drive")]


def _moment(row: dict[str, str]) -> Moment:
    names = ("monotonic_s", "x_m", "y_m", "speed_mps")
    return Moment(*(float(row[name]) for name in names))


def stop_after(moments: list[Moment], fault_s: float) -> Stop | None:
    """The stop that follows the fault, or None if the car did not come to rest in the trace.

    The speed at the fault is that of the last line before it, and the way counts from there.
    """
    before = [moment for moment in moments if moment.monotonic_s <= fault_s]
    after = [moment for moment in moments if moment.monotonic_s > fault_s]
    if not before:
        return None
    metres, last, speeds = 0.0, before[-1], []
    for moment in after:
        metres += ((moment.x_m - last.x_m) ** 2 + (moment.y_m - last.y_m) ** 2) ** 0.5
        last = moment
        since_s = moment.monotonic_s - fault_s
        speeds.append((since_s, moment.speed_mps))
        if moment.speed_mps < STANDSTILL_MPS:
            return Stop(before[-1].speed_mps, since_s, metres, tuple(speeds))
    return None
