"""Made cars whose numbers are known, and faults that the model does not have; their drives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, tan

import numpy as np

from calibration.arrays import Floats
from calibration.bayesian_fit.linearised_run import differing_scales
from calibration.bayesian_fit.parameters import FIT_PARAMETER_NAMES, FIT_PARAMETERS, known_values
from calibration.bayesian_fit.variance_priors import DIFFERING, SCALES
from calibration.logs.run import Commands, PoseTrack, Run
from calibration.simulation.command_queue import CommandChange
from calibration.simulation.poses import Poses, as_odometry
from calibration.simulation.steering_model import wheel_shares
from calibration.simulation.twin import STEP_S, Twin, commands_in_effect
from host_bridge.sharing.services import make_host

NIGEL = make_host().vehicles.load("nigel")
KNOWN = known_values(NIGEL)
TWIN = Twin(NIGEL)
FAULTS = ("free play", "lag", "slip")
FAR = 2.0  # spreads from the known value, at most
SAMPLE_S = 0.14  # of an odometry, as the real one's
FITTED, UNSEEN = 3, 1
LAG_STEP_S = 0.05
SIDES = (
    *((-0.3, 0.1, 0.35, 0.1), (0.3, -0.1, -0.35, -0.1)),
    *((0.1, 0.3, 0.0, -0.2), (-0.2, 0.2, -0.1, 0.1)),
)


@dataclass(frozen=True)
class Car:
    """``scales`` as a fit's; ``fault`` is empty or one of FAULTS, ``size`` how bad it is."""

    values: dict[str, float]
    scales: Floats
    fault: str
    size: float


def car(seed: int, fault: str = "") -> Car:
    """Drawn from the priors of the fit, but for the queue, which has to let a drive be one."""
    rng = np.random.default_rng([seed, FAULTS.index(fault) + 1 if fault else 0])
    values = {p.name: _drawn(rng, p.name) for p in FIT_PARAMETERS}
    scales = np.array([s.prior_median * exp(s.spread * float(rng.normal())) for s in SCALES])
    scales[:3] = 0.006, 0.01, 0.3  # what the real Nigel's odometry has
    scales[7:9] = 0.0  # no parameter unexplained
    size = {"": 0.0, "free play": rng.uniform(0.03, 0.08), "lag": rng.uniform(0.4, 0.9)}
    return Car(values, scales, fault, float(size.get(fault, rng.uniform(0.1, 0.25))))


def _drawn(rng: np.random.Generator, name: str) -> float:
    ranges = {"queue_delay_s": (0.05, 0.6), "queue_s_per_message": (0.0005, 0.001)}
    if name in ranges:
        return float(rng.uniform(*ranges[name]))
    (p,) = [one for one in FIT_PARAMETERS if one.name == name]
    while True:  # a prior has no heap of cars at the edge of what can be
        value = p.value(float(rng.normal()), KNOWN[name])
        if abs(p.standardised(value, KNOWN[name])) <= FAR and p.low < value < p.high:
            return value


def drives(made: Car, seed: int) -> list[Run]:
    """Some to fit on and one not: each with four steerings, come to from either side."""
    rng = np.random.default_rng([seed, 7])
    trim = made.values["steer_trim_norm"]
    found = []
    for sides in SIDES[: FITTED + UNSEEN]:
        steering = np.clip(trim + np.array(sides) + rng.uniform(-0.03, 0.03), -0.95, 0.95)
        found.append(_seen(made, _messages(steering), rng))
    return found


def _messages(steering: Floats) -> Commands:
    """Throttle and steering by turns, first 250 and then 2000 a second, at last a 0 of each."""
    slow, fast = np.arange(2.0, 2.6, 1 / 250), np.arange(2.6, 5.2, 1 / 2000)
    last = fast[-1] + np.array([1e-4, 2e-4])
    times_s = np.concatenate([slow, fast, last])
    is_steering = np.arange(len(times_s)) % 2 == 1
    number = len(steering) * np.arange(len(times_s)) // len(times_s)
    values = np.where(is_steering, steering[number], 1.0)
    values[-2:] = 0.0
    return Commands("made_commands.csv", "", times_s, is_steering, values)


def _seen(made: Car, commands: Commands, rng: np.random.Generator) -> Run:
    """One drive: the car as it is that day, its fault, and its odometry."""
    values, scales = dict(made.values), made.scales
    values["full_effort_mps"] *= exp(scales[3] * rng.normal())
    values["steer_trim_norm"] += scales[4] * rng.normal()
    values["queue_delay_s"] = max(values["queue_delay_s"] + scales[5] * rng.normal(), 0.0)
    by = differing_scales(scales) * rng.normal(size=len(DIFFERING))
    for name, step in zip(DIFFERING, by, strict=True):
        p = FIT_PARAMETERS[FIT_PARAMETER_NAMES.index(name)]
        values[name] = p.value(p.standardised(values[name], KNOWN[name]) + step, KNOWN[name])
    turned_rad = scales[6] * rng.normal()
    end_s = 3.5 + values["queue_delay_s"] + values["queue_s_per_message"] * len(commands.t_s)
    times_s = np.arange(0.1, end_s, SAMPLE_S)
    run = Run(commands, PoseTrack("made_odometry.csv", "", times_s, *np.zeros((3, len(times_s)))))
    schedule = spoilt(made, commands_in_effect(run, values))
    own = TWIN.drive(TWIN.tuned(values), schedule, times_s, STEP_S)
    poses = as_odometry(own, (0.0, 0.0, turned_rad), values["mount_yaw_rad"], values["mount_x_m"])
    # the odometry's own start is 0: it cannot know that it is turned
    x, y, yaw = _noise(times_s, scales, rng)
    yaw = yaw + poses.yaw_rad - np.where(times_s < commands.t_s[0], turned_rad, 0.0)
    seen = Poses(poses.x_m + x, poses.y_m + y, yaw)
    o = replace(run.odometry, x_m=seen.x_m, y_m=seen.y_m, yaw_rad=seen.yaw_rad)
    return Run(commands, o)


def _noise(times_s: Floats, scales: Floats, rng: np.random.Generator) -> Floats:
    fresh = rng.normal(size=(3, len(times_s)))
    rest = exp(-SAMPLE_S / scales[2])
    for i in range(1, len(times_s)):
        fresh[:, i] = rest * fresh[:, i - 1] + (1.0 - rest**2) ** 0.5 * fresh[:, i]
    return np.asarray(fresh * scales[[0, 0, 1], None])


def spoilt(made: Car, schedule: Sequence[CommandChange]) -> list[CommandChange]:
    """What the wheels and the motors of a car with this fault make of its commands.

    Free play: the steering rests ``size`` of full lock short of where it comes to. Lag: it gets
    there with a time constant of ``size`` s. Slip: full lock would cost ``size`` of the throttle
    at a bend of 1.5 /m, and with the square of the bend.
    """
    if made.fault == "free play":
        return _with_play(schedule, made.size)
    if made.fault == "lag":
        return _with_lag(schedule, made.size)
    if made.fault == "slip":
        return [_slipping(one, made) for one in schedule]
    return list(schedule)


def _with_play(schedule: Sequence[CommandChange], play_norm: float) -> list[CommandChange]:
    found, before, side = [], 0.0, 0.0
    for one in schedule:
        side = float(np.sign(one.steering_norm - before)) or side
        before = one.steering_norm
        found.append(one._replace(steering_norm=one.steering_norm - side * play_norm))
    return found


def _with_lag(schedule: Sequence[CommandChange], lag_s: float) -> list[CommandChange]:
    ends_s = [*(one.t_s for one in schedule[1:]), schedule[-1].t_s + 3.0]
    found, steering = [], 0.0
    for one, end_s in zip(schedule, ends_s, strict=True):
        for t_s in np.arange(one.t_s, end_s, LAG_STEP_S):
            found.append(CommandChange(float(t_s), one.throttle_norm, steering))
            steering += (one.steering_norm - steering) * (1.0 - exp(-LAG_STEP_S / lag_s))
    return found


def _slipping(one: CommandChange, made: Car) -> CommandChange:
    share = float(wheel_shares([one.steering_norm], made.values)[0])
    bend_per_m = 2.0 * tan(share * NIGEL.steer_max_rad) / NIGEL.wheelbase_m
    lost = min(made.size * (bend_per_m / 1.5) ** 2, 0.5)
    return one._replace(throttle_norm=one.throttle_norm * (1.0 - lost))
