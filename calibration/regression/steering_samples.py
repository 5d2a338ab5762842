"""Drives resampled on an even grid for the fit of the steering, and delays applied to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter  # type: ignore[import-untyped]

from calibration.arrays import Floats
from calibration.logs.trace import DriveTrace

GRID_S = 0.01  # to which a log is resampled
BLOCK_S = 1.0  # samples of one block are treated as correlated
SLOW_MPS = 0.05  # below this speed, yaw rate over speed is noise
_SMOOTH_S = 0.5  # longer than the noise of wheel counts, shorter than a change of speed
_COME_RAD = 0.01  # least steering one way that defines the side of approach


@dataclass(frozen=True)
class SteeringSamples:
    """One drive's commands and motion on an even grid; where ``use`` is false it only leads in."""

    command_rad: Floats
    speed_mps: Floats
    yaw_radps: Floats
    use: npt.NDArray[np.bool_]


def samples_of(trace: DriveTrace, counts_ratio: float) -> list[SteeringSamples]:
    """Return the samples of a drive, or none if a series that they need is missing."""
    parts = trace.steering, trace.inertial, trace.travel
    if not all(part.is_present for part in parts):
        return []
    begin, end = max(p.t_s[0] for p in parts), min(p.t_s[-1] for p in parts)
    times_s = np.arange(begin, end, GRID_S)
    speed_mps = counts_ratio * trace.speed_mps(times_s)
    yaw_radps = np.interp(times_s, trace.inertial.t_s, trace.inertial.values[0])
    command_rad = trace.at("steering", times_s)
    is_moving = np.abs(speed_mps) > SLOW_MPS
    # Half a second before and after is included, in which the gyro shows its bias.
    around = np.convolve(is_moving, np.ones(int(1.0 / GRID_S)), "same") > 0
    return [SteeringSamples(command_rad, speed_mps, yaw_radps, around)] if len(times_s) else []


def delayed_and_lagged(command_rad: Floats, delay_s: float, lag_s: float) -> Floats:
    """Return the commands delayed, then lagged; the first one holds before the beginning."""
    places = np.arange(len(command_rad)) - delay_s / GRID_S
    delayed = np.interp(places, np.arange(len(command_rad)), command_rad)
    if lag_s < 1e-4:  # s: no lag, and the grid has a hundred times as much
        return np.asarray(delayed)
    keep = float(np.exp(-GRID_S / lag_s))
    found, _ = lfilter([1.0 - keep], [1.0, -keep], delayed, zi=[keep * delayed[0]])
    return np.asarray(found)


def approach_sides(command_rad: Floats) -> Floats:
    """Return 1 once the steering moved enough to the left, -1 to the right, 0 before either."""
    sides, side, last = np.zeros(len(command_rad)), 0.0, float(command_rad[0])
    for i, command in enumerate(command_rad):
        if abs(command - last) > _COME_RAD:
            side = 1.0 if command > last else -1.0
        if (command - last) * side > 0.0:
            last = float(command)  # the farthest on this side: it has to come back from there
        sides[i] = side
    return sides


def smoothed(values: Floats) -> Floats:
    """Return the running mean over half a second."""
    width = 2 * int(_SMOOTH_S / GRID_S / 2) + 1
    padded = np.pad(values, width // 2, mode="edge")
    return np.asarray(np.convolve(padded, np.ones(width) / width, "valid"))


def slope_per_s(values: Floats) -> Floats:
    """Return the derivative per second, over 40 ms as samples are noisy."""
    reach = 2
    padded = np.pad(values, reach, mode="edge")
    return np.asarray((padded[2 * reach :] - padded[: -2 * reach]) / (2 * reach * GRID_S))
