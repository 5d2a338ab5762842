"""The model and the rollouts of MPPI, as machine code by numba: 80,000 steps of a car in some ms.

The model is a single track with brush tyres (as the plant's, ``sim_mock/plant/body.py``) whose
wheels turn as fast as the car is to drive. Its side forces are taken at the end of a step, by their
secant stiffness, so that steps of 25 ms are stable at any speed; towards rest it becomes the motion
without side slip. Everything is computed in one order and without fast mathematics: equal inputs
give equal bits on one machine.
"""

from __future__ import annotations

from math import cos, exp, sin, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit

from host_bridge.inputs.paths.mppi.model import ModelParameters
from host_bridge.inputs.paths.path import Floats

_GRAVITY_MPS2 = 9.81  # standard gravity, as the plant has it
_SLOWEST_MPS = 0.05  # a wheel that rolls slower has this speed when its slip is computed
_SMALL = 1e-9  # a slip below which the law is its own tangent
_STRAIGHT_ON = (
    0.2  # the least of 1 - offset * curvature: inside of the centre of a bend there is no way
)
_SLIP_MPS = 0.5  # a slower car's slip is reckoned as that of one so fast: it is 0/0 at rest
_SPEED, _SPAN = 5, 6  # columns of a track
_SEARCHED = 40  # points of the track that a car may pass in one step: 2 m

State = tuple[float, float, float, float, float, float, float]
Wheels = tuple[float, float, float]


class CostTerms(NamedTuple):
    """The weights of a running cost, and its limits; all floats, so that numba takes them.

    The track's cost grows with the square of the offset's share of ``wide_m``, with ``is_flat`` by
    its eighth power. With ``is_progress`` the speed is that along the track, else that of the car.
    ``lateral_mps2`` is the sideways acceleration from which more is dear.
    """

    track: float
    speed: float
    crash: float
    slip: float
    change: float
    lateral: float
    is_flat: float
    is_progress: float
    wide_m: float
    lateral_mps2: float


@njit(cache=True, error_model="numpy")
def _secant_n(slip: float, stiffness_n: float, limit_n: float) -> float:
    """Return the side force of the brush model over its slip (``sim_mock/plant/tyre.py``)."""
    if limit_n <= 0.0:
        return 0.0
    x = abs(stiffness_n * slip / (3.0 * limit_n))
    if x >= 1.0:
        return limit_n / max(abs(slip), _SMALL)
    return stiffness_n / 3.0 * (3.0 - 3.0 * x + x * x)


@njit(cache=True, error_model="numpy")
def _held_by(
    roll_mps: float, slide_mps: float, stiffness_n: float, grip_n: float, along_n: float
) -> float:
    """Return the side force of an axle over the speed at which its wheels slide, in N s/m."""
    limit_n = sqrt(max(grip_n * grip_n - along_n * along_n, 0.0))
    roll = max(abs(roll_mps), _SLOWEST_MPS)
    return float(_secant_n(slide_mps / roll, stiffness_n, limit_n) / roll)


@njit(cache=True, error_model="numpy")
def _across(
    vx: float,
    vy: float,
    rate: float,
    dt_s: float,
    front: Wheels,
    rear: Wheels,
    car: ModelParameters,
) -> tuple[float, float]:  # fmt: skip
    """Return the speed across and the yaw rate after a step, from the forces that there are then.

    It is a system of two equations. ``front`` and ``rear``: cosine and sine of the wheels' angle,
    and what ``_held_by`` returns.
    """
    cf, sf, kf = front
    cr, sr, kr = rear
    ff, fr = kf * cf * cf, kr * cr * cr
    pushed_f, pushed_r = kf * cf * sf * vx, kr * cr * sr * vx
    lf, lr = car.lf_m, car.lr_m
    mass, inertia = car.mass_kg / dt_s, car.inertia_z_kgm2 / dt_s
    a11, a22 = mass + ff + fr, inertia + lf * lf * ff + lr * lr * fr
    a21 = lf * ff - lr * fr
    a12 = car.mass_kg * vx + a21
    b1 = mass * vy + pushed_f + pushed_r
    b2 = inertia * rate + lf * pushed_f - lr * pushed_r
    whole = a11 * a22 - a12 * a21
    return (b1 * a22 - b2 * a12) / whole, (a11 * b2 - a21 * b1) / whole


@njit(cache=True, error_model="numpy")
def advance(
    state: State, wanted_rad: float, accel_mps2: float, dt_s: float, car: ModelParameters
) -> State:
    """Return the state one step later: x, y, yaw, vx, vy, yaw rate, front wheels' angle.

    The position is that of the centre of gravity; m, rad and s.
    """
    x, y, yaw, vx, vy, rate, steer = state
    most_rad = car.steer_rate_radps * dt_s
    steer += min(max(wanted_rad - steer, -most_rad), most_rad)
    accel = min(max(accel_mps2, -vx / dt_s), (car.top_mps - vx) / dt_s)
    cf, sf = cos(steer), sin(steer)
    cr, sr = 1.0, 0.0
    if car.rear_ratio != 0.0:
        cr, sr = cos(car.rear_ratio * steer), sin(car.rear_ratio * steer)
    mass = car.mass_kg
    weight_n = mass * _GRAVITY_MPS2
    load_f = mass * (_GRAVITY_MPS2 * car.lr_m - accel * car.h_cg_m) / (car.lf_m + car.lr_m)
    load_f = min(max(load_f, 0.0), weight_n)
    load_r = weight_n - load_f
    share = load_f / weight_n if car.front_share < 0.0 else car.front_share
    along_f = share * mass * accel
    across_f, across_r = vy + car.lf_m * rate, vy - car.lr_m * rate
    kf = _held_by(
        vx * cf + across_f * sf, vx * sf - across_f * cf,
        car.stiffness_front * load_f, car.mu * load_f, along_f,
    )  # fmt: skip
    kr = _held_by(
        vx * cr + across_r * sr, vx * sr - across_r * cr,
        car.stiffness_rear * load_r, car.mu * load_r, mass * accel - along_f,
    )  # fmt: skip
    after = vx + dt_s * accel
    vy_after, rate_after = _across(after, vy, rate, dt_s, (cf, sf, kf), (cr, sr, kr), car)
    turned = 0.5 * dt_s * (rate + rate_after)
    c, s = cos(yaw + 0.5 * turned), sin(yaw + 0.5 * turned)
    along, across = 0.5 * dt_s * (vx + after), 0.5 * dt_s * (vy + vy_after)
    return (
        x + along * c - across * s,
        y + along * s + across * c,
        yaw + turned,
        after,
        vy_after,
        rate_after,
        steer,
    )


@njit(cache=True, error_model="numpy")
def _nearest(x: float, y: float, at: int, track: Floats, is_loop: bool) -> tuple[int, float]:
    """Return the number of the track's point behind a place, from one near by, and the offset."""
    last = len(track) - 1
    for _ in range(_SEARCHED):
        dx, dy = x - track[at, 0], y - track[at, 1]
        ahead_m = dx * track[at, 2] + dy * track[at, 3]
        if ahead_m > track[at, _SPAN] and (is_loop or at < last):
            at = at + 1 if at < last else 0
        elif ahead_m < 0.0 and (is_loop or at > 0):
            before = at - 1 if at > 0 else last
            bx, by = x - track[before, 0], y - track[before, 1]
            if bx * track[before, 2] + by * track[before, 3] > track[before, _SPAN]:
                break  # in the wedge outside of a corner
            at = before
        else:
            break
    dx, dy = x - track[at, 0], y - track[at, 1]
    return at, track[at, 2] * dy - track[at, 3] * dx


@njit(cache=True, error_model="numpy")
def _running_cost(
    state: State,
    moved: tuple[float, float],
    at: int,
    left_m: float,
    accel_y: float,
    track: Floats,
    fade: float,
    cost: CostTerms,
) -> float:
    """Return the cost of being there: track, speed, crash and slip (Goldfain et al., eq. S5).

    ``moved`` is the speed of the position in x and y.
    """
    vx = state[3]
    share = abs(left_m) / cost.wide_m
    edge = share * share
    if cost.is_flat > 0.0:
        edge = edge * edge * edge * edge
    speed = vx
    if cost.is_progress > 0.0:
        ahead = moved[0] * track[at, 2] + moved[1] * track[at, 3]
        speed = ahead / max(1.0 - left_m * track[at, 4], _STRAIGHT_ON)
    slow = track[at, _SPEED] - speed
    over = max(abs(accel_y) - cost.lateral_mps2, 0.0)
    slip = state[4] / max(vx, _SLIP_MPS)
    found = cost.track * edge + cost.speed * slow * slow
    found += cost.slip * slip * slip + cost.lateral * over * over
    if share > 1.0:
        found += cost.crash * fade
    return float(found)


@njit(cache=True, error_model="numpy")
def rollout_costs(
    begin: State,
    at: int,
    track: Floats,
    is_loop: bool,
    controls: Floats,
    noise: Floats,
    dt_s: float,
    car: ModelParameters,
    cost: CostTerms,
    costs: Floats,
) -> None:
    """Put the cost of each sample into ``costs`` (k,).

    ``controls`` (t, 2): angle in rad and acceleration in m/s², ``noise`` (k, n, 2) at n places of
    the horizon, straight in between. ``track`` (m, 7): x, y, direction x and y, curvature, speed,
    span. ``at`` is a point of the track near the car.
    """
    steps, spans = len(controls), noise.shape[1] - 1
    per = steps // spans
    for k in range(len(costs)):
        state, here, total, fade = begin, at, 0.0, 1.0
        wanted_before = controls[0, 0] + noise[k, 0, 0]
        for t in range(steps):
            j, part = t // per, (t % per) / per
            wanted = controls[t, 0] + (1.0 - part) * noise[k, j, 0] + part * noise[k, j + 1, 0]
            accel = controls[t, 1] + (1.0 - part) * noise[k, j, 1] + part * noise[k, j + 1, 1]
            wanted = min(max(wanted, -car.steer_max_rad), car.steer_max_rad)
            accel = min(max(accel, -car.decel_mps2), car.accel_mps2)
            x, y, vy = state[0], state[1], state[4]
            state = advance(state, wanted, accel, dt_s, car)
            here, left_m = _nearest(state[0], state[1], here, track, is_loop)
            accel_y = (state[4] - vy) / dt_s + state[3] * state[5]
            moved = ((state[0] - x) / dt_s, (state[1] - y) / dt_s)
            total += _running_cost(state, moved, here, left_m, accel_y, track, fade, cost)
            change = (wanted - wanted_before) / dt_s
            total += cost.change * change * change
            wanted_before = wanted
            fade *= 0.9  # eq. S5: a crash far ahead counts less
        costs[k] = total


@njit(cache=True, error_model="numpy")
def weighted_noise(costs: Floats, noise: Floats, temperature: float) -> Floats:
    """Return the mean of the noise (n, 2), each sample weighted by exp(-cost / temperature)."""
    least = costs.min()
    found = np.zeros(noise.shape[1:])
    whole = 0.0
    for k in range(len(costs)):
        weight = exp(-(costs[k] - least) / temperature)
        whole += weight
        for j in range(noise.shape[1]):
            found[j, 0] += weight * noise[k, j, 0]
            found[j, 1] += weight * noise[k, j, 1]
    return found / whole
