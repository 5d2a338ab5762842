"""The car's plant, driven open loop by a driver's log: poses as its odometry would tell them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, cos, sin
from typing import NamedTuple

import numpy as np

from calibration.applied import replaced
from calibration.backlog import Change, changes, departures_s
from calibration.parameters import Values, plant_parameters
from calibration.samples import Floats, Run
from host_bridge.domain import Vehicle
from host_bridge.errors import VehicleFileFault
from sim_mock.plant.body import BodyState
from sim_mock.plant.parameters import PlantParameters
from sim_mock.plant.vehicle_plant import FULL_DUTY, Plant

STEP_S = 0.001  # what the plant is tuned to
SETTLE_S = 0.5  # before the first command, so that the wheels stand where steering 0 puts them
QUIET_S = 0.2  # after a change: longer than any servo's dead time
STEADY_PER_S2 = 2e-5  # m/s^2 and rad/s^2: what is left is worth a tenth of a millimetre in a run


@dataclass(frozen=True)
class Poses:
    """Where something is, sample by sample."""

    x_m: Floats
    y_m: Floats
    yaw_rad: Floats


class Twin:
    """A vehicle's plant, read once and driven often.

    Raises errors.VehicleFileFault for a vehicle with channels that such a log does not drive.
    """

    def __init__(self, vehicle: Vehicle) -> None:
        self.vehicle = vehicle
        self._known = plant_parameters(vehicle)
        self._curves = [
            np.array(one["curve"]).T if one["kind"] == "servo_steering" else None
            for one in vehicle.channels
        ]
        self.outputs_of(Change(0.0, 0.0, 0.0))

    def tuned(self, values: Values) -> PlantParameters:
        """The vehicle's plant with these values."""
        return replaced(self._known, values, self.vehicle.steer_max_rad)

    def predict(self, values: Values, run: Run, step_s: float = STEP_S) -> Poses:
        """Poses at the odometry's times, from the run's start pose on, never re-posed."""
        own = self.drive(self.tuned(values), arrived(run, values), run.odometry.t_s, step_s)
        return as_odometry(own, run.start_pose(), values["mount_yaw_rad"], values["mount_x_m"])

    def drive(
        self, parameters: PlantParameters, todo: Sequence[Change], times_s: Floats, step_s: float
    ) -> Poses:
        """The centre of gravity's poses at ``times_s``, from rest in the origin."""
        plan = [Change(todo[0].t_s - SETTLE_S, 0.0, 0.0), *todo]
        plant = Plant(parameters, seed=0)  # seeds its sensors, which nobody reads here
        poses = np.zeros((len(times_s), 3))
        now, outputs = plan[0], self.outputs_of(plan[0])
        for leg in _legs(plan, times_s):
            if leg.now is not now:
                now, outputs = leg.now, self.outputs_of(leg.now)
            if leg.now is not plan[-1] or leg.now.throttle_norm or plant.truth.vx_mps:
                _march(plant, leg, outputs, step_s)
            if leg.row is not None:
                poses[leg.row] = plant.truth.x_m, plant.truth.y_m, plant.truth.yaw_rad
        return Poses(*poses.T)

    def outputs_of(self, now: Change) -> list[int]:
        """What the old stack's board puts out: the servos' pulses in ns, throttle as duty."""
        steer_rad = now.steering_norm * self.vehicle.steer_max_rad
        pairs = zip(self.vehicle.channels, self._curves, strict=True)
        return [self._output(one, curve, steer_rad, now) for one, curve in pairs]

    def _output(
        self, channel: dict[str, object], curve: Floats | None, steer_rad: float, now: Change
    ) -> int:
        kind = channel["kind"]
        if curve is not None:
            return round(float(np.interp(steer_rad, *curve)))
        if kind == "h_bridge":
            return round(now.throttle_norm * FULL_DUTY)
        if kind == "none":
            return 0
        raise VehicleFileFault(
            f"cannot replay throttle on a channel of kind {kind}",
            where=self.vehicle.path,
            expected="servo_steering, h_bridge or none",
            remedy="replay logs of cars with H-bridges, such as nigel",
        )


def predict(vehicle: Vehicle, values: Values, run: Run, step_s: float = STEP_S) -> Poses:
    """The twin's poses at the odometry's times; raises as ``Twin`` does."""
    return Twin(vehicle).predict(values, run, step_s)


def arrived(run: Run, values: Values) -> list[Change]:
    """The run's commands, as they get through the queue."""
    queue = values["queue_delay_s"], values["queue_s_per_message"]
    return changes(run.commands, departures_s(run.commands.t_s, *queue))


class _Leg(NamedTuple):
    """A span with the same commands, ``since_s`` after they changed; at its end, perhaps, a sample:
    its row."""

    now: Change
    since_s: float
    span_s: float
    row: int | None


def _legs(plan: Sequence[Change], times_s: Floats) -> Iterator[_Leg]:
    """From the first change to the last sample, cut at each change and at each sample."""
    end_s = float(times_s[-1])
    for now, then in pairwise([*plan, Change(end_s, 0.0, 0.0)]):
        t_s, until_s = now.t_s, min(then.t_s, end_s)
        for row in np.flatnonzero((times_s > now.t_s) & (times_s <= until_s)):
            yield _Leg(now, t_s - now.t_s, float(times_s[row]) - t_s, int(row))
            t_s = float(times_s[row])
        if t_s < until_s:
            yield _Leg(now, t_s - now.t_s, until_s - t_s, None)


def _march(plant: Plant, leg: _Leg, outputs: Sequence[int], step_s: float) -> None:
    """In equal steps that end with the leg, so that no moment of change is rounded.

    Where nothing changes any more the rest is one leap along the circle: exact, and at no cost.
    """
    count, truth = ceil(leg.span_s / step_s), plant.truth
    dt_s = leg.span_s / count
    quiet = ceil((QUIET_S - leg.since_s) / dt_s)
    for i in range(count):
        vx, vy, rate = truth.vx_mps, truth.vy_mps, truth.yaw_rate_radps
        plant.step(dt_s, outputs, True)
        if i < quiet:
            continue
        most = max(abs(truth.vx_mps - vx), abs(truth.vy_mps - vy), abs(truth.yaw_rate_radps - rate))
        if most <= STEADY_PER_S2 * dt_s:
            _leap(truth, (count - 1 - i) * dt_s)
            return


def _leap(truth: BodyState, span_s: float) -> None:
    """Along a circle, as long as speeds stay what they are."""
    half_rad = 0.5 * truth.yaw_rate_radps * span_s
    chord = span_s * (sin(half_rad) / half_rad if half_rad else 1.0)
    c, s = cos(truth.yaw_rad + half_rad), sin(truth.yaw_rad + half_rad)
    truth.x_m += chord * (c * truth.vx_mps - s * truth.vy_mps)
    truth.y_m += chord * (s * truth.vx_mps + c * truth.vy_mps)
    truth.yaw_rad += 2.0 * half_rad


def as_odometry(
    own: Poses, start: tuple[float, float, float], mount_yaw_rad: float, mount_x_m: float
) -> Poses:
    """Poses of a car that began at the origin, as an odometry mounted so tells them."""
    x_m, y_m, yaw_rad = start
    turn_rad = yaw_rad + mount_yaw_rad
    ahead_m = own.x_m + mount_x_m * (np.cos(own.yaw_rad) - 1.0)
    aside_m = own.y_m + mount_x_m * np.sin(own.yaw_rad)
    c, s = np.cos(turn_rad), np.sin(turn_rad)
    return Poses(
        x_m + c * ahead_m - s * aside_m, y_m + s * ahead_m + c * aside_m, yaw_rad + own.yaw_rad
    )
