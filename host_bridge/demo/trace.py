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
    channel_drive: float  # what the drive is told, as its board puts it out


@dataclass(frozen=True)
class Stop:
    """From a fault to standstill; ``speeds`` are (s since the fault, m/s).

    ``reaction_s`` is until the drive is no longer told to go forward.
    """

    from_mps: float
    reaction_s: float
    seconds: float
    metres: float
    speeds: tuple[tuple[float, float], ...]


def read_trace(path: Path) -> list[Moment]:
    """All whole lines; the last may be cut where the car is still writing."""
    with path.open(newline="") as file:
        return [_moment(row) for row in csv.DictReader(file) if row.get("channel_drive")]


def _moment(row: dict[str, str]) -> Moment:
    names = ("monotonic_s", "x_m", "y_m", "speed_mps", "channel_drive")
    return Moment(*(float(row[name]) for name in names))


def stop_after(moments: list[Moment], fault_s: float, drive_neutral: float) -> Stop | None:
    """The stop that follows the fault, or None if the car did not come to rest in the trace.

    The speed at the fault is that of the last line before it, and the way counts from there.
    ``drive_neutral`` is the drive channel at rest: braking and coasting are not above it.
    """
    before = [moment for moment in moments if moment.monotonic_s <= fault_s]
    after = [moment for moment in moments if moment.monotonic_s > fault_s]
    if not before:
        return None
    metres, last, speeds, reaction_s = 0.0, before[-1], [], None
    for moment in after:
        metres += ((moment.x_m - last.x_m) ** 2 + (moment.y_m - last.y_m) ** 2) ** 0.5
        last = moment
        since_s = moment.monotonic_s - fault_s
        speeds.append((since_s, moment.speed_mps))
        if reaction_s is None and moment.channel_drive <= drive_neutral:
            reaction_s = since_s
        if moment.speed_mps < STANDSTILL_MPS and reaction_s is not None:
            return Stop(before[-1].speed_mps, reaction_s, since_s, metres, tuple(speeds))
    return None
