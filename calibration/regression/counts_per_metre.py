"""Calibration of wheel-sensor counts per metre, by a tape measure or by external tracking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibration.arrays import Floats
from calibration.logs.trace import DriveTrace, Series
from calibration.parameters import Estimate, estimated, not_identifiable
from calibration.regression.least_squares import student_quantile
from calibration.regression.steering_geometry import RollingGeometry
from calibration.regression.steering_map import SteeringMap, wheel_rad

_NAME = "counts_per_m"
TAPE_M = 0.01  # uncertainty of a tape between two marks on a floor, 95 %
_STRAIGHT_RAD = 0.3  # a drive that turns more than this is no straight line to be taped
_LEAST_M = 1.0
_WINDOW_S = 8.0  # length of the windows in which the two paths are compared
_TURNS_RAD = 0.5  # turn within a window that is needed to fit where on the car it is seen
_GRID_S = 0.02  # chosen: finer than the latency that is looked for
_OFFSET_S = 0.6  # largest latency of the external tracking
_FIXED_WINDOWS = 3  # windows that fix the place on the car: from so many on it is not their noise
_OUTLIER = 6.0  # median deviations: four standard deviations of a normal distribution
_ASSUMED_SHARE = 0.001  # assumed error of tyres that roll by their counts on a steered car


def estimate_counts_per_metre(
    traces: Sequence[DriveTrace], geometry: RollingGeometry, steering_map: SteeringMap | None = None
) -> Estimate:
    """Return the counts per metre, from tapes and from tracked positions together. Never raises."""
    traces = [_travel_of_the_car(trace, geometry, steering_map) for trace in traces]
    ratios = [*_ratios_by_tape(traces), *_ratios_by_tracking(traces)]
    per_m = next((trace.counts_per_m for trace in traces if trace.counts_per_m), 0.0)
    if not per_m:
        return not_identifiable(
            _NAME, "it has no counts, or nobody says how many there are held to be"
        )
    if not ratios:
        return not_identifiable(_NAME, _lacking(traces))
    values, deviations = (np.array(column) for column in zip(*ratios, strict=True))
    weights = 1.0 / deviations**2
    mean = float(np.sum(weights * values) / np.sum(weights))
    apart = float(np.sqrt(np.sum(weights * (values - mean) ** 2) / max(len(values) - 1, 1)))
    deviation = max(apart, 1.0) / float(np.sqrt(np.sum(weights)))
    # of a normal distribution at 95 %; few drives give a wider one, up to twice that
    factor = 1.96 if len(values) == 1 else min(student_quantile(len(values) - 1), 4.0)
    return estimated(_NAME, per_m / mean, per_m / mean**2 * deviation, factor)


def _travel_of_the_car(
    trace: DriveTrace, geometry: RollingGeometry, steering_map: SteeringMap | None
) -> DriveTrace:
    """Return the trace with the car's travel along its heading, not that of its driven wheels.

    A steered wheel rolls farther than the car goes.
    """
    if not (trace.travel.is_present and trace.steering.is_present):
        return trace
    t_s, (travel_m, *_) = trace.travel
    steps = np.diff(travel_m, prepend=travel_m[0])
    angles_rad = trace.at("steering", t_s)
    if steering_map:
        angles_rad = wheel_rad(steering_map, angles_rad)
    along = np.cumsum(steps / geometry.rolled_per_travel(angles_rad))
    return replace(trace, travel=Series(t_s, along[None, :]))


def _lacking(traces: Sequence[DriveTrace]) -> str:
    if any(trace.tape_m for trace in traces):
        return "what was taped is no straight line, or shorter than a metre by its counts"
    if any(trace.turning for trace in traces):
        return "no gyro: by the counts alone nobody knows the path to lay beside the places"
    if any(trace.places.is_present and trace.inertial.is_present for trace in traces):
        return (
            f"where it was seen spans too little of its drive: {_FIXED_WINDOWS} times "
            f"{_WINDOW_S:g} s, with {_LEAST_M:g} m driven in each, are needed"
        )
    return "nothing in it knows a metre of floor but the counts themselves"


def _ratios_by_tape(traces: Sequence[DriveTrace]) -> list[tuple[float, float]]:
    """Return for each taped drive its metres by tape over metres by counts, and the deviation."""
    found = []
    for trace in traces:
        if not trace.tape_m or not trace.travel.is_present:
            continue
        travel_m = trace.travel.values[0]
        rolled_m = abs(float(travel_m[-1] - travel_m[0]))
        if rolled_m < _LEAST_M or _turned_rad(trace) > _STRAIGHT_RAD:
            continue
        count_m = 1.0 / trace.counts_per_m
        # the tape's error is told as an interval of 95 %
        deviation_m = np.hypot(TAPE_M / 1.96, count_m)
        chord = _chord(trace) / rolled_m
        found.append((trace.tape_m / (rolled_m * chord), float(deviation_m) / rolled_m))
    return found


def _turned_rad(trace: DriveTrace) -> float:
    """Return the range of the car's heading during the drive."""
    if not trace.inertial.is_present:
        return 0.0
    return float(np.ptp(_heading_rad(trace, trace.inertial.t_s)))


def _heading_rad(trace: DriveTrace, times_s: Floats) -> Floats:
    t_s, (yaw_radps, *_) = trace.inertial
    steps = np.diff(t_s, prepend=t_s[0])
    return np.asarray(np.interp(times_s, t_s, np.cumsum(np.nan_to_num(yaw_radps) * steps)))


def _chord(trace: DriveTrace) -> float:
    """Return the straight distance from begin to end, by counts and gyro."""
    reckoned = _reckoned(trace, trace.travel.t_s)
    return float(abs(reckoned[-1] - reckoned[0]))


def _reckoned(trace: DriveTrace, times_s: Floats) -> npt.NDArray[np.complex128]:
    """Return the dead-reckoned position by counts and gyro, as x + i y in m."""
    t_s, (travel_m, *_) = trace.travel
    rolled = np.interp(times_s, t_s, travel_m)
    steps = np.diff(rolled, prepend=rolled[0])
    return np.asarray(np.cumsum(steps * np.exp(1j * _mid_heading(trace, times_s))))


def _mid_heading(trace: DriveTrace, times_s: Floats) -> Floats:
    if not trace.inertial.is_present:
        return np.zeros(len(times_s))
    half_s = np.diff(times_s, prepend=times_s[0]) / 2
    return _heading_rad(trace, times_s - half_s)


def _ratios_by_tracking(traces: Sequence[DriveTrace]) -> list[tuple[float, float]]:
    """Return for each tracked drive its seen metres per dead-reckoned metre, and the deviation.

    The seen path is fitted to the dead-reckoned one in windows. As complex numbers: seen = scale *
    reckoned + place + lever * heading, which is linear in the three; the lever is where on the car
    the tracked point is.
    """
    found = []
    for trace in traces:
        if not (trace.places.is_present and trace.travel.is_present and trace.inertial.is_present):
            continue
        if trace.turning:  # its heading is of the very places that it would be laid beside
            continue
        latency_s = _latency_s(trace)
        windows = _without_slides(_windows(trace, latency_s))
        if len(windows) < _FIXED_WINDOWS:
            continue
        scales, _, metres = (np.array(column) for column in zip(*windows, strict=True))
        weights = metres**2 / np.sum(metres**2)
        mean = float(np.sum(weights * scales))
        apart = float(np.sum(weights * (scales - mean) ** 2)) / (1.0 - np.sum(weights**2))
        found.append((mean, float(np.sqrt(apart * np.sum(weights**2))) + _ASSUMED_SHARE))
    return found


def _without_slides(windows: Sequence[_Window]) -> list[_Window]:
    """Return the windows without outliers: under a firm brake wheels slide and counts mislead."""
    if not windows:
        return []
    scales = np.array([window.scale for window in windows])
    middle = float(np.median(scales))
    reach = _OUTLIER * max(float(np.median(np.abs(scales - middle))), _ASSUMED_SHARE)
    return [window for window in windows if abs(window.scale - middle) <= reach]


def _latency_s(trace: DriveTrace) -> float:
    """Return the latency of the tracked positions, at which the paths fit best."""
    # First in steps of 20 ms over the whole range, then of 2 ms around the best
    offsets = np.arange(-_OFFSET_S, _OFFSET_S + 0.01, 0.02)
    misses = [_miss(trace, float(offset)) for offset in offsets]
    best = float(offsets[int(np.argmin(misses))])
    fine = np.arange(best - 0.02, best + 0.021, 0.002)
    return float(fine[int(np.argmin([_miss(trace, float(offset)) for offset in fine]))])


def _miss(trace: DriveTrace, latency_s: float) -> float:
    left = [window.left_m2 for window in _windows(trace, latency_s)]
    return float(np.mean(left)) if left else 0.0


class _Window(NamedTuple):
    """One window: seen metres per reckoned metre, mean square of the residual, metres driven."""

    scale: float
    left_m2: float
    metres: float


def _windows(trace: DriveTrace, latency_s: float) -> list[_Window]:
    """Return the fit of each window in which the car drives a metre."""
    seen_s, (x_m, y_m, *_) = trace.places
    begin = max(seen_s[0] - latency_s, trace.travel.t_s[0], trace.inertial.t_s[0])
    end = min(seen_s[-1] - latency_s, trace.travel.t_s[-1], trace.inertial.t_s[-1])
    times_s = np.arange(begin, end, _GRID_S)
    if not len(times_s):
        return []
    at_s = times_s + latency_s
    seen = np.interp(at_s, seen_s, x_m) + 1j * np.interp(at_s, seen_s, y_m)
    reckoned, heading = _reckoned(trace, times_s), _heading_rad(trace, times_s)
    rolled_m = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(reckoned)))])
    found = []
    for part in _parts(rolled_m):
        columns = [reckoned[part] - reckoned[part.start], np.ones(part.stop - part.start, complex)]
        if np.ptp(heading[part]) > _TURNS_RAD:
            columns.append(np.exp(1j * heading[part]))
        design = np.column_stack(columns)
        values, *_ = np.linalg.lstsq(design, seen[part], rcond=None)
        left = seen[part] - design @ values
        metres = float(rolled_m[part.stop - 1] - rolled_m[part.start])
        found.append(_Window(float(abs(values[0])), float(np.mean(np.abs(left) ** 2)), metres))
    return found


def _parts(rolled_m: Floats) -> Iterator[slice]:
    """Yield consecutive windows that are long enough in time and in metres."""
    start, size = 0, int(_WINDOW_S / _GRID_S)
    while start < len(rolled_m):
        far = int(np.searchsorted(rolled_m, rolled_m[start] + _LEAST_M))
        end = max(start + size, far)
        if end > len(rolled_m):
            return
        yield slice(start, end)
        start = end
