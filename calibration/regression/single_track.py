"""Numbers of the single-track model: yaw lag, understeer and the front axle's stiffness."""

from __future__ import annotations

from math import hypot

from calibration.regression.steering_geometry import table_of
from host_bridge.core import Vehicle

_G_MPS2 = 9.81  # standard gravity
# Assumed relative deviation of each axle's stiffness from a vehicle file's: floors and tyres differ
_ASSUMED_STIFFNESS = 0.15


def yaw_lag_s_per_mps(vehicle: Vehicle) -> float:
    """Return the time constant of the yaw rate behind the wheels' angle, per speed.

    It is I / (m lf lr c g), that of a single track with about the same stiffness per load on both
    axles; Rajamani, Vehicle Dynamics and Control, equation 2.31, with the loads at rest put in.
    """
    body, tyre = table_of(vehicle, "body"), table_of(vehicle, "tyre")
    mean = (tyre["stiffness_front_per_rad"] + tyre["stiffness_rear_per_rad"]) / 2
    arms = body["mass_kg"] * body["lf_m"] * body["lr_m"]
    return float(body["inertia_z_kgm2"] / arms / (mean * _G_MPS2))


def known_understeer(vehicle: Vehicle) -> float:
    """Return the understeer of the vehicle file's tyres in s^2/m^2: (1/Cf - 1/Cr) / (g L).

    It does not depend on the loads. Source: Rajamani, Vehicle Dynamics and Control, section 3.3,
    with stiffness per load.
    """
    tyre = table_of(vehicle, "tyre")
    front, rear = tyre["stiffness_front_per_rad"], tyre["stiffness_rear_per_rad"]
    return (1.0 / front - 1.0 / rear) / (_G_MPS2 * _axles_apart_m(vehicle))


def understeer_spread(vehicle: Vehicle) -> float:
    """Return the standard deviation of the understeer in s^2/m^2, where no drive determines it."""
    tyre = table_of(vehicle, "tyre")
    ways = (1.0 / tyre["stiffness_front_per_rad"], 1.0 / tyre["stiffness_rear_per_rad"])
    both = hypot(*ways) * _ASSUMED_STIFFNESS
    return float(both / (_G_MPS2 * _axles_apart_m(vehicle)))


def front_stiffness(vehicle: Vehicle, understeer: float) -> tuple[float, float]:
    """Return the front axle's stiffness per load at this understeer, and its slope.

    Both are nan where no stiffness gives this understeer.
    """
    rear = table_of(vehicle, "tyre")["stiffness_rear_per_rad"]
    per_understeer = _G_MPS2 * _axles_apart_m(vehicle)
    inverse = 1.0 / rear + understeer * per_understeer
    if inverse <= 0.0:
        return float("nan"), float("nan")
    return 1.0 / inverse, -per_understeer / inverse**2


def _axles_apart_m(vehicle: Vehicle) -> float:
    """Return the distance of the axles of the body in ``[plant]``, to which its tyres belong.

    The wheelbase in ``[geometry]`` may be rounded otherwise, and is the steering's.
    """
    body = table_of(vehicle, "body")
    return body["lf_m"] + body["lr_m"]
