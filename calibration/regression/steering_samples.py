"""Drives resampled on an even grid for the fit of the steering, and delays applied to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter  # type: ignore[import-untyped]

from calibration.arrays import Floats
from calibration.logs.trace import DriveTrace, Turning

GRID_S = 0.01  # to which a log is resampled
BLOCK_S = 2.0  # samples of one block are treated as correlated: a few times a wander of the wheels
SLOW_MPS = 0.05  # below this speed, yaw rate over speed is noise
_SMOOTH_S = 0.5  # longer than the noise of wheel counts, shorter than a change of speed
_COME_RAD = 0.01  # least steering one way that defines the side of approach


@dataclass(frozen=True)
class SteeringSamples:
    """One drive's commands and motion on an even grid; where ``use`` is false it only leads in.

    ``turning``: how the yaw rate came of tracked poses, None of a gyro. ``is_of_point``: the speed
    is that of a tracked point of the car, not of its driven wheels.
    """

    command_rad: Floats
    speed_mps: Floats
    yaw_radps: Floats
    use: npt.NDArray[np.bool_]
    turning: Turning | None = None
    is_of_point: bool = False

    def commands(self, delay_s: float, lag_s: float) -> Floats:
        """Return the commands delayed, lagged, and blurred as the yaw rate is; where ``use``."""
        found = delayed_and_lagged(self.command_rad, delay_s, lag_s)
        for width_s in self.turning.blurs_s if self.turning else ():
            found = _averaged(found, width_s)
        return np.asarray(found[self.use])


def samples_of(trace: DriveTrace, counts_ratio: float) -> list[SteeringSamples]:
    """Return the samples of a drive, or none if a series that they need is missing."""
    parts = trace.steering, trace.inertial, trace.travel
    if not all(part.is_present for part in parts):
        return []
    begin, end = max(p.t_s[0] for p in parts), min(p.t_s[-1] for p in parts)
    times_s = np.arange(begin, end, GRID_S)
    is_of_point = bool(trace.turning) and not trace.counts_per_m
    speed_mps = (1.0 if is_of_point else counts_ratio) * trace.speed_mps(times_s)
    yaw_radps = np.interp(times_s, trace.inertial.t_s, trace.inertial.values[0])
    command_rad = trace.at("steering", times_s)
    is_moving = np.abs(speed_mps) > SLOW_MPS
    # Half a second before and after is included, in which the gyro shows its bias.
    around = np.convolve(is_moving, np.ones(int(1.0 / GRID_S)), "same") > 0
    use = around & np.isfinite(slope_per_s(yaw_radps))
    yaw_radps = np.nan_to_num(yaw_radps)
    found = SteeringSamples(
        command_rad, speed_mps, yaw_radps, use, trace.turning, is_of_point=is_of_point
    )
    return [found] if len(times_s) else []


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


def _averaged(values: Floats, width_s: float) -> Floats:
    """Return the mean over a time around each sample; the first and the last weigh half."""
    width = round(width_s / GRID_S)
    if width < 1:
        return values
    kernel = np.ones(width + 1)
    kernel[[0, -1]] = 0.5
    padded = np.pad(values, (width // 2, width - width // 2), mode="edge")
    return np.asarray(np.convolve(padded, kernel / width, "valid"))


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


def relative_spread(values: Floats, weights: Floats) -> float:
    """Return the weighted standard deviation over the weighted mean; 0 without weight."""
    total = float(weights.sum())
    mean = float(weights @ values) / total if total else 0.0
    if mean <= 0.0:
        return 0.0
    return float(np.sqrt(weights @ (values - mean) ** 2 / total)) / mean
