"""AutoRally's double track: the paper, eq. 5, with loads that shift sideways and along."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from sim_mock.models.autorally.body import (
    Planar,
    WheelPosition,
    axle_loads_n,
    planar_rates,
    spin_rate_radps2,
)
from sim_mock.models.autorally.parameters import ActuatorInput, AutorallyParameters
from sim_mock.models.autorally.tyre import Grip, grip
from sim_mock.models.integration import State


class DoubleTrack(NamedTuple):
    """The state: Planar's six, then the wheels' spins, left before right, front before rear."""

    x_m: float = 0.0
    y_m: float = 0.0
    yaw_rad: float = 0.0
    vx_mps: float = 0.0
    vy_mps: float = 0.0
    yaw_rate_radps: float = 0.0
    spin_lf_radps: float = 0.0
    spin_rf_radps: float = 0.0
    spin_lr_radps: float = 0.0
    spin_rr_radps: float = 0.0


@lru_cache(maxsize=8)  # called several times per step, always for the same car
def corners_of(p: AutorallyParameters) -> tuple[WheelPosition, ...]:
    """Return the corners: left front, right front, left rear, right rear."""
    front_m, rear_m = 0.5 * p.track_front_m, 0.5 * p.track_rear_m
    return (
        WheelPosition(p.lf_m, front_m, True),
        WheelPosition(p.lf_m, -front_m, True),
        WheelPosition(-p.lr_m, rear_m, False),
        WheelPosition(-p.lr_m, -rear_m, False),
    )


def grips_of(x: State, u: ActuatorInput, p: AutorallyParameters) -> tuple[Grip, Grip, Grip, Grip]:
    """Return the four wheels' grips, in the order of ``corners_of``; ``x`` is planar, then spins.

    It is ``grip_at`` four times, inlined, as much of a step's time is spent here.
    """
    vx_mps, vy_mps, rate_radps, lf, rf, lr, rr = x[3:10]
    tyre, steer_rad, radius_m = p.tyre, u.steer_rad, p.wheel_radius_m
    front_mps, rear_mps = 0.5 * rate_radps * p.track_front_m, 0.5 * rate_radps * p.track_rear_m
    nose_mps, tail_mps = vy_mps + rate_radps * p.lf_m, vy_mps - rate_radps * p.lr_m
    return (
        grip(vx_mps - front_mps, nose_mps, lf * radius_m, steer_rad, tyre),
        grip(vx_mps + front_mps, nose_mps, rf * radius_m, steer_rad, tyre),
        grip(vx_mps - rear_mps, tail_mps, lr * radius_m, 0.0, tyre),
        grip(vx_mps + rear_mps, tail_mps, rr * radius_m, 0.0, tyre),
    )


def side_share(left: Grip, right: Grip, height_m: float, track_m: float) -> float:
    """Return the share of an axle's load that moves from left to right wheel, at most half.

    Roll equilibrium of the axle alone: the moved load t N on the track balances the side force at
    ``height_m``: t w = h ((1/2 - t) left + (1/2 + t) right).
    """
    turned = 0.5 * height_m * (left.aside + right.aside)
    share = turned / (track_m + height_m * (left.aside - right.aside))
    return min(max(share, -0.5), 0.5)


def wheel_loads_n(grips: Sequence[Grip], p: AutorallyParameters) -> list[float]:
    """Return the loads of the four wheels in equilibrium; 0 for a wheel in the air."""
    shares = [
        side_share(grips[0], grips[1], p.h_cg_m, p.track_front_m),
        side_share(grips[2], grips[3], p.h_cg_m, p.track_rear_m),
    ]
    ahead = [
        (0.5 - t) * left.ahead + (0.5 + t) * right.ahead
        for t, left, right in zip(shares, grips[::2], grips[1::2], strict=True)
    ]
    axles_n = axle_loads_n(ahead[0], ahead[1], p)
    return [
        axle_n * (0.5 + side * t)
        for axle_n, t in zip(axles_n, shares, strict=True)
        for side in (-1.0, 1.0)
    ]


def double_track_rates(x: State, u: ActuatorInput, p: AutorallyParameters) -> State:
    """Return the right-hand side, in the order of ``DoubleTrack``, per second."""
    grips = grips_of(x, u, p)
    return rates_under_loads(x, u, p, grips, wheel_loads_n(grips, p))


def rates_under_loads(
    x: State,
    u: ActuatorInput,
    p: AutorallyParameters,
    grips: Sequence[Grip],
    loads_n: Sequence[float],
) -> State:
    """Return the rates of Planar and of the spins for given loads.

    Each wheel gets half of its axle's torque, as from an open differential (an estimate: the paper
    does not describe AutoRally's).
    """
    corners = corners_of(p)
    forces_n = [(g.ahead * load, g.aside * load) for g, load in zip(grips, loads_n, strict=True)]
    along_n = [g.along * load for g, load in zip(grips, loads_n, strict=True)]
    wheels = zip(corners, x[6:10], along_n, strict=True)
    return (
        *planar_rates(Planar(*x[:6]), corners, forces_n, p),
        *[spin_rate_radps2(at, spin, force_n, u, 0.5, p) for at, spin, force_n in wheels],
    )
