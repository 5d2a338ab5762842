"""The prediction band of a run: where the car will be seen, all the way, in 95 of 100 runs.

Drawn from all that a fit does not know: the parameters' posterior, what differs from run to run,
what no parameter explains, the odometry's own wobble. The band is simultaneous: its widths over
time are those of the draws' spread, times what holds 95 % of the draws from start to end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.estimates import CONFIDENCE, Fit
from calibration.parameters import PARAMETERS, Values
from calibration.samples import Floats, Run
from calibration.scatter import Sight
from calibration.sights import sight
from calibration.twin import Twin, arrived

DRAWS = 2000
SEED = 1
BRIEF_S = 0.2  # of a command that hardly moves the car
NEAR_NORM = 0.01  # of steering that was driven


@dataclass(frozen=True)
class Band:
    """Sample by sample from the first command on: a circle around the twin, and either side of its
    yaw. ``is_beyond``: steered further than the fitted runs were, so extrapolated."""

    position_m: Floats
    yaw_rad: Floats
    is_beyond: np.ndarray

    def holds(self, position_m: Floats, yaw_rad: Floats) -> np.ndarray:
        """Whether such errors lie inside, sample by sample."""
        return (position_m <= self.position_m) & (np.abs(yaw_rad) <= self.yaw_rad)


def band(
    twin: Twin,
    known: Values,
    fit: Fit,
    steering: tuple[float, float],
    run: Run,
    confidence: float = CONFIDENCE,
) -> Band:
    """Of a run that may or may not have been fitted on; ``steering`` is what the fit has seen."""
    at = np.array([p.belief(fit.values[p.name], known[p.name]) for p in PARAMETERS])
    seen = sight(twin, known, at, fit.values, run)
    drawn = _drawn(seen, fit)
    apart_m = np.hypot(drawn[:, 0], drawn[:, 1])
    position_m = np.sqrt(np.mean(apart_m**2, axis=1))
    yaw_rad = np.sqrt(np.mean(drawn[:, 2] ** 2, axis=1))
    shares = np.maximum(apart_m / position_m[:, None], np.abs(drawn[:, 2]) / yaw_rad[:, None])
    factor = float(np.quantile(shares.max(axis=0), confidence))
    return Band(factor * position_m, factor * yaw_rad, _beyond(seen.t_s, run, fit, steering))


def _drawn(seen: Sight, fit: Fit) -> Floats:
    """(samples, 3, draws): how far runs of this car would be from the twin's."""
    normal = np.random.default_rng(SEED).normal
    sizes, directions = np.linalg.eigh(fit.covariance)  # of a file, so rounded
    parameters = directions * np.sqrt(np.maximum(sizes, 0.0))
    effects = seen.effects(fit.scales)
    drawn = seen.slopes @ (parameters @ normal(size=(len(parameters), DRAWS)))
    drawn += effects @ normal(size=(effects.shape[2], DRAWS))
    spread = fit.scales[[0, 0, 1], None]
    fresh = normal(size=(len(seen.t_s), 3, DRAWS))
    wobble = fresh[0]
    drawn[0] += spread * wobble
    rests = np.exp(-np.diff(seen.t_s) / fit.scales[2])
    for i, rest in enumerate(rests, 1):
        wobble = rest * wobble + np.sqrt(1.0 - rest**2) * fresh[i]
        drawn[i] += spread * wobble
    return np.asarray(drawn)


def _beyond(times_s: Floats, run: Run, fit: Fit, steering: tuple[float, float]) -> np.ndarray:
    """From the first sample on at which it is driven with steering that no fitted run had."""
    low, high = driven_steering([run], fit.values)
    low, high = min(low, steering[0]), max(high, steering[1])
    if steering[0] - low <= NEAR_NORM and high - steering[1] <= NEAR_NORM:
        return np.zeros(len(times_s), bool)
    begins_s = min(
        begin_s
        for begin_s, value in _driven(run, fit.values)
        if not steering[0] - NEAR_NORM <= value <= steering[1] + NEAR_NORM
    )
    return np.asarray(times_s > begins_s)


def driven_steering(runs: list[Run], values: Values) -> tuple[float, float]:
    """The least and the greatest steering of all that was driven with."""
    found = [value for run in runs for _, value in _driven(run, values)]
    return min(found), max(found)


def _driven(run: Run, values: Values) -> list[tuple[float, float]]:
    """(from when on, steering) of all spans with throttle, but for the shortest."""
    todo = arrived(run, values)
    ends_s = [*(one.t_s for one in todo[1:]), np.inf]
    spans = [
        (one.t_s, one.steering_norm, end_s - one.t_s)
        for one, end_s in zip(todo, ends_s, strict=True)
        if one.throttle_norm
    ]
    kept = [(t_s, value) for t_s, value, span_s in spans if span_s >= BRIEF_S]
    return kept or [(t_s, value) for t_s, value, _ in spans] or [(0.0, 0.0)]
