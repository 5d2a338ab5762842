"""Model predictive path integral control (MPPI): plans by sampling, forty times a second.

Each plan begins with the one before, tries a thousand variations of it on a model of the car, and
is the mean of all, each weighted by its cost (Williams et al., ICRA 2017; the running cost is that
of Goldfain et al., "AutoRally", 2019, eq. S5). Equal states in equal order give equal plans.
"""

from __future__ import annotations

from math import cos, sin
from typing import NamedTuple

import numpy as np

from host_bridge.inputs.paths.mppi.model import ModelParameters, Track
from host_bridge.inputs.paths.path import Floats

_GRAVITY_MPS2 = 9.81  # standard gravity, as the plant has it
SAMPLES = 1000  # as many as fit into two thirds of a period on one core
STEP_S, STEPS = 0.025, 80  # 40 plans a second, 2 s ahead
PERIOD_US = 25_000  # the same in us
_SPANS = 20  # of the noise, straight in between: a change within 0.1 s is no way to steer a car
_SIGMAS = (0.03, 1.0)  # of the noise, rad and m/s²: tuned on virtual cars
_TEMPERATURE = 40.0  # of the weights; a plan costs some thousands: tuned likewise
_DELAY_STEPS = 2  # a setpoint acts on the wheels 50 ms later: as LAG_S of the other laws
_AHEAD_STEPS = 4  # a speed is reached 0.1 s after it was sent; so much sooner it is sent
# The planned speed is a trajectory of its own: begun anew with each measured one, a brake that is
# too hard would be followed down. Farther from the measured one than this it is none: tuned
_OFF_MPS = 0.5

# Weights of track, speed, crash, slip, change of steering, sideways acceleration; whether the track
# is flat to its edges, and whether speed is that along the track. The first four of AutoRally's are
# the paper's, the others are ours. The race's are tuned on virtual cars.
COSTS = {
    "race": (100.0, 4.25, 10_000.0, 1.75, 0.05, 20.0, 1.0, 1.0),
    "autorally": (100.0, 4.25, 10_000.0, 1.75, 0.05, 20.0, 0.0, 0.0),
}


class PlanRequest(NamedTuple):
    """A car as it was last heard of: the pose of the point that it turns about, and its motion."""

    now_us: int
    x_m: float
    y_m: float
    yaw_rad: float
    speed_mps: float
    yaw_rate_radps: float
    steer_rad: float
    along_m: float  # of the path, near the car


class MppiPlan(NamedTuple):
    """Setpoints to be sent from ``begin_us`` on, one for each ``STEP_S``."""

    begin_us: int
    steer_rad: tuple[float, ...]
    speed_mps: tuple[float, ...]


class PlannerTask(NamedTuple):
    """All that a planner is made from."""

    track: Track
    car: ModelParameters
    cost: str  # a row of COSTS
    wide_m: float  # the car's centre may be so far from the path
    lateral_mps2: float
    behind_m: float  # from the centre of gravity back to the point that the car turns about
    seed: int


class Planner:
    """The planner of one drive."""

    def __init__(self, task: PlannerTask) -> None:
        """Compile the kernel, or load it as it was compiled before. Needs numba."""
        from host_bridge.inputs.paths.mppi import kernel  # numba takes a second to import

        self._kernel = kernel
        self._task = task
        self._cost = kernel.CostTerms(*COSTS[task.cost], task.wide_m, task.lateral_mps2)
        self._random = np.random.default_rng(task.seed)
        self._controls = np.zeros((STEPS, 2))
        self._acting = np.zeros((_DELAY_STEPS, 2))  # sent, and not yet at the wheels
        self._planned_us: int | None = None
        self._speed_mps = 0.0  # as planned for this moment

    def plan(self, request: PlanRequest) -> MppiPlan:
        """Return the setpoints from the request's time on."""
        kernel, task = self._kernel, self._task
        self._shift(request)
        state = self._state(request)
        for wanted_rad, accel_mps2 in self._acting:
            state = kernel.advance(state, wanted_rad, accel_mps2, STEP_S, task.car)
        noise = self._random.standard_normal((SAMPLES, _SPANS + 1, 2)) * _SIGMAS
        noise[0] = 0.0  # the plan as it was is one of them
        costs = np.empty(SAMPLES)
        track = task.track
        at = int(request.along_m / track.spacing_m) % len(track.points)
        kernel.rollout_costs(
            state, at, track.points, track.is_loop, self._controls, noise, STEP_S, task.car,
            self._cost, costs,
        )  # fmt: skip
        mean = kernel.weighted_noise(costs, noise, _TEMPERATURE)
        places = np.arange(STEPS) * (_SPANS / STEPS)
        for i in (0, 1):
            self._controls[:, i] += np.interp(places, np.arange(_SPANS + 1), mean[:, i])
        car = task.car
        np.clip(self._controls[:, 0], -car.steer_max_rad, car.steer_max_rad, self._controls[:, 0])
        np.clip(self._controls[:, 1], -car.decel_mps2, car.accel_mps2, self._controls[:, 1])
        steer_rad = tuple(self._controls[:, 0].tolist())
        return MppiPlan(request.now_us, steer_rad, self._speeds())

    def _shift(self, request: PlanRequest) -> None:
        """Let the time since the last plan pass in it."""
        before_us, self._planned_us = self._planned_us, request.now_us
        count = STEPS if before_us is None else round((request.now_us - before_us) / PERIOD_US)
        if count >= STEPS:  # the first, or after a pause: as it drives
            self._acting[:] = self._controls[:] = request.steer_rad, 0.0
            self._speed_mps = request.speed_mps
        elif count > 0:
            self._speed_mps += STEP_S * float(self._controls[:count, 1].sum())
            sent = np.vstack((self._acting, self._controls[:count]))
            self._acting = sent[-_DELAY_STEPS:].copy()
            last = np.repeat(self._controls[-1:], count, axis=0)
            self._controls = np.vstack((self._controls[count:], last))
        low_mps, high_mps = request.speed_mps - _OFF_MPS, request.speed_mps + _OFF_MPS
        self._speed_mps = min(max(self._speed_mps, low_mps, 0.0), high_mps)

    def _state(self, request: PlanRequest) -> tuple[float, ...]:
        """Return the model's state, of the centre of gravity.

        The speed across is not reported: it is what the rear tyres' slip has to be to hold the car
        on its bend, with the tyres' stiffness at small slips.
        """
        car, ahead_m = self._task.car, self._task.behind_m
        speed, rate = request.speed_mps, request.yaw_rate_radps
        slip = speed * rate / (_GRAVITY_MPS2 * car.stiffness_rear)
        most = car.mu / car.stiffness_rear  # from there on they slide
        slip = min(max(slip, -most), most)
        across = ahead_m * rate - slip * speed
        c, s = cos(request.yaw_rad), sin(request.yaw_rad)
        return (
            request.x_m + ahead_m * c,
            request.y_m + ahead_m * s,
            request.yaw_rad,
            max(speed, 0.0),
            across,
            rate,
            request.steer_rad,
        )

    def _speeds(self) -> tuple[float, ...]:
        """Return the speed setpoints: what is to be reached so much later is sent now."""
        changes = np.cumsum(self._controls[:, 1]) * STEP_S
        speeds: Floats = np.clip(self._speed_mps + changes, 0.0, self._task.car.top_mps)
        last = [speeds[-1]] * _AHEAD_STEPS
        return tuple(np.append(speeds[_AHEAD_STEPS:], last).tolist())
