"""One drive as a log has it, whatever wrote the log: series of numbers on one clock.

A series that the log lacks is empty, and what depends on it is reported as not determined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibration.arrays import Floats
from host_bridge.core.errors import UsageFault

NOTHING: Floats = np.zeros(0)
_SPEED_S = 0.1  # the time over which speed is differenced, as whole counts are coarse


class Series(NamedTuple):
    """Values by rising times: ``t_s`` (n,) in s, ``values`` (columns, n) in their owner's units."""

    t_s: Floats = NOTHING
    values: npt.NDArray[np.float64] = np.zeros((0, 0))

    @property
    def is_present(self) -> bool:
        return len(self.t_s) > 1

    @property
    def span_s(self) -> float:
        return float(self.t_s[-1] - self.t_s[0]) if self.is_present else 0.0


def series(rows: Sequence[Sequence[float]]) -> Series:
    """Return rows (time, value, ...) as a series in order of time; duplicate times are dropped."""
    if not rows:
        return Series()
    table = np.array(rows, float)
    _, first = np.unique(table[:, 0], return_index=True)
    return Series(table[first, 0], table[first, 1:].T)


class Turning(NamedTuple):
    """The yaw rate that came of tracked poses: the widths in s of the averages in it.

    Without ``has_heading`` it is that of the course of a point of the car, nobody knows which.
    """

    blurs_s: tuple[float, ...]
    has_heading: bool


@dataclass(frozen=True)
class DriveTrace:
    """One drive's series; lengths in m, angles in rad, times in s, left and forward positive.

    ``steering``: the angle that the car's program commands, by the map that it holds.
    ``target``: the commanded speed; nan where nobody drives it.
    ``program``: the target speed that its program follows, brakes of its own or not, and 1 where
    it brakes to a stop instead, else 0.
    ``effort``: the drive's output as a share of its maximum; nan where the car is not driven.
    ``travel``: the distance its wheels rolled, by ``counts_per_m``.
    ``inertial``: yaw rate in rad/s, acceleration forward and to the left in m/s^2.
    ``places``: x, y, and perhaps the heading, as tracked from outside (cameras, SLAM), on the
    log's clock.
    ``turning``: how ``inertial`` came of ``places``; None: a gyro told it.
    ``counts_per_m``: the assumed sensor counts per metre of ``travel``; 0: not known.
    """

    file: str
    sha256: str
    kind: str
    vehicle: str
    steering: Series = field(default_factory=Series)
    target: Series = field(default_factory=Series)
    program: Series = field(default_factory=Series)
    effort: Series = field(default_factory=Series)
    travel: Series = field(default_factory=Series)
    inertial: Series = field(default_factory=Series)
    places: Series = field(default_factory=Series)
    battery: Series = field(default_factory=Series)
    counts_per_m: float = 0.0
    tape_m: float | None = None  # as somebody measured it, from start to end
    notes: tuple[str, ...] = ()
    turning: Turning | None = None
    board_id: str = ""  # of the car, in hexadecimal; a bag and a table do not say it

    @property
    def seconds(self) -> float:
        return max(self.travel.span_s, self.inertial.span_s, self.steering.span_s)

    def speed_mps(self, times_s: Floats) -> Floats:
        """Return the speed in m/s at these times (n,), each over a tenth of a second around it.

        Nearer than that to an end of ``travel`` it is too low, and 0 outside. Raises ValueError
        without ``travel``.
        """
        half_s = _SPEED_S / 2
        t_s, (travel_m, *_) = self.travel
        ahead, behind = (np.interp(times_s + s, t_s, travel_m) for s in (half_s, -half_s))
        return np.asarray((ahead - behind) / _SPEED_S)

    def at(self, name: str, times_s: Floats) -> Floats:
        """Return the first column of the series called ``name`` at these times, (n,).

        Between its samples a series holds the last value.
        """
        t_s, (first, *_) = getattr(self, name)
        place = np.searchsorted(t_s, times_s, side="right") - 1
        return np.asarray(first[np.maximum(place, 0)])


def refuse_several_cars(traces: Sequence[DriveTrace]) -> None:
    """Raise errors.UsageFault if the traces are of several cars; the board identifies a car."""
    known = [trace for trace in traces if trace.board_id]
    if len({trace.board_id for trace in known}) > 1:
        raise UsageFault(
            "the logs are of several cars of one type",
            expected="one car, which is its board",
            got=", ".join(f"{trace.file}: board {trace.board_id}" for trace in known),
            remedy="calibrate each by its own logs",
        )
