"""Comparison of one car's logs: small differences widen intervals, those beyond chance are said.

Each log is looked at alone. Two floors, two batteries, or a linkage that was adjusted in between
make two cars of one. A mean of both is neither, however narrow its interval. What differs by less
is a variance from run to run, estimated as by DerSimonian and Laird (Meta-analysis in clinical
trials, Controlled Clinical Trials 7, 1986); few logs say little of it, so where there is any the
interval is Student's t. It has as many degrees of freedom as there are logs: with one less, the
intervals of two logs would be twice as wide and hold hardly more often, as logs that differ by much
are not told at all.
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
    weights = deviations[is_known] ** -2.0
    values = np.array([it.value for it in alone])[is_known]
    variance = _variance_between(values, weights)
    if not variance:
        return one
    # of the mean of these logs, each with a deviation of its own
    between = (variance * float(np.sum(weights**2))) ** 0.5 / float(np.sum(weights))
    quantile = float(t.ppf(norm.cdf(_HALVES), len(values)))
    below, above = (
        quantile * hypot(half / _HALVES, between)
        for half in (one.value - one.low, one.high - one.value)
    )
    known = BY_NAME[one.name]
    # what ends at 0 cannot be less: free play
    least = one.low if one.low == 0.0 else known.low
    low, high = max(one.value - below, least), min(one.value + above, known.high)
    return replace(one, low=low, high=high)


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
