"""The speed map (steady speed by effort), the time constant of the speed, and the start delay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibration.arrays import Floats
from calibration.logs.trace import DriveTrace
from calibration.parameters import Estimate, estimated, not_identifiable
from calibration.regression.least_squares import (
    consecutive_slices,
    fit_least_squares,
    student_quantile,
)

_SPEED_MAP = ("full_effort_mps", "dead_effort")
_LAG, _START = "speed_lag_s", "start_delay_s"
_AROUND_S = 0.25  # a speed is steady if it is the same so long before and after
_STEADY = 0.04  # relative change up to which a speed counts as the same
_SETTLED_S = 1.5  # after a change of target; the speed loop is within 1 % then
_SAME_MPS = 0.003  # or by so much, where the speed is so low that counts have steps
_ASSUMED_SHARE = 0.005  # assumed relative error of the straight line, for full effort
_ASSUMED_DEAD = 0.001  # the same for the dead share, absolute
_LEVELS_APART = 1.25  # least ratio of fastest to slowest, to separate slope and dead share
_LEAST_LEVELS = 3  # levels: a line needs two, and one more to be held against
_SPAN_S = 0.25  # over which a change of speed is measured
_GRID_S = 0.02  # chosen: finer than the lags that are fitted
_LEAST_BLOCKS = 6  # from so many on their spread tells how sure the lag is
_LEAST_STARTS = 3  # from so many on their spread tells how sure the delay is
_START_WITHIN_S = 2.0
_SPREAD = 0.08  # relative spread of speeds that count as one level


class _Level(NamedTuple):
    """A stretch at a steady speed: mean effort, mean speed, and the number of samples."""

    effort: float
    speed_mps: float
    samples: int


def estimate_speed_map(traces: Sequence[DriveTrace], counts_ratio: float = 1.0) -> list[Estimate]:
    """Return the speed map, lag and start delay of cars driven forward. Never raises.

    ``counts_ratio`` is as in ``estimate_steering``.
    """
    levels = [level for trace in traces for level in _levels(trace, counts_ratio)]
    speed_map = _map(traces, levels)
    lag = _lag(traces, speed_map, counts_ratio)
    return [*speed_map, lag, _start(traces)]


def _levels(trace: DriveTrace, counts_ratio: float) -> Iterator[_Level]:
    if not (trace.effort.is_present and trace.travel.is_present):
        return
    t_s, (effort, *_) = trace.effort
    now, before, after = (
        counts_ratio * trace.speed_mps(t_s + away) for away in (0.0, -_AROUND_S, _AROUND_S)
    )
    with np.errstate(invalid="ignore"):
        is_steady = (
            (effort > 0.0)
            & (now > 0.0)
            & (np.abs(after - before) < _STEADY * now)
            & (np.abs(now - before) < _STEADY * now)
            & _is_settled(trace, t_s)
        )
    for run in consecutive_slices(is_steady, 2):
        # One steady run may drift through several speeds; each becomes a level.
        start = run.start
        for at in range(run.start + 1, run.stop + 1):
            if at == run.stop or abs(now[at] / now[start] - 1.0) > _SPREAD:
                if at - start > 1:
                    part = slice(start, at)
                    yield _Level(float(effort[part].mean()), float(now[part].mean()), at - start)
                start = at


def _is_settled(trace: DriveTrace, times_s: Floats) -> npt.NDArray[np.bool_]:
    """Return whether the target has been constant for long enough that the speed loop settled."""
    if not trace.target.is_present:
        return np.ones(len(times_s), bool)
    t_s, (target, *_) = trace.target
    is_new = np.abs(np.diff(np.nan_to_num(target), prepend=0.0)) > _SAME_MPS
    changes_s = np.concatenate([[t_s[0] - _SETTLED_S], t_s[is_new]])
    last = np.searchsorted(changes_s, times_s, side="right") - 1
    return np.asarray(times_s - changes_s[np.maximum(last, 0)] >= _SETTLED_S)


def _map(traces: Sequence[DriveTrace], levels: Sequence[_Level]) -> list[Estimate]:
    if not any(trace.effort.is_present for trace in traces):
        return [
            not_identifiable(name, "what its drive was given is not in it") for name in _SPEED_MAP
        ]
    if len(levels) < _LEAST_LEVELS:
        why = f"it drives steadily {len(levels)} times, and {_LEAST_LEVELS} are needed"
        return [not_identifiable(name, why) for name in _SPEED_MAP]
    efforts, speeds, samples = (np.array(column, float) for column in zip(*levels, strict=True))
    if speeds.max() < _LEVELS_APART * speeds.min():
        why = f"its steady speeds are {speeds.min():.2f} to {speeds.max():.2f} m/s: one speed"
        return [not_identifiable(name, why) for name in _SPEED_MAP]
    # speed = slope * effort + level, not the inverse: the effort oscillates, the speed is smoother
    design = np.column_stack([efforts, np.ones(len(levels))])
    line = fit_least_squares(design, speeds, np.arange(len(levels)), np.sqrt(samples))
    slope, level = line.values
    full = float(slope + level)
    full_dev = float(np.sqrt(np.array([1, 1]) @ line.covariance @ np.array([1, 1])))
    by = np.array([level / slope**2, -1.0 / slope])
    dead_dev = float(np.sqrt(by @ line.covariance @ by))
    # That speeds lie on a straight line is an assumption; its error is added.
    full_dev, dead_dev = (
        np.hypot(full_dev, _ASSUMED_SHARE * full),
        np.hypot(dead_dev, _ASSUMED_DEAD),
    )
    driven = f"driven: {speeds.min():.2f} to {speeds.max():.2f} m/s{_volts(traces)}"
    return [
        estimated(_SPEED_MAP[0], full, float(full_dev), line.quantile, driven),
        estimated(_SPEED_MAP[1], float(-level / slope), float(dead_dev), line.quantile, driven),
    ]


def _volts(traces: Sequence[DriveTrace]) -> str:
    means = [float(t.battery.values[0].mean()) for t in traces if t.battery.is_present]
    return f", at {np.mean(means):.1f} V" if means else ""


def _lag(
    traces: Sequence[DriveTrace], speed_map: Sequence[Estimate], counts_ratio: float
) -> Estimate:
    """Return the time constant, from: change of speed = span / lag * (the map's speed - speed).

    Only samples in which the car gains speed are used: when it slows down an ESC coasts or brakes.
    """
    full, dead = speed_map
    if not full.is_estimated:
        return not_identifiable(_LAG, f"the speed map is not told: {full.why}")
    slope = full.value / (1.0 - dead.value)
    pulls: list[Floats] = []
    gains: list[Floats] = []
    groups: list[Floats] = []
    for at, trace in enumerate(traces):
        if not (trace.effort.is_present and trace.travel.is_present):
            continue
        pull, gain, group = _gaining(trace, slope, dead.value, counts_ratio)
        pulls.append(pull)
        gains.append(gain)
        groups.append(group + 1e6 * at)
    pull, gain = np.concatenate(pulls), np.concatenate(gains)
    pieces = np.asarray(np.concatenate(groups), np.int64)
    if len(np.unique(pieces)) < _LEAST_BLOCKS:
        return not_identifiable(_LAG, f"it gains speed {len(np.unique(pieces))} times")
    line = fit_least_squares(pull[:, None], gain, pieces)
    rate, deviation = float(line.values[0]), float(line.deviations[0])
    if rate <= 0.0:
        return not_identifiable(_LAG, "its speed does not follow its effort")
    # The time at which an effort changed is known only to the reports' period.
    blur_s = max(_report_s(trace) for trace in traces if trace.effort.is_present) / 4
    return estimated(_LAG, 1.0 / rate, float(np.hypot(deviation / rate**2, blur_s)), line.quantile)


def _report_s(trace: DriveTrace) -> float:
    return float(np.median(np.diff(trace.effort.t_s)))


def _gaining(
    trace: DriveTrace, slope: float, dead: float, counts_ratio: float
) -> tuple[Floats, Floats, Floats]:
    t_s, (effort, *_) = trace.effort
    times_s = np.arange(t_s[0], t_s[-1] - _SPAN_S, _GRID_S)
    is_driven = np.isfinite(np.interp(times_s, t_s, effort)) & np.isfinite(
        np.interp(times_s + _SPAN_S, t_s, effort)
    )
    pushed = np.interp(times_s, t_s, np.nan_to_num(effort))
    speed_mps = counts_ratio * trace.speed_mps(times_s)
    steps = int(_SPAN_S / _GRID_S)
    if len(times_s) <= steps:
        return (np.zeros(0),) * 3
    aim = np.convolve(slope * (pushed - dead) - speed_mps, np.ones(steps) * _GRID_S, "valid")
    gain = speed_mps[steps - 1 :] - speed_mps[: len(aim)]
    is_in = is_driven[: len(aim)] & is_driven[steps - 1 :]
    is_in &= (pushed[: len(aim)] > dead) & (speed_mps[: len(aim)] > 0.0)
    # of the greatest: a gain that is smaller is noise, and none at all is no division by 0
    is_in &= gain > 0.1 * float(np.max(np.abs(gain), initial=1e-9))
    edges = np.cumsum(np.diff(is_in.astype(int), prepend=0) > 0)
    return aim[is_in], gain[is_in], edges[is_in].astype(float)


def _start(traces: Sequence[DriveTrace]) -> Estimate:
    """Return the mean time from the first non-zero target to the first count, from rest."""
    by_trace = [(trace, list(_waits_s(trace))) for trace in traces]
    waits = [wait for _, found in by_trace for wait in found]
    if len(waits) < _LEAST_STARTS:
        return not_identifiable(_START, f"it starts from rest {len(waits)} times")
    table = np.array(waits)
    deviation = float(table.std(ddof=1) / np.sqrt(len(table)))
    # A count is known only to the reports' period: of the slowest log that a wait is from
    slowest_s = max(float(np.median(np.diff(t.travel.t_s))) for t, found in by_trace if found)
    rounding = slowest_s / np.sqrt(12.0)  # of a uniform error: its width over the root of 12
    return estimated(
        _START,
        float(table.mean()),
        float(np.hypot(deviation, rounding)),
        student_quantile(len(table) - 1),
    )


def _waits_s(trace: DriveTrace) -> Iterator[float]:
    if not (trace.target.is_present and trace.travel.is_present):
        return
    t_s, (target, *_) = trace.target
    travel_s, (travel_m, *_) = trace.travel
    wanted = np.nan_to_num(target) != 0.0
    for at in np.flatnonzero(np.diff(wanted.astype(int)) > 0) + 1:
        from_s = t_s[at]
        before = np.interp([from_s - 0.5, from_s], travel_s, travel_m)
        if before[0] != before[1]:
            continue  # no start from rest: it rolled before
        later = np.flatnonzero((travel_s > from_s) & (travel_m != before[1]))
        if later.size and travel_s[later[0]] - from_s < _START_WITHIN_S:
            yield float(travel_s[later[0]] - from_s)
