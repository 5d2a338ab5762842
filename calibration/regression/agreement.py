"""Logs of one car that disagree: each is looked at alone, and a parameter of two values is none.

Two floors, two batteries, or a linkage that was adjusted in between make two cars of one. A mean of
both is neither, however narrow its interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import hypot

from scipy.stats import norm  # type: ignore[import-untyped]

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


def where_logs_agree(
    estimates: Sequence[Estimate], alone: Sequence[tuple[str, Sequence[Estimate]]]
) -> tuple[Estimate, ...]:
    """Return the estimates of all logs together, without those in which two logs disagree.

    ``alone`` has the file of each log and what it tells by itself.
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
        not_identifiable(one.name, apart[one.name]) if one.name in apart else one
        for one in estimates
    )


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
    # the wider half of each: the other may end at what is plausible
    halves = (max(it.high - it.value, it.value - it.low) for it in (one, other))
    return abs(one.value - other.value) / (hypot(*halves) / _HALVES)


def _as_text(file: str, one: Estimate) -> str:
    return f"{file} has {one.value:.4g} ({one.low:.4g} to {one.high:.4g})"
