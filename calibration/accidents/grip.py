"""Fit of the floor's grip to one stop: the friction with which the twin moves as the log's car."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from calibration.accidents.log_tail import LogTail, MotionTrack
from calibration.accidents.rerun import Outcome, RerunStart
from calibration.accidents.trigger import StopTrigger
from calibration.arrays import Floats

# Shares of the usual friction that are tried: dusty, wet, oily, icy
_SHARES = (0.7, 0.45, 0.28, 0.16)
_REFINED = 5  # times that the friction is refined, each to a tenth or better of the error before
_ENOUGH_M = 0.004  # a smaller error of the whole way cannot be told from the rounding of reports
# Chosen: the scale of a difference that means something, twice what rounding and noise make
_POSITION_M, _ACCEL_MPS2 = 0.01, 0.3
_WELL = 1.6  # a misfit that noise and rounding alone may have: no other friction is tried
_CLEARLY = 0.75  # another friction than the usual one fits clearly better below this
_MORE_US = 6_000_000  # what slides when its wheels stand has so long to come to rest
_AFTER_US = 800_000  # the motion is compared for so long after the log's wheels stood


class Misfit(NamedTuple):
    """The misfit of a re-run without a unit, its largest distance from the log, its way beyond.

    The way beyond is what it went farther than the log's car, both in m.
    """

    misfit: float
    miss_m: float
    beyond_m: float


class GripFit(NamedTuple):
    """The friction that fits best, its re-run, and by how far that misses the log at most, in m."""

    mu: float
    outcome: Outcome
    miss_m: float


def fit_grip(
    tail: LogTail,
    trigger: StopTrigger,
    start: RerunStart,
    go_on: Callable[[RerunStart, int], Outcome],
) -> GripFit:
    """Return the fit; the usual friction where no other fits clearly better.

    ``go_on`` drives a twin on until it rests, or until a time of the host.
    """
    end_us = tail.rested_us + _AFTER_US

    def tried(share: float) -> Misfit:
        twin = start.copy()
        twin.set_grip(share * usual)
        return compared(tail, trigger, go_on(twin, end_us))

    usual = start.mu
    found = {1.0: tried(1.0)}
    best = 1.0
    if found[1.0].misfit >= _WELL:
        found |= {share: tried(share) for share in _SHARES}
        _refine(found, tried)
        best = min(found, key=lambda it: found[it].misfit)
        if found[best].misfit > _CLEARLY * found[1.0].misfit:
            best = 1.0
    twin = start.copy()
    twin.set_grip(best * usual)
    outcome = go_on(twin, end_us + _MORE_US)
    return GripFit(best * usual, outcome, found[best].miss_m)


def _refine(found: dict[float, Misfit], tried: Callable[[float], Misfit]) -> None:
    """Add shares around the best one, by the secants of the error of the whole way."""
    for _ in range(_REFINED):
        best = min(found, key=lambda it: found[it].misfit)
        beyond_m = found[best].beyond_m
        others = sorted((it for it in found if it != best), key=lambda it: abs(it - best))
        across = [it for it in others if found[it].beyond_m * beyond_m < 0.0]
        other = across[0] if across else others[0]
        slope_m = found[other].beyond_m - beyond_m
        if abs(beyond_m) < _ENOUGH_M or not slope_m:
            return
        share = best - beyond_m * (other - best) / slope_m
        # no farther than half or twice the best at once
        share = min(max(share, 0.5 * best), 2.0 * best, 1.0)
        if share in found:
            return
        found[share] = tried(share)


def compared(tail: LogTail, trigger: StopTrigger, outcome: Outcome) -> Misfit:
    """Return how a re-run compares with the log.

    Both are the poses by the car's own reckoning, laid onto each other shortly before the trigger,
    where the re-runs part.
    """
    begin_us, end_us = trigger.parts_us, tail.rested_us + _AFTER_US
    chosen = (tail.motion.t_us >= begin_us) & (tail.motion.t_us <= end_us)
    times = tail.motion.t_us[chosen]
    car = _from_begin(tail.motion, begin_us, times)
    twin = _from_begin(outcome.motion, begin_us, times)
    apart_m = np.hypot(*(car - twin))
    stop = times >= trigger.t_us
    accel = tail.motion.at(times, "accel_x_mps2") - outcome.motion.at(times, "accel_x_mps2")
    position = np.sqrt(np.mean((apart_m[stop] / _POSITION_M) ** 2))
    force = np.sqrt(np.mean((accel[stop] / _ACCEL_MPS2) ** 2))
    beyond_m = np.hypot(*twin[:, -1]) - np.hypot(*car[:, -1])
    return Misfit(float(position + force), float(apart_m.max()), float(beyond_m))


def _from_begin(motion: MotionTrack, begin_us: float, times: Floats) -> Floats:
    """Return the ways ahead and to the left from the beginning on, (2, n), in m."""
    x = motion.at(times, "x_m") - motion.at(begin_us, "x_m")
    y = motion.at(times, "y_m") - motion.at(begin_us, "y_m")
    yaw = motion.at(begin_us, "yaw_rad")
    return np.array([np.cos(yaw) * x + np.sin(yaw) * y, np.cos(yaw) * y - np.sin(yaw) * x])
