"""Replay of a driver's log through the twin: how far its prediction is from the real car."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import directed_hausdorff  # type: ignore[import-untyped]

from calibration.arrays import Floats
from calibration.bayesian_fit.linearisation import (
    first_sample,
)
from calibration.bayesian_fit.parameters import known_values
from calibration.files.calibration import Calibration
from calibration.logs.run import Run
from calibration.replay.band import Band, band
from calibration.simulation.kinematic import kinematic, kinematic_numbers
from calibration.simulation.plant_numbers import Values, plant_parameters
from calibration.simulation.poses import Poses
from calibration.simulation.twin import Twin
from host_bridge.core import Vehicle


class ErrorSummary(NamedTuple):
    """Root mean square, worst and last value of a run's errors; yaw as an absolute value."""

    position_rms_m: float
    position_worst_m: float
    position_last_m: float
    yaw_rms_rad: float
    yaw_worst_rad: float
    yaw_last_rad: float


@dataclass(frozen=True)
class PoseErrors:
    """Errors of each sample: distance from the car's position, and predicted less measured yaw."""

    position_m: Floats
    yaw_rad: Floats

    def summary(self, first_sample: int) -> ErrorSummary:
        """Return the summary of the samples from index ``first_sample`` on."""
        position, yaw = self.position_m[first_sample:], np.abs(self.yaw_rad[first_sample:])
        return ErrorSummary(*_summed(position), *_summed(yaw))


@dataclass(frozen=True)
class Replay:
    """One run with the predictions of the twin and of the untuned kinematic model.

    ``band`` is the prediction band of the calibration, if there is one.
    """

    run: Run
    twin: Poses
    untuned: Poses
    band: Band | None = None

    @property
    def first_sample(self) -> int:
        """The index of the first sample after the first command; errors count from there."""
        return first_sample(self.run)

    def errors(self, poses: Poses) -> PoseErrors:
        o = self.run.odometry
        distance_m = np.hypot(poses.x_m - o.x_m, poses.y_m - o.y_m)
        return PoseErrors(distance_m, poses.yaw_rad - o.yaw_rad)

    def is_inside(self) -> np.ndarray:
        """Return whether the car was inside the band, for each sample since the first command."""
        if self.band is None:
            return np.zeros(0, bool)
        errors = self.errors(self.twin)
        return self.band.holds(
            errors.position_m[self.first_sample :], errors.yaw_rad[self.first_sample :]
        )

    @property
    def car(self) -> Poses:
        """The car's poses, as its odometry saw them."""
        o = self.run.odometry
        return Poses(o.x_m, o.y_m, o.yaw_rad)


def replay(
    vehicle: Vehicle, values: Values, run: Run, calibration: Calibration | None = None
) -> Replay:
    """Return the replay of one run, with a band if there is a ``calibration`` (of these values).

    Raises errors.VehicleFileFault for a vehicle that such a log does not drive.
    """
    body, twin = plant_parameters(vehicle).body, Twin(vehicle)
    there = None
    if calibration and calibration.fit:
        there = band(twin, known_values(vehicle), calibration.fit, run)
    poses = twin.predict(values, run)
    return Replay(run, poses, kinematic(run, kinematic_numbers(vehicle), body), there)


def speed_and_yaw_rate(t_s: Floats, poses: Poses) -> tuple[Floats, Floats]:
    """Return speed in m/s and yaw rate in rad/s by central differences, for car and twin alike."""
    speed_mps = np.hypot(np.gradient(poses.x_m, t_s), np.gradient(poses.y_m, t_s))
    return speed_mps, np.gradient(poses.yaw_rad, t_s)


def path_length_m(poses: Poses, first_sample: int) -> float:
    """Return the length of the path, in straight lines from sample to sample."""
    return float(
        np.hypot(np.diff(poses.x_m[first_sample:]), np.diff(poses.y_m[first_sample:])).sum()
    )


def hausdorff_m(one: Poses, other: Poses) -> float:
    """Return the Hausdorff distance of the two paths, whatever the times at their points."""
    a, b = (_fine(poses) for poses in (one, other))
    return float(max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0]))


def _fine(poses: Poses) -> Floats:
    """Return points of the path a centimetre apart."""
    far_m = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(poses.x_m), np.diff(poses.y_m)))])
    at_m = np.linspace(0.0, far_m[-1], 2 + int(100.0 * far_m[-1]))
    return np.column_stack([np.interp(at_m, far_m, xy) for xy in (poses.x_m, poses.y_m)])


def _summed(amounts: Floats) -> tuple[float, float, float]:
    return float(np.sqrt(np.mean(amounts**2))), float(amounts.max()), float(amounts[-1])
