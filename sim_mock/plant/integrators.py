"""One step of a body: the choice of its model, and the integrators.

The default is ``rk2`` (midpoint). An F1TENTH that turns in at 3 m/s with steps of 1 ms is off after
one second by 4e-3 m with Euler, 2e-7 m with rk2, 6e-11 m with rk4 (test_convergence.py in the tests
prints them and the orders 1, 2, 4), and the whole plant takes 1 : 1.3 : 2 of the time
(bench_plant.py). Less than a micrometre is below any sensor, so more than rk2 gains nothing.
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
    free_speeds,
    pull_share,
    side_impulses_ns,
    within_grip,
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
    """Step by semi-implicit Euler: speeds, then positions with the new speeds. First order."""
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
    """Step by the midpoint rule. Second order. ``_moved`` is inlined, as this is the hot path."""
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
    """Step by the classical Runge-Kutta rule. Fourth order."""
    k1 = derivatives(x, u, p)
    k2 = derivatives(_moved(x, k1, 0.5 * dt_s), u, p)
    k3 = derivatives(_moved(x, k2, 0.5 * dt_s), u, p)
    k4 = derivatives(_moved(x, k3, dt_s), u, p)
    # The classic Runge-Kutta method: weights 1, 2, 2 and 1 of 6
    x = _moved(_moved(x, k1, dt_s / 6.0), k4, dt_s / 6.0)
    return _moved(_moved(x, k2, dt_s / 3.0), k3, dt_s / 3.0)


INTEGRATORS: dict[str, Integrator] = {"euler": euler, "rk2": rk2, "rk4": rk4}


def step_body(
    s: BodyState, dt_s: float, u: BodyInput, p: BodyParameters, integrate: Integrator
) -> bool:
    """Advance ``s`` by ``dt_s`` seconds with ``u`` held. Return True if it rolled without slip."""
    rate = s.yaw_rate_radps
    square = s.vx_mps * s.vx_mps + s.vy_mps * s.vy_mps + p.lf_m * p.lr_m * rate * rate
    low = p.kinematic_below_mps
    if square <= low * low:
        if _can_roll(s, dt_s, u, p):
            roll(s, dt_s, u, p)
            return True
        _slide(s, dt_s, u, p)
        return False
    if square < (BAND * low) * (BAND * low):
        free = free_speeds(s, dt_s, u, p)
        _integrate(s, dt_s, u, p, integrate)
        _draw(s, pull_share(square, dt_s, p), free, dt_s, u, p)
    else:
        _integrate(s, dt_s, u, p, integrate)
    return False


def _integrate(
    s: BodyState, dt_s: float, u: BodyInput, p: BodyParameters, integrate: Integrator
) -> None:
    if integrate is rk2:  # called by name, so that mypyc compiles a direct call
        s.assign(rk2(s.values(), dt_s, u, p))
    else:
        s.assign(integrate(s.values(), dt_s, u, p))


def _can_roll(s: BodyState, dt_s: float, u: BodyInput, p: BodyParameters) -> bool:
    """Return whether the tyres' grip can remove the present side slip within one step."""
    vx = without_slip_mps(s, u, 0.0, p)
    wanted_ns = side_impulses_ns(vx * u.sway - s.vy_mps, vx * u.turn_per_m - s.yaw_rate_radps, u, p)
    return within_grip((0.0, 0.0), wanted_ns, dt_s, u) >= 1.0


def _slide(s: BodyState, dt_s: float, u: BodyInput, p: BodyParameters) -> None:
    """Advance a slow car that slides: its tyres oppose the slide by all their grip.

    Their impulse ends the slip or falls short of it, so nothing chatters at any low speed.
    """
    x, y, yaw, vx, vy, rate = s.values()
    s.assign(free_speeds(s, dt_s, u, p))
    _draw(s, 1.0, s.values(), dt_s, u, p)
    c, n = cos(yaw + 0.5 * dt_s * rate), sin(yaw + 0.5 * dt_s * rate)
    along_m, across_m = 0.5 * dt_s * (vx + s.vx_mps), 0.5 * dt_s * (vy + s.vy_mps)
    s.x_m = x + along_m * c - across_m * n
    s.y_m = y + along_m * n + across_m * c
    s.yaw_rad = yaw + 0.5 * dt_s * (rate + s.yaw_rate_radps)


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


def _draw(
    s: BodyState, share: float, free: State, dt_s: float, u: BodyInput, p: BodyParameters
) -> None:
    """Remove that share of the side slip, or what the tyres' grip allows.

    ``free`` holds the speeds without the impulses that the tyres have given in this step.
    """
    vx = without_slip_mps(s, u, 0.0, p)
    along, across = vx - s.vx_mps, vx * u.sway - s.vy_mps
    turned = vx * u.turn_per_m - s.yaw_rate_radps
    given_ns = side_impulses_ns(s.vy_mps - free[4], s.yaw_rate_radps - free[5], u, p)
    wanted_ns = side_impulses_ns(share * across, share * turned, u, p)
    share *= within_grip(given_ns, wanted_ns, dt_s, u)
    s.vx_mps += share * along
    s.vy_mps += share * across
    s.yaw_rate_radps += share * turned
