"""The three models side by side, and how the tests drive them."""

from collections.abc import Callable
from typing import Any, NamedTuple

from sim_mock.models.autorally.double_track import DoubleTrack, double_track_rates
from sim_mock.models.autorally.full import Full, full_rates
from sim_mock.models.autorally.parameters import AUTORALLY, ActuatorInput, AutorallyParameters
from sim_mock.models.autorally.single_track import SingleTrackState, single_track_rates
from sim_mock.models.integration import rk4


class Model(NamedTuple):
    state: Any
    rates: Callable[..., Any]
    wheels: int


MODELS = {
    "single": Model(SingleTrackState, single_track_rates, 2),
    "double": Model(DoubleTrack, double_track_rates, 4),
    "full": Model(Full, full_rates, 4),
}


def rolling(name: str, speed_mps: float, p: AutorallyParameters = AUTORALLY, **more: float) -> Any:
    """Straight ahead at that speed, wheels rolling with it."""
    model = MODELS[name]
    spins = [f for f in model.state._fields if f.startswith("spin")]
    spinning = dict.fromkeys(spins, speed_mps / p.wheel_radius_m)
    return model.state(**{"vx_mps": speed_mps, **spinning, **more})


def steps(
    name: str,
    x: Any,
    u: ActuatorInput,
    seconds: float,
    p: AutorallyParameters = AUTORALLY,
    dt_s: float = 0.001,
):
    """Each state on the way, the first left out."""
    model = MODELS[name]
    for _ in range(round(seconds / dt_s)):
        x = model.state(*rk4(model.rates, x, u, p, dt_s))
        yield x


def run(
    name: str,
    x: Any,
    u: ActuatorInput,
    seconds: float,
    p: AutorallyParameters = AUTORALLY,
    dt_s: float = 0.001,
):
    """The state at the end."""
    *_, last = steps(name, x, u, seconds, p, dt_s)
    return last


def energy_j(name: str, x: Any, p: AutorallyParameters = AUTORALLY) -> float:
    """Kinetic energy of the plane and of the wheels."""
    plane = p.mass_kg * (x.vx_mps**2 + x.vy_mps**2) + p.inertia_z_kgm2 * x.yaw_rate_radps**2
    spins = list(x)[6 : 6 + MODELS[name].wheels]
    per_axle = len(spins) // 2
    inertias = [p.spin_front_kgm2 * 2 / per_axle] * per_axle
    inertias += [p.spin_rear_kgm2 * 2 / per_axle] * per_axle
    return 0.5 * (plane + sum(i * w * w for i, w in zip(inertias, spins, strict=True)))
