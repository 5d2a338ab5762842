"""Steering geometry: from the commanded angle to each wheel, its servo's pulse, and the path.

The commanded angle is that of the single wheel of a bicycle model, left positive. Curves have the
points of the car's program: CURVE_POINTS of them from full right to full left, in micro-radians.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import atan2, ceil, floor, sqrt, tan
from typing import Any

from firmware.core.settings.params import CURVE_POINTS
from host_bridge.config.vehicle.document import VehicleDocument

SIDES = {"left": 1, "centre": 0, "right": -1}


@dataclass(frozen=True)
class SteeringGeometry:
    """The steering geometry of a vehicle, in m.

    ``rear_ratio`` is the rear wheels' angle over the front's: -1 counter-phase, 0 fixed.
    """

    wheelbase_m: float
    track_m: float
    rear_ratio: float

    def wheel_rad(self, steer_rad: float, side: str) -> float:
        """Return the angle of a front wheel by Ackermann's condition for an unsteered rear axle.

        It is atan(2 L tan d / (2 L - s W tan d)), s = 1 on the left. Nigel's own program turns its
        counter-phase rear wheels by the same equation, so a steered rear wheel has this angle
        times ``rear_ratio``.
        """
        rise = 2 * self.wheelbase_m * tan(steer_rad)
        run = 2 * self.wheelbase_m - SIDES[side] * self.track_m * tan(steer_rad)
        return atan2(rise, run)  # beyond 90 degrees if the turn's centre is inside the car

    def curvature_per_m(self, steer_rad: float) -> float:
        """Return the curvature of the path without slip, in 1/m.

        It is (tan d_front - tan d_rear) / L, Rajamani (2012) eq. 2.8.
        """
        rear_rad = self.rear_ratio * steer_rad
        return (tan(steer_rad) - tan(rear_rad)) / self.wheelbase_m


def curve_angles_rad(steer_max_rad: float, per_span: int = 1) -> list[float]:
    """Return the angles of the program's curve points, with ``per_span`` steps between two of them.

    The program divides in whole micro-radians, rounding the span up: the last point may lie a few
    micro-radians beyond full left.
    """
    max_urad = round(steer_max_rad * 1e6)
    spans = CURVE_POINTS - 1
    span_urad = -(-2 * max_urad // spans)
    return [(-max_urad + span_urad * i / per_span) * 1e-6 for i in range(spans * per_span + 1)]


def pulse_us(points: Sequence[Sequence[float]], wheel_rad: float) -> float:
    """Interpolate the pulse on the polyline through measured ``[wheel_rad, pulse_us]`` points.

    Raises ValueError outside it.
    """
    for (a, low), (b, high) in pairwise(points):
        if a <= wheel_rad <= b:
            return low + (high - low) * (wheel_rad - a) / (b - a)
    raise ValueError(f"{wheel_rad:.4f} rad is not within {points[0][0]:g} to {points[-1][0]:g} rad")


def envelope_closing_radps(limits: Mapping[str, float], wheelbase_m: float) -> float:
    """Return how fast the steering envelope narrows at most while the car gains speed, in rad/s.

    The envelope is a L / v^2 for the lateral acceleration a, at most the lock. It narrows by
    2 a L / v^3 times the acceleration, and fastest where it leaves the lock. 0 for a car whose top
    speed does not reach that.
    """
    lock_rad = limits["steer_max_rad"]
    from_mps = sqrt(limits["lateral_accel_mps2"] * wheelbase_m / lock_rad)
    if from_mps >= max(limits["speed_max_mps"], limits["reverse_max_mps"]):
        return 0.0
    return 2.0 * lock_rad * limits["accel_mps2"] / from_mps


def check_steering_rate(document: VehicleDocument, tables: Mapping[str, Any]) -> None:
    """Refuse a steering that is too slow to stay within the envelope while the car gains speed.

    The board limits the target by the envelope, and the output follows no faster than its servo
    (firmware/core/motion/steering.py): a jump of the output would leave the limit of slew instead.
    """
    limits = tables["limits"]
    needed_radps = envelope_closing_radps(limits, tables["geometry"]["wheelbase_m"])
    rate_radps, accel_mps2 = limits["steer_rate_radps"], limits["accel_mps2"]
    if rate_radps < needed_radps:
        most_mps2 = accel_mps2 * rate_radps / needed_radps
        raise document.fault(
            "limits.steer_rate_radps",
            "this steering is too slow for how fast the car gains speed: its wheels would stay "
            "beyond what limits.lateral_accel_mps2 allows",
            expected=f"{ceil(needed_radps * 100) / 100:g} rad/s or more at {accel_mps2:g} m/s^2",
            got=f"{rate_radps:g} rad/s",
            remedy=f"lower limits.accel_mps2 to {floor(most_mps2 * 100) / 100:g}, or make "
            "limits.steer_max_rad smaller",
        )
