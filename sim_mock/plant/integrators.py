"""One step of a body: which model holds, and the integrators for it.

The default is ``rk2`` (midpoint). An F1TENTH that turns in at 3 m/s with steps of 1 ms is off after
one second by 4e-3 m with Euler, 2e-7 m with rk2, 6e-11 m with rk4 (test_convergence.py in the
tests prints them and the orders 1, 2, 4), and the whole plant takes 1 : 1.3 : 2 of the time
(bench_plant.py). Less than a micrometre is below any sensor, so more than rk2 buys nothing.
"""

from collections.abc import Callable
from math import cos, sin

from sim_mock.plant.body import (
    BAND,
    BodyInput,
    BodyParameters,
    BodyState,
    State,
    derivatives,
    pull_share,
    without_slip_mps,
)

Integrator = Callable[[State, float, BodyInput, BodyParameters], State]


def _moved(x: State, k: State, h: float) -> State:
    return (
        x[0] + h * k[0],
        x[1] + h * k[1],
        x[2] + h * k[2],
        x[3] + h * k[3],
        x[4] + h * k[4],
        x[5] + h * k[5],
    )


def euler(x: State, dt_s: float, u: BodyInput, p: BodyParameters) -> State:
    """Semi-implicit: speeds first, then positions with the new speeds. First order."""
    k = derivatives(x, u, p)
    vx, vy, rate = x[3] + dt_s * k[3], x[4] + dt_s * k[4], x[5] + dt_s * k[5]
    yaw = x[2] + dt_s * rate
    c, s = cos(yaw), sin(yaw)
    return (
        x[0] + dt_s * (vx * c - vy * s),
        x[1] + dt_s * (vx * s + vy * c),
        yaw,
        vx,
        vy,
        rate,
    )


def rk2(x: State, dt_s: float, u: BodyInput, p: BodyParameters) -> State:
    """Midpoint rule. Second order. ``_moved`` is written out: this is what a plant does all day."""
    k, h = derivatives(x, u, p), 0.5 * dt_s
    middle = (
        x[0] + h * k[0],
        x[1] + h * k[1],
        x[2] + h * k[2],
        x[3] + h * k[3],
        x[4] + h * k[4],
        x[5] + h * k[5],
    )
    k = derivatives(middle, u, p)
    return (
        x[0] + dt_s * k[0],
        x[1] + dt_s * k[1],
        x[2] + dt_s * k[2],
        x[3] + dt_s * k[3],
        x[4] + dt_s * k[4],
        x[5] + dt_s * k[5],
    )


def rk4(x: State, dt_s: float, u: BodyInput, p: BodyParameters) -> State:
    """The classical Runge-Kutta rule. Fourth order."""
    k1 = derivatives(x, u, p)
    k2 = derivatives(_moved(x, k1, 0.5 * dt_s), u, p)
    k3 = derivatives(_moved(x, k2, 0.5 * dt_s), u, p)
    k4 = derivatives(_moved(x, k3, dt_s), u, p)
    x = _moved(_moved(x, k1, dt_s / 6.0), k4, dt_s / 6.0)
    return _moved(_moved(x, k2, dt_s / 3.0), k3, dt_s / 3.0)


INTEGRATORS: dict[str, Integrator] = {"euler": euler, "rk2": rk2, "rk4": rk4}


def step_body(
    s: BodyState, dt_s: float, u: BodyInput, p: BodyParameters, integrate: Integrator
) -> bool:
    """Advance ``s`` by ``dt_s`` seconds with ``u`` held. True if it rolled without side slip."""
    rate = s.yaw_rate_radps
    square = s.vx_mps * s.vx_mps + s.vy_mps * s.vy_mps + p.lf_m * p.lr_m * rate * rate
    low = p.kinematic_below_mps
    if square <= low * low:
        roll(s, dt_s, u, p)
        return True
    if integrate is rk2:  # by name, for a compiler
        s.assign(rk2(s.values(), dt_s, u, p))
    else:
        s.assign(integrate(s.values(), dt_s, u, p))
    if square < (BAND * low) * (BAND * low):
        _draw(s, pull_share(square, dt_s, p), u, p)
    return False


def roll(s: BodyState, dt_s: float, u: BodyInput, p: BodyParameters) -> None:
    """Advance without side slip: along an arc, by the mean of the old and the new speed."""
    force_n = u.force_front_n / u.cos_front + u.force_rear_n / u.cos_rear + u.force_x_n
    old_mps, s.vx_mps = s.vx_mps, without_slip_mps(s, u, force_n * dt_s, p)
    s.vy_mps = s.vx_mps * u.sway
    s.yaw_rate_radps = s.vx_mps * u.turn_per_m
    along_m = 0.5 * dt_s * (old_mps + s.vx_mps)
    turn_rad = along_m * u.turn_per_m
    yaw = s.yaw_rad + 0.5 * turn_rad
    c, n = cos(yaw), sin(yaw)
    s.x_m += along_m * (c - u.sway * n)
    s.y_m += along_m * (n + u.sway * c)
    s.yaw_rad += turn_rad


def _draw(s: BodyState, share: float, u: BodyInput, p: BodyParameters) -> None:
    vx = without_slip_mps(s, u, 0.0, p)
    s.vx_mps += share * (vx - s.vx_mps)
    s.vy_mps += share * (vx * u.sway - s.vy_mps)
    s.yaw_rate_radps += share * (vx * u.turn_per_m - s.yaw_rate_radps)
