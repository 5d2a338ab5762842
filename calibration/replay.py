"""A driver's log, driven again: how far the twin is from where the car was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from calibration.fit import Estimate, fit
from calibration.kinematic import kinematic, published
from calibration.parameters import Values, known_values, plant_parameters
from calibration.samples import Floats, Run
from calibration.twin import STEP_S, Poses, predict
from host_bridge.domain import Vehicle

# The wobble of laser scan matching while the car drives: what residuals are measured in.
POSITION_SPREAD_M = 0.01
YAW_SPREAD_RAD = 0.01


class Summary(NamedTuple):
    """Root mean square, worst and last of a run's errors; yaw by its amount."""

    position_rms_m: float
    position_worst_m: float
    position_last_m: float
    yaw_rms_rad: float
    yaw_worst_rad: float
    yaw_last_rad: float


@dataclass(frozen=True)
class Errors:
    """Sample by sample: the distance from where the car was, and predicted less measured yaw."""

    position_m: Floats
    yaw_rad: Floats

    def summary(self, since: int) -> Summary:
        """Of the samples from number ``since`` on."""
        position, yaw = self.position_m[since:], np.abs(self.yaw_rad[since:])
        return Summary(*_summed(position), *_summed(yaw))


@dataclass(frozen=True)
class Replay:
    """One run beside what the twin and the untuned kinematic model make of its commands."""

    run: Run
    twin: Poses
    untuned: Poses

    @property
    def since(self) -> int:
        """Number of the first sample after the first command; errors count from there."""
        return int(np.searchsorted(self.run.odometry.t_s, self.run.commands.t_s[0]))

    def errors(self, poses: Poses) -> Errors:
        o = self.run.odometry
        distance_m = np.hypot(poses.x_m - o.x_m, poses.y_m - o.y_m)
        return Errors(distance_m, poses.yaw_rad - o.yaw_rad)


def replay(vehicle: Vehicle, values: Values, run: Run) -> Replay:
    """Raises errors.VehicleFileFault for a vehicle that such a log does not drive."""
    body = plant_parameters(vehicle).body
    twin = predict(vehicle, values, run, STEP_S)
    return Replay(run, twin, kinematic(run, published(vehicle), body))


def calibrate(vehicle: Vehicle, runs: Sequence[Run]) -> list[Estimate]:
    """The parameters that fit these runs best. Raises errors.VehicleFileFault."""
    return fit(
        lambda values: [_residual(vehicle, values, run) for run in runs], known_values(vehicle)
    )


def _residual(vehicle: Vehicle, values: Values, run: Run) -> Floats:
    poses, o = predict(vehicle, values, run), run.odometry
    since = int(np.searchsorted(o.t_s, run.commands.t_s[0]))
    columns = (
        (poses.x_m - o.x_m) / POSITION_SPREAD_M,
        (poses.y_m - o.y_m) / POSITION_SPREAD_M,
        (poses.yaw_rad - o.yaw_rad) / YAW_SPREAD_RAD,
    )
    return np.column_stack(columns)[since:]


def _summed(amounts: Floats) -> tuple[float, float, float]:
    return float(np.sqrt(np.mean(amounts**2))), float(amounts.max()), float(amounts[-1])
