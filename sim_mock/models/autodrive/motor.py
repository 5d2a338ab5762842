"""Torques on a wheel: the motor's, and the one that holds the wheel at zero throttle.

Source: the report, section 3.1.1, Powertrain and Brake Dynamics of small and mid-scale cars.
"""

from itertools import pairwise

from sim_mock.models.autodrive.parameters import CarParameters

# Below this spin the holding torque is proportional to it, so it holds a wheel and never drives it.
HOLD_FULL_RADPS = 2.0


def profile_at(profile: tuple[tuple[float, float], ...], share: float) -> float:
    """Return the profile's value: linear between its points, constant outside."""
    if share <= profile[0][0]:
        return profile[0][1]
    for (x0, y0), (x1, y1) in pairwise(profile):
        if share < x1:
            return y0 + (y1 - y0) * (share - x0) / (x1 - x0)
    return profile[-1][1]


def holding_nm(most_nm: float, spin_radps: float, full_radps: float) -> float:
    """Return the torque against a wheel's spin: full from ``full_radps`` on, else in proportion."""
    return -most_nm * min(max(spin_radps / full_radps, -1.0), 1.0)


def wheel_torque_nm(throttle: float, spin_radps: float, is_driven: bool, p: CarParameters) -> float:
    """Return the torque on one wheel; at throttle 0 every wheel is held, driven or not."""
    throttle = min(max(throttle, -1.0), 1.0)
    if throttle == 0.0:
        return holding_nm(p.hold_nm, spin_radps, HOLD_FULL_RADPS)
    if not is_driven:
        return 0.0
    ahead_radps = spin_radps if throttle > 0.0 else -spin_radps
    share = profile_at(p.profile, ahead_radps / p.wheel_speed_radps)
    return throttle * p.motor_nm * share - p.wheel_damping_nms * spin_radps
