"""The steering map found in logs: the wheels' angle by the commanded angle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.arrays import Floats

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
