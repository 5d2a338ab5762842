"""The angles that a car's wheels have for the angles that are commanded, as its logs bear it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.samples import Floats

COLUMNS = ("commanded_rad", "wheel_rad", "low_rad", "high_rad")


@dataclass(frozen=True)
class Map:
    """Commands that were driven, the angles that the wheels had, and their 95 % band."""

    commanded_rad: Floats
    wheel_rad: Floats
    low_rad: Floats
    high_rad: Floats
    residual_radps: float  # rms of the yaw rate that is left over
    is_bent: bool = False

    def columns(self) -> dict[str, list[float]]:
        """By the names of ``COLUMNS``."""
        return {name: getattr(self, name).tolist() for name in COLUMNS}


def wheel_rad(steering_map: Map, commanded_rad: Floats) -> Floats:
    """By the map; beyond what was driven it goes on as straight as it is at its ends."""
    at, angles = steering_map.commanded_rad, steering_map.wheel_rad
    inside = np.interp(commanded_rad, at, angles)
    below = angles[0] + (commanded_rad - at[0]) * (angles[1] - angles[0]) / (at[1] - at[0])
    above = angles[-1] + (commanded_rad - at[-1]) * (angles[-1] - angles[-2]) / (at[-1] - at[-2])
    return np.asarray(
        np.where(commanded_rad < at[0], below, np.where(commanded_rad > at[-1], above, inside))
    )
