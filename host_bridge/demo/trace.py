"""The ground truth of a car: the trace that its plant writes, even while the host is dead."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

STANDSTILL_MPS = 0.02  # chosen: nobody sees a car that moves more slowly


@dataclass(frozen=True)
class TraceRow:
    """One line of the trace, 100 a second."""

    monotonic_s: float
    x_m: float
    y_m: float
    speed_mps: float
    channel_drive: float  # the board's output to the drive
    car_s: float  # the car's own clock, which stands still while its process gets no time


@dataclass(frozen=True)
class MeasuredStop:
    """A stop from a fault to standstill; ``speeds`` are (s since the fault, m/s).

    ``reaction_s`` lasts until the drive is no longer commanded forward, by the machine's clock.
    The rest is physics, timed by the clock of the car, which is that of its plant.
    """

    from_mps: float
    reaction_s: float
    seconds: float
    metres: float
    speeds: tuple[tuple[float, float], ...]
    was_driven: bool = True  # until the fault; else another stop came first, and this shows nothing


class TraceReader:
    """A trace that is read while it is written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: list[TraceRow] = []
        self._names: list[str] = []
        self._read_bytes = 0

    def rows(self) -> list[TraceRow]:
        """Return all whole lines so far; the last may be incomplete while the car is writing."""
        if not self.path.exists():
            return []
        with self.path.open("rb") as file:
            file.seek(self._read_bytes)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        for row in csv.reader(whole.decode().splitlines()):
            if self._names:
                self._rows.append(_trace_row(dict(zip(self._names, row, strict=True))))
            else:
                self._names = row
        return self._rows


def read_trace(path: Path) -> list[TraceRow]:
    """Return all whole lines of a trace."""
    return TraceReader(path).rows()


def _trace_row(row: dict[str, str]) -> TraceRow:
    names = ("monotonic_s", "x_m", "y_m", "speed_mps", "channel_drive", "time_s")
    return TraceRow(*(float(row[name]) for name in names))


def stop_after(rows: list[TraceRow], fault_s: float, drive_neutral: float) -> MeasuredStop | None:
    """Return the stop that follows the fault; None if the car did not come to rest in the trace.

    The speed at the fault is that of the last line before it, and the distance counts from there.
    ``drive_neutral`` is the drive channel at rest: braking and coasting are not above it.
    """
    before = [row for row in rows if row.monotonic_s <= fault_s]
    after = [row for row in rows if row.monotonic_s > fault_s]
    if not before:
        return None
    metres, last, speeds = 0.0, before[-1], []
    reacted: TraceRow | None = None
    for row in after:
        metres += ((row.x_m - last.x_m) ** 2 + (row.y_m - last.y_m) ** 2) ** 0.5
        last = row
        if reacted is None and row.channel_drive <= drive_neutral:
            reacted = row
        at = reacted or row
        since_s = at.monotonic_s - fault_s + row.car_s - at.car_s
        speeds.append((since_s, row.speed_mps))
        if reacted and row.speed_mps < STANDSTILL_MPS:
            reaction_s = reacted.monotonic_s - fault_s
            was_driven = before[-1].channel_drive > drive_neutral
            points = tuple(speeds)
            return MeasuredStop(
                before[-1].speed_mps, reaction_s, since_s, metres, points, was_driven
            )
    return None
