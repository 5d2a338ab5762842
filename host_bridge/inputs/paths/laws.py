"""Steering laws: compute the front wheels' angle from a car's place beside its path.

All are for a car that turns about a point ``base_m`` behind its front axle: the wheelbase, or half
of it where both axles steer. Left is positive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import atan, atan2, cos, remainder, sin, sqrt, tau

import numpy as np

from host_bridge.inputs.paths.path import Path, PathProjection

STANLEY_GAIN = 2.5  # 1/s; the same as in Hoffmann et al., ACC 2007
_SOFT_MPS = 0.5  # keeps a slow car from swinging from lock to lock
LOOKAHEAD_S = 0.35  # lookahead in time, and below in bases as its minimum: tuned on virtual cars
LOOKAHEAD_BASES = 1.5  # wheelbases: nearer than that a pursued point makes a car swing

LAG_S = 0.05  # of the steering; a bend is steered so long before: tuned likewise
REACH_S = 0.15  # the time in which errors are to vanish: as short as stays calm: tuned likewise


@dataclass(frozen=True)
class VehicleState:
    """The pose of the point that a car turns about, and its speed."""

    x_m: float
    y_m: float
    yaw_rad: float
    speed_mps: float
    base_m: float


Law = Callable[[Path, PathProjection, VehicleState, float | None], float]


def pure_pursuit(
    path: Path, projection: PathProjection, car: VehicleState, lookahead_m: float | None
) -> float:
    """Steer along the arc to a point of the path ahead (Coulter, CMU-RI-TR-92-01, 1992)."""
    ahead_m = lookahead_m or _reach_m(car, LOOKAHEAD_S)
    x, y = path.at(projection.along_m + ahead_m)
    dx, dy = x - car.x_m, y - car.y_m
    across_m = cos(car.yaw_rad) * dy - sin(car.yaw_rad) * dx
    square = max(dx * dx + dy * dy, 1e-6)  # a point within a millimetre has no direction
    return atan(car.base_m * 2.0 * across_m / square)


def stanley(
    path: Path, projection: PathProjection, car: VehicleState, lookahead_m: float | None
) -> float:
    """Steer by the heading and cross-track errors of the front axle (Hoffmann et al., ACC 2007)."""
    x = car.x_m + car.base_m * cos(car.yaw_rad)
    y = car.y_m + car.base_m * sin(car.yaw_rad)
    front = path.project(x, y, projection.along_m + car.base_m)
    off_rad = remainder(front.yaw_rad - car.yaw_rad, tau)
    return off_rad - atan2(STANLEY_GAIN * front.left_m, _SOFT_MPS + abs(car.speed_mps))


def lqr(
    path: Path, projection: PathProjection, car: VehicleState, lookahead_m: float | None
) -> float:
    """Steer by the path's curvature and a linear-quadratic regulator of both errors.

    By the way along the path, a car beside it is a double integrator: the offset's slope is the
    heading error, and that one's is the difference of the curvatures, c. The regulator that makes
    the integral of offset² + reach⁴ c² least is c = -offset / reach² - sqrt(2) heading / reach.
    """
    reach_m = lookahead_m or _reach_m(car, REACH_S)
    ahead_m = projection.along_m + LAG_S * abs(car.speed_mps)
    bend = float(path.curvatures(np.array([ahead_m]), car.base_m)[0])
    off_rad = remainder(car.yaw_rad - projection.yaw_rad, tau)
    return atan(
        car.base_m
        * (bend - projection.left_m / (reach_m * reach_m) - sqrt(2.0) * off_rad / reach_m)
    )


def _reach_m(car: VehicleState, reach_s: float) -> float:
    """Return the distance driven in this time, or the least that keeps a slow car calm."""
    return max(LOOKAHEAD_BASES * car.base_m, reach_s * abs(car.speed_mps))


LAWS: dict[str, Law] = {"pursuit": pure_pursuit, "stanley": stanley, "lqr": lqr}
