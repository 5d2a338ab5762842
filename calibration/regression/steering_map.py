"""The steering map found in logs: the wheels' angle by the commanded angle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.arrays import Floats

_LEVEL_RAD = 0.03  # steering angles nearer to each other are one angle
_LEAST_SAMPLES = 50  # of an angle that counts as driven: half a second (steering_samples.py)

COLUMNS = ("commanded_rad", "wheel_rad", "low_rad", "high_rad")


@dataclass(frozen=True)
class SteeringMap:
    """Commands that were driven, the wheels' angles there, and their 95 % band."""

    commanded_rad: Floats
    wheel_rad: Floats
    low_rad: Floats
    high_rad: Floats
    residual_radps: float  # rms of the residual of the yaw rate
    is_bent: bool = False

    def columns(self) -> dict[str, list[float]]:
        """Return the columns as lists, by the names of ``COLUMNS``."""
        return {name: getattr(self, name).tolist() for name in COLUMNS}


def wheel_rad(steering_map: SteeringMap, commanded_rad: Floats) -> Floats:
    """Return the wheels' angles by the map, extrapolated linearly beyond its ends."""
    at, angles = steering_map.commanded_rad, steering_map.wheel_rad
    inside = np.interp(commanded_rad, at, angles)
    below = angles[0] + (commanded_rad - at[0]) * (angles[1] - angles[0]) / (at[1] - at[0])
    above = angles[-1] + (commanded_rad - at[-1]) * (angles[-1] - angles[-2]) / (at[-1] - at[-2])
    return np.asarray(
        np.where(commanded_rad < at[0], below, np.where(commanded_rad > at[-1], above, inside))
    )


@dataclass(frozen=True)
class MapTerms:
    """The terms of a map beyond a line: a difference of the sides, and a bend from near to far."""

    has_sides: bool
    has_bend: bool

    @property
    def width(self) -> int:
        """The number of coefficients of such a map."""
        return 2 + self.has_sides + self.has_bend

    def columns(self, off: Floats) -> npt.NDArray[np.float64]:
        """Return a row for each command (relative to the trim), a column for each coefficient."""
        found = [np.ones_like(off), off]
        found += [np.abs(off)] if self.has_sides else []
        found += [off * np.abs(off)] if self.has_bend else []
        return np.column_stack(found)


LINE = MapTerms(has_sides=False, has_bend=False)


def driven_terms(off_rad: Floats) -> MapTerms:
    """Return the terms that the driven angles, relative to the trim, can tell apart.

    No term is left out because it is small here: the others would take its place, with intervals
    that know nothing of it.
    """
    bins, counts = np.unique(np.round(off_rad / _LEVEL_RAD), return_counts=True)
    levels = bins[(counts >= _LEAST_SAMPLES) & (bins != 0.0)]
    sides = int(np.sum(levels > 0.0)), int(np.sum(levels < 0.0))
    has_sides = min(sides) >= 1 and sum(sides) >= 3  # a slope each, and one angle to spare
    return MapTerms(has_sides, has_bend=has_sides and sum(sides) >= 4)
