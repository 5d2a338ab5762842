"""Measures how well a path was driven: the cross-track error and the lap times."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

from host_bridge.inputs.paths.path import Path, PathProjection

_BEGUN_M = 0.02  # the first lap's time begins when the car has moved so far
_MOVED_M = 1e-6  # a smaller step counts as standing, and adds nothing to the mean


@dataclass(frozen=True)
class PositionSample:
    """A car's position, and its time."""

    time_s: float
    x_m: float
    y_m: float


class TrackingError:
    """The cross-track error and the laps of a drive, fed with one position after the other.

    The cross-track error is weighted by the distance driven, so that a car that waits changes
    nothing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.projection: PathProjection | None = None
        self.driven_m = 0.0  # along the path
        self.worst_m = 0.0
        self.lap_times_s: list[float] = []
        self._sum = 0.0
        self._way_m = 0.0
        self._lap_began_s = 0.0
        self._last: PositionSample | None = None

    def add(self, position: PositionSample) -> PathProjection:
        """Add the next position; return its projection onto the path."""
        near_m = self.projection.along_m if self.projection else None
        projection = self.path.project(position.x_m, position.y_m, near_m)
        if self.driven_m < _BEGUN_M:
            self._lap_began_s = position.time_s
        if self._last is not None and self.projection is not None:
            self._accumulate(self._last, position, projection)
            self._advance(self.projection, projection, position.time_s)
        self.projection, self._last = projection, position
        return projection

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

    def _accumulate(
        self, last: PositionSample, position: PositionSample, projection: PathProjection
    ) -> None:
        way_m = sqrt((position.x_m - last.x_m) ** 2 + (position.y_m - last.y_m) ** 2)
        if way_m > _MOVED_M:
            self._sum += way_m * projection.left_m**2
            self._way_m += way_m
            self.worst_m = max(self.worst_m, abs(projection.left_m))

    def _advance(self, before: PathProjection, projection: PathProjection, now_s: float) -> None:
        step_m = projection.along_m - before.along_m
        if self.path.is_loop:
            half_m = 0.5 * self.path.length_m
            step_m = (step_m + half_m) % self.path.length_m - half_m
        self.driven_m += step_m
        if self.path.is_loop and self.driven_m >= self.path.length_m * (len(self.lap_times_s) + 1):
            self.lap_times_s.append(now_s - self._lap_began_s)
            self._lap_began_s = now_s
