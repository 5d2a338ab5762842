"""Comparison of one car's logs: small differences widen intervals, those beyond chance are said.

Each log is looked at alone. Two floors, two batteries, or a linkage that was adjusted in between
make two cars of one. A mean of both is neither, however narrow its interval. What differs by less
is a variance from run to run. The interval has it in it as by Hartung and Knapp (A refined method
for the meta-analysis of controlled clinical trials with binary outcome, Statistics in Medicine 20,
2001): Student's t with the variance that the logs show, never narrower than their own noise. The
variance between them, for its weights, is as by DerSimonian and Laird (Meta-analysis in clinical
trials, Controlled Clinical Trials 7, 1986). ``tests/studies/logs/agreement_study.py`` shows how
often such intervals hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import hypot, isfinite

import numpy as np
from scipy.stats import norm, t  # type: ignore[import-untyped]

from calibration.arrays import Floats
from calibration.parameters import BY_NAME, Estimate, not_identifiable

# The chance that logs of one car are said to disagree in anything: a hundredth, as it costs a
# parameter that they tell, and a real disagreement is soon many deviations wide.
_CHANCE = 0.01
_HALVES = 1.96  # deviations of a normal distribution in half of a 95 % interval
# Degrees of freedom that the mean of the logs costs, chosen by the study (--costs). With 1, as by
# Hartung and Knapp, 95 % intervals of two like logs hold in 99 % and are over four times as wide as
# their noise; with 0, those of logs that differ by twice their noise hold in 88 to 90 %.
MEAN_COSTS = 0.5
# Other each time that the sensor is switched on: their intervals span what all logs have
_DRIFTING = ("yaw_rate_bias_radps", "accel_x_bias_mps2", "accel_y_bias_mps2")
# Found together: where one of them is a mean of two, the others are beside it
_TOGETHER = (
    ("steer_trim_rad", "steer_gain_left", "steer_gain_right"),
    ("full_effort_mps", "dead_effort", "speed_lag_s"),
    ("understeer_s2_per_m2", "tyre_stiffness_front_per_rad"),
)


def told_by_one_log(
    estimates: Sequence[Estimate], alone: Sequence[Sequence[Estimate]]
) -> tuple[str, ...]:
    """Return the parameters whose intervals cannot have in them what differs from run to run.

    Fewer than two logs tell them by themselves; ``alone`` is what each does.
    """
    counts = Counter(own.name for found in alone for own in found if own.is_estimated)
    spanning = _DRIFTING if len(alone) > 1 else ()
    return tuple(
        one.name
        for one in estimates
        if one.is_estimated and counts[one.name] < 2 and one.name not in spanning
    )


def where_logs_agree(
    estimates: Sequence[Estimate], alone: Sequence[tuple[str, Sequence[Estimate]]]
) -> tuple[Estimate, ...]:
    """Return the estimates of all logs together, without those in which two logs disagree.

    ``alone`` has the file of each log and what it tells by itself. Intervals have in them what
    differs from log to log.
    """
    told = {
        one.name: [
            (file, own)
            for file, found in alone
            for own in found
            if own.name == one.name and own.is_estimated
        ]
        for one in estimates
        if one.name not in _DRIFTING
    }
    pairs = sum(len(some) * (len(some) - 1) // 2 for some in told.values())
    most = float(norm.ppf(1.0 - _CHANCE / 2 / max(pairs, 1)))
    apart = {name: why for name, some in told.items() if (why := _disagreement(some, most))}
    for names in _TOGETHER:
        for first in [name for name in names if name in apart][:1]:
            others = dict.fromkeys(names, f"its logs disagree on {first}")
            apart = {**others, **apart}
    return tuple(
        not_identifiable(one.name, apart[one.name])
        if one.name in apart
        else _widened(one, [own for _, own in told.get(one.name, ())])
        for one in estimates
    )


def _widened(one: Estimate, alone: Sequence[Estimate]) -> Estimate:
    """Return the estimate with what differs from log to log in its interval."""
    deviations = np.array([_deviation(it) for it in alone])
    is_known = np.isfinite(deviations) & (deviations > 0.0)
    if not isfinite(_deviation(one)) or np.count_nonzero(is_known) < 2:
        return one
    values = np.array([it.value for it in alone])[is_known]
    more = _square_beyond_noise(values, deviations[is_known] ** -2.0)
    if not more:
        return one
    below, above = (hypot(half, more**0.5) for half in (one.value - one.low, one.high - one.value))
    known = BY_NAME[one.name]
    # what ends at 0 cannot be less: free play
    least = one.low if one.low == 0.0 else known.low
    low, high = max(one.value - below, least), min(one.value + above, known.high)
    return replace(one, low=low, high=high)


def _square_beyond_noise(values: Floats, weights: Floats) -> float:
    """Return by how much the square of the interval's half exceeds that of the logs' own noise.

    It is the half of the mean of these logs, each weighted by its own interval as in the fit of
    all; 0 where their noise is more than what differs.
    """
    count, shares = len(values), weights / np.sum(weights)
    every = 1.0 / weights + _variance_between(values, weights)
    mean = np.average(values, weights=1.0 / every)
    shown = float(np.sum((values - mean) ** 2 / every)) / (count - 1)
    variance = shown * float(np.sum(shares**2 * every))
    quantile = float(t.ppf(norm.cdf(_HALVES), count - MEAN_COSTS))
    return max(quantile**2 * variance - _HALVES**2 / float(np.sum(weights)), 0.0)


def _variance_between(values: Floats, weights: Floats) -> float:
    """Return how much these values vary beyond their own intervals; 0 if chance explains it."""
    whole = float(np.sum(weights))
    mean = float(np.sum(weights * values)) / whole
    square = float(np.sum(weights * (values - mean) ** 2))
    told = whole - float(np.sum(weights**2)) / whole
    return max(square - (len(values) - 1), 0.0) / told


def _disagreement(some: Sequence[tuple[str, Estimate]], most: float) -> str:
    """Return which two logs are farthest apart, and by how much; "" if none is too far."""
    pairs = [
        (_deviations(one, other), a, one, b, other)
        for (a, one), (b, other) in combinations(some, 2)
    ]
    if not pairs:
        return ""
    apart, a, one, b, other = max(pairs, key=lambda it: it[0])
    if apart <= most:
        return ""
    unit = BY_NAME[one.name].unit
    unit = f" {unit}" if unit else ""
    return (
        f"its logs disagree by {abs(one.value - other.value):.3g}{unit}: "
        f"{_as_text(a, one)}, {_as_text(b, other)}"
    )


def _deviations(one: Estimate, other: Estimate) -> float:
    """Return how far apart two estimates are, in deviations of their difference."""
    return abs(one.value - other.value) / hypot(_deviation(one), _deviation(other))


def _deviation(one: Estimate) -> float:
    """Return the standard deviation of an estimate by the wider half of its interval.

    The other half may end at what is plausible.
    """
    return max(one.high - one.value, one.value - one.low) / _HALVES


def _as_text(file: str, one: Estimate) -> str:
    return f"{file} has {one.value:.4g} ({one.low:.4g} to {one.high:.4g})"
