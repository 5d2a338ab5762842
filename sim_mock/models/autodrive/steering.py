"""AutoDRIVE's steering: a rate that depends on speed, and Ackermann's angles.

Source: the report, section 3.1.1, Steering Dynamics. It counts angles to the right; here left is
positive, so its left and right wheel have changed places.
"""

from math import atan, tan

from sim_mock.models.autodrive.parameters import ChassisParameters

# Within this distance of its target the actuator slows down in proportion, so as not to chatter.
SLOW_WITHIN_RAD = 0.01


def steer_rate_radps(
    steering: float, steer_rad: float, speed_mps: float, p: ChassisParameters
) -> float:
    """Return the rate towards the command's share of the limit: kappa + kappa_v v / v_max."""
    share = min(abs(speed_mps) / p.speed_max_mps, 1.0)
    most = p.steer_rate_radps + p.steer_rate_by_speed_radps * share
    target_rad = min(max(steering, -1.0), 1.0) * p.steer_max_rad
    return most * min(max((target_rad - steer_rad) / SLOW_WITHIN_RAD, -1.0), 1.0)


def ackermann_rad(steer_rad: float, p: ChassisParameters) -> tuple[float, float]:
    """Return the angles of left and right wheel of an axle steered by ``steer_rad``."""
    twice, across = 2.0 * p.wheelbase_m * tan(steer_rad), p.track_m * tan(steer_rad)
    return atan(twice / (2.0 * p.wheelbase_m - across)), atan(
        twice / (2.0 * p.wheelbase_m + across)
    )


def wheel_angles_rad(steer_rad: float, p: ChassisParameters) -> tuple[float, ...]:
    """Return the angles of the four wheels; the rear ones are a share of those in front."""
    left_rad, right_rad = ackermann_rad(steer_rad, p)
    rear = p.rear_steer_ratio
    return left_rad, right_rad, rear * left_rad, rear * right_rad
