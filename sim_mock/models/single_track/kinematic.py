"""The kinematic single track: wheels roll where they point.

Source: CommonRoad: Vehicle Models (2020a), section 5 (KS), reference point at the rear axle; and
the same motion seen from the centre of gravity, which its single track uses at low speed.
"""

from math import atan, cos, sin, tan
from typing import NamedTuple

from sim_mock.models.integration import State
from sim_mock.models.single_track.parameters import (
    DriverInput,
    SingleTrackParameters,
    within_limits,
)


class Kinematic(NamedTuple):
    """The state, of the rear axle."""

    x_m: float = 0.0
    y_m: float = 0.0
    steer_rad: float = 0.0
    speed_mps: float = 0.0
    yaw_rad: float = 0.0


def kinematic_rates(x: State, u: DriverInput, p: SingleTrackParameters) -> State:
    """Return the right-hand side, in the order of ``Kinematic``, per second."""
    _, _, steer_rad, speed_mps, yaw_rad = x
    rate_radps, accel_mps2 = within_limits(u, steer_rad, speed_mps, p.limits)
    return (
        speed_mps * cos(yaw_rad),
        speed_mps * sin(yaw_rad),
        rate_radps,
        accel_mps2,
        speed_mps * tan(steer_rad) / p.wheelbase_m,
    )


def kinematic_slip_rad(steer_rad: float, p: SingleTrackParameters) -> float:
    """Return the angle from the car's axis to the CG's velocity when no wheel slips."""
    return atan(tan(steer_rad) * p.lr_m / p.wheelbase_m)
