"""Conversions between Tandem's frames and MAVLink's, in one table.

Tandem: x forward, y left, z up, yaw counterclockwise, steering positive to the left. MAVLink's
local frame is north, east, down (NED), its body frame forward, right, down (FRD), yaw clockwise
from north; sticks are positive to the right.

| Tandem | MAVLink |
|---|---|
| pose x, y (m, from where the car started, x along its first heading h) | north = x cos h + y sin h, east = x sin h - y cos h |
| yaw (rad) | h - yaw, within -pi to pi |
| yaw rate (rad/s), lateral acceleration, steering | the negative |
| speed ahead (m/s), forward acceleration | the same |

h is the heading of the car's own x axis, clockwise from north; 0 unless the user says it.
"""  # noqa: E501 - a row of a table

from __future__ import annotations

import math
from dataclasses import dataclass

_EQUATOR_M = 6_378_137.0  # WGS84: semi-major axis
_ECCENTRICITY_2 = 6.694_379_990_14e-3  # WGS84: first eccentricity, squared
_STICK_FULL = 1000.0  # MANUAL_CONTROL: the end of an axis
_STICK_ABSENT = 32_767  # MANUAL_CONTROL: an axis that the station does not have


def stick(raw: int) -> float | None:
    """Return an axis of MANUAL_CONTROL as -1 to 1, positive forward or right; None if absent."""
    if raw == _STICK_ABSENT:
        return None
    return max(-1.0, min(raw / _STICK_FULL, 1.0))


def left(right: float) -> float:
    """Return what is positive to the right, or clockwise, as positive to the left; and back."""
    return -right


@dataclass(frozen=True)
class LocalFrame:
    """The local NED frame of a car whose own x axis points ``heading_rad`` clockwise from north."""

    heading_rad: float = 0.0

    def north_east(self, x: float, y: float) -> tuple[float, float]:
        """Return a place or a velocity of Tandem's odometry as north and east."""
        sine, cosine = math.sin(self.heading_rad), math.cos(self.heading_rad)
        return x * cosine + y * sine, x * sine - y * cosine

    def yaw(self, yaw_rad: float) -> float:
        """Return the yaw clockwise from north, within -pi to pi."""
        return math.remainder(self.heading_rad - yaw_rad, 2 * math.pi)

    def degrees(self, yaw_rad: float) -> float:
        """Return the heading in degrees, 0 to 360, clockwise from north."""
        return math.degrees(self.yaw(yaw_rad)) % 360.0

    def quaternion(self, yaw_rad: float) -> tuple[float, float, float, float]:
        """Return the attitude as w, x, y, z: the rotation from FRD to NED of a level car."""
        half = self.yaw(yaw_rad) / 2
        return math.cos(half), 0.0, 0.0, math.sin(half)


@dataclass(frozen=True)
class Origin:
    """The place in degrees at which the car started, given by the user; ``frame`` has its heading.

    Altitude is not known, and told as 0.
    """

    latitude: float
    longitude: float
    frame: LocalFrame

    def position(self, north_m: float, east_m: float) -> tuple[float, float]:
        """Return latitude and longitude in degrees of a place some metres away.

        On the tangent plane of the ellipsoid (WGS84): 1 mm off at 1 km, as the plane leaves it.
        """
        latitude = math.radians(self.latitude)
        part = 1 - _ECCENTRICITY_2 * math.sin(latitude) ** 2
        east_radius_m = _EQUATOR_M / math.sqrt(part)
        north_radius_m = east_radius_m * (1 - _ECCENTRICITY_2) / part
        return (
            self.latitude + math.degrees(north_m / north_radius_m),
            self.longitude + math.degrees(east_m / (east_radius_m * math.cos(latitude))),
        )
