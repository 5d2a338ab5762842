"""Measures how well a path was driven: the cross-track error and the lap times."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

from host_bridge.inputs.paths.path import Beside, Path

_BEGUN_M = 0.02  # the first lap's time begins when the car has moved so far
_MOVED_M = 1e-6  # a smaller step counts as standing, and adds nothing to the mean


@dataclass(frozen=True)
class Place:
    """A car's position, and its time."""

    time_s: float
    x_m: float
    y_m: float


class Measure:
    """The measurement, fed with one place after the other.

    The cross-track error is weighted by the distance driven, so that a car that waits changes
    nothing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.beside: Beside | None = None
        self.driven_m = 0.0  # along the path
        self.worst_m = 0.0
        self.lap_times_s: list[float] = []
        self._sum = 0.0
        self._way_m = 0.0
        self._lap_began_s = 0.0
        self._last: Place | None = None

    def add(self, place: Place) -> Beside:
        """Add the next place; return where it is beside the path."""
        near_m = self.beside.along_m if self.beside else None
        beside = self.path.beside(place.x_m, place.y_m, near_m)
        if self.driven_m < _BEGUN_M:
            self._lap_began_s = place.time_s
        if self._last is not None and self.beside is not None:
            self._weigh(self._last, place, beside)
            self._go_on(self.beside, beside, place.time_s)
        self.beside, self._last = beside, place
        return beside

    @property
    def rms_m(self) -> float:
        """The root mean square of the cross-track error."""
        return sqrt(self._sum / self._way_m) if self._way_m else 0.0

    def figures(self) -> dict[str, Any]:
        """Return the results as a row for JSON."""
        return {
            "cross_track_rms_m": round(self.rms_m, 4),
            "cross_track_worst_m": round(self.worst_m, 4),
            "driven_m": round(self.driven_m, 3),
            "length_m": round(self.path.length_m, 3),
            "laps": len(self.lap_times_s),
            "lap_times_s": [round(time_s, 3) for time_s in self.lap_times_s],
        }

    def lines(self) -> list[str]:
        """Return the results as lines for people."""
        laps = [f"  lap {i}: {time_s:.2f} s" for i, time_s in enumerate(self.lap_times_s, 1)]
        return [
            f"{self.driven_m:.2f} m along a path of {self.path.length_m:.2f} m, cross-track error "
            f"{self.rms_m:.3f} m rms, {self.worst_m:.3f} m at worst.",
            *laps,
        ]

    def _weigh(self, last: Place, place: Place, beside: Beside) -> None:
        way_m = sqrt((place.x_m - last.x_m) ** 2 + (place.y_m - last.y_m) ** 2)
        if way_m > _MOVED_M:
            self._sum += way_m * beside.left_m**2
            self._way_m += way_m
            self.worst_m = max(self.worst_m, abs(beside.left_m))

    def _go_on(self, before: Beside, beside: Beside, now_s: float) -> None:
        step_m = beside.along_m - before.along_m
        if self.path.is_loop:
            half_m = 0.5 * self.path.length_m
            step_m = (step_m + half_m) % self.path.length_m - half_m
        self.driven_m += step_m
        if self.path.is_loop and self.driven_m >= self.path.length_m * (len(self.lap_times_s) + 1):
            self.lap_times_s.append(now_s - self._lap_began_s)
            self._lap_began_s = now_s
