"""A car's curvature as a function of its wheels' angle, and the distance its driven wheels roll."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt, tan

import numpy as np

from calibration.arrays import Floats
from host_bridge.core import Vehicle


@dataclass(frozen=True)
class RollingGeometry:
    """The kinematic steering geometry of a car.

    ``curvature_per_tan`` is its curvature per tangent of the wheels' angle. Driven wheels that are
    steered roll farther than the middle of the car: by 1 / cos(angle).
    """

    curvature_per_tan: float
    front_share: float
    rear_ratio: float

    @classmethod
    def of(cls, vehicle: Vehicle) -> RollingGeometry:
        lock_rad = vehicle.steer_max_rad
        per_m = vehicle.parameters["curvature_per_10km"][-1] * 1e-4
        ratios = [
            float(str(channel.get("wheel_ratio", 1.0)))
            for channel in vehicle.channels
            if channel["kind"] == "servo_steering" and channel["axle"] == "rear"
        ]
        body = table_of(vehicle, "body")
        driven = str(table_of(vehicle, "drive")["driven"])
        shares = {"front": 1.0, "rear": 0.0}
        share = shares.get(driven, body["lr_m"] / (body["lf_m"] + body["lr_m"]))
        return cls(per_m / tan(lock_rad), share, ratios[0] if ratios else 0.0)

    def tangents(self, angles_rad: Floats) -> tuple[Floats, Floats]:
        """Return the tangent as driven wheels see it, and its slope by angle."""
        hair = 1e-5  # rad: so small that the curve is straight, and above its rounding
        slope = (self._bent(angles_rad + hair) - self._bent(angles_rad - hair)) / (2 * hair)
        return self._bent(angles_rad), slope

    def _bent(self, angles_rad: Floats) -> Floats:
        return np.asarray(np.tan(angles_rad) / self.rolled_per_travel(angles_rad))

    def rolled_per_travel(self, angles_rad: Floats) -> Floats:
        """Return the distance that the driven wheels roll per distance along the car's heading."""
        front, rear = np.cos(angles_rad), np.cos(self.rear_ratio * angles_rad)
        return np.asarray(self.front_share / front + (1.0 - self.front_share) / rear)


def seen_tangents(angles_rad: Floats) -> tuple[Floats, Floats]:
    """Return the tangent as a tracked point's speed sees it, and its slope by angle.

    A point ahead of the rear axle goes farther than that axle: by sqrt(1 + (share tan)^2), where
    it is that share of the wheelbase ahead. Held is the mean of all places between the axles, for
    which the square of the share is a third.
    """
    tangent = np.tan(angles_rad)
    farther = np.sqrt(1.0 + tangent**2 / 3.0)
    return np.asarray(tangent / farther), np.asarray((1.0 + tangent**2) / farther**3)


def seen_share(angle_rad: float) -> float:
    """Return the relative error of ``seen_tangents``, as one standard deviation.

    The square of a share that may be any between 0 and 1 deviates by sqrt(1/5 - 1/9) from a third.
    """
    return float(sqrt(1 / 5 - 1 / 9) / 2.0 * tan(angle_rad) ** 2)


def table_of(vehicle: Vehicle, name: str) -> dict[str, float]:
    """Return a table of the vehicle file's ``[plant]``."""
    table = vehicle.plant[name]
    assert isinstance(table, dict), "a vehicle file's [plant] has been read as tables"
    return table
