"""AutoRally's single track: the paper, eq. 4 with tyres of eq. 8 to 10."""

from typing import NamedTuple

from sim_mock.models.autorally.body import (
    Planar,
    WheelPosition,
    axle_loads_n,
    grip_at,
    planar_rates,
    spin_rate_radps2,
)
from sim_mock.models.autorally.parameters import ActuatorInput, AutorallyParameters
from sim_mock.models.integration import State


class SingleTrackState(NamedTuple):
    """The state: Planar's six, then the spins of the front and of the rear wheels."""

    x_m: float = 0.0
    y_m: float = 0.0
    yaw_rad: float = 0.0
    vx_mps: float = 0.0
    vy_mps: float = 0.0
    yaw_rate_radps: float = 0.0
    spin_front_radps: float = 0.0
    spin_rear_radps: float = 0.0


def single_track_rates(x: State, u: ActuatorInput, p: AutorallyParameters) -> State:
    """Return the right-hand side, in the order of ``SingleTrackState``, per second."""
    s, spins = Planar(*x[:6]), x[6:]
    corners = (WheelPosition(p.lf_m, 0.0, True), WheelPosition(-p.lr_m, 0.0, False))
    grips = [grip_at(at, s, w, u.steer_rad, p) for at, w in zip(corners, spins, strict=True)]
    loads_n = axle_loads_n(grips[0].ahead, grips[1].ahead, p)
    pairs = list(zip(grips, loads_n, strict=True))
    forces_n = [(g.ahead * load, g.aside * load) for g, load in pairs]
    return (
        *planar_rates(s, corners, forces_n, p),
        *(
            spin_rate_radps2(at, w, g.along * load, u, 1.0, p)
            for at, w, (g, load) in zip(corners, spins, pairs, strict=True)
        ),
    )
