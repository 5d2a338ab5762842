"""The bias of the inertial sensor, estimated while the car stands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibration.arrays import Floats
from calibration.logs.trace import DriveTrace
from calibration.parameters import Estimate, estimated, not_identifiable
from calibration.regression.least_squares import consecutive_slices, student_quantile

_STILL_S = 0.3  # the time before and after a sample in which nothing may move
_BLOCK_S = 0.5  # samples of one block are averaged
_LEAST_BLOCKS = 4  # from so many on their spread tells how sure the mean is
_COLUMNS = ("yaw_rate_bias_radps", "accel_x_bias_mps2", "accel_y_bias_mps2")


def is_resting(trace: DriveTrace, times_s: Floats) -> np.ndarray:
    """Return whether the count stayed the same within ``_STILL_S`` of each of these times."""
    t_s, (travel_m, *_) = trace.travel
    ahead = np.interp(times_s + _STILL_S, t_s, travel_m)
    behind = np.interp(times_s - _STILL_S, t_s, travel_m)
    inside = (times_s - _STILL_S >= t_s[0]) & (times_s + _STILL_S <= t_s[-1])
    return np.asarray((ahead == behind) & inside)


def estimate_imu_biases(traces: Sequence[DriveTrace]) -> list[Estimate]:
    """Return the biases: means over all rests, with the spread of half-second blocks."""
    means: list[Floats] = []
    for trace in traces:
        if trace.inertial.is_present and trace.travel.is_present:
            means += _blocks(trace)
    if len(means) < _LEAST_BLOCKS:
        why = "no inertial sensor" if not any(t.inertial.is_present for t in traces) else ""
        lacking = why or f"it stands for less than {_LEAST_BLOCKS * _BLOCK_S:g} s in all"
        return [not_identifiable(name, lacking) for name in _COLUMNS]
    table = np.array(means)
    # The bias drifts: its uncertainty is the spread of the blocks, not that of their mean.
    deviation = table.std(axis=0, ddof=1)
    factor = student_quantile(len(table) - 1)
    # A log without an accelerometer has zeros for it, which no sensor reports.
    return [
        estimated(name, float(table[:, i].mean()), float(deviation[i]), factor)
        if i == 0 or np.any(table[:, i])
        else not_identifiable(name, "it tells no accelerations")
        for i, name in enumerate(_COLUMNS)
    ]


def _blocks(trace: DriveTrace) -> list[Floats]:
    t_s, columns = trace.inertial
    found = []
    for run in consecutive_slices(is_resting(trace, t_s), 2):
        for start_s in np.arange(t_s[run.start], t_s[run.stop - 1] - _BLOCK_S, _BLOCK_S):
            is_in = (t_s >= start_s) & (t_s < start_s + _BLOCK_S)
            if is_in.any():
                found.append(columns[:, is_in].mean(axis=1))
    return found
