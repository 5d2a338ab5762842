"""The common parts of all models: state, command, report, and planar motion of the rear axle.

x' = v cos(yaw), y' = v sin(yaw), yaw' = v tan(steer) / wheelbase: the kinematic single track
(Rajamani, Vehicle Dynamics and Control, 2nd ed., section 2.2, without rear steering or side slip).
"""

from math import cos, sin, tan
from typing import NamedTuple

from sim_mock.models.planning.gear import DRIVE


class DriverCommand(NamedTuple):
    """A driver's command; a velocity model takes the speed, the others the acceleration."""

    vx_mps: float = 0.0
    ax_mps2: float = 0.0
    steer_rad: float = 0.0
    gear: int = DRIVE


class ModelState(NamedTuple):
    """The state of all models but the learned one: the rear axle's, and the unbiased wheels."""

    x_m: float = 0.0
    y_m: float = 0.0
    yaw_rad: float = 0.0
    vx_mps: float = 0.0
    ax_mps2: float = 0.0
    steer_rad: float = 0.0


class MotionReport(NamedTuple):
    """The simulator's report of a car after a step: true, or measured with noise."""

    x_m: float
    y_m: float
    yaw_rad: float
    vx_mps: float
    vy_mps: float
    ax_mps2: float
    wz_radps: float
    steer_rad: float


def plane_rates(
    vx_mps: float, yaw_rad: float, steer_rad: float, wheelbase_m: float
) -> tuple[float, float, float]:
    """Return the rates of x and y in m/s and of the yaw in rad/s."""
    return (
        vx_mps * cos(yaw_rad),
        vx_mps * sin(yaw_rad),
        vx_mps * tan(steer_rad) / wheelbase_m,
    )
