"""Least squares on a table of parameters; what the samples do not tell is not fitted.

A parameter whose interval is wider than the range that one would believe without any log is put
back to its known value, the widest first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.optimize import least_squares  # type: ignore[import-untyped]
from scipy.stats import norm  # type: ignore[import-untyped]

from calibration.look import CONFIDENCE, Look, Residuals, look_at, stacked
from calibration.parameters import PARAMETERS, Parameter, Values
from calibration.profile import not_excluded
from calibration.samples import Floats

ENOUGH = 1e-4  # change of cost or parameters at which the search ends: far inside any interval

Covariance: TypeAlias = Callable[[list[int]], Floats]  # of the parameters with these numbers


@dataclass(frozen=True)
class Estimate:
    """A parameter after the fit, ``low`` to ``high`` its 95 % interval, within its range.

    Not fitted, it is at its known value, and they are what of its range the samples do not exclude.
    """

    name: str
    value: float
    low: float
    high: float
    known: float
    is_fitted: bool


def fit(
    residuals: Residuals, known: Values, table: Sequence[Parameter] = PARAMETERS
) -> list[Estimate]:
    """All of ``table``, in its order.

    What was fitted once and turned out not to be told stays away, so this ends.
    """
    start = {**known, **{p.name: p.first for p in table if p.first is not None}}
    seen, _ = told(look_at(residuals, start, table).best_case, table)
    dropped: set[int] = set()
    while True:
        free = {table[i].name: start[table[i].name] for i in seen}
        start = _searched(residuals, {**known, **free}, [table[i] for i in seen])
        look = look_at(residuals, start, table)
        found, halves = told(look.sandwich, table)
        kept = [i for i in found if i not in dropped]
        if kept == seen:
            break
        dropped.update(set(seen) - set(kept))
        seen = kept
    return [
        _estimate(p, start, known, halves[i])
        if i in seen
        else _left(residuals, p, start, look, seen)
        for i, p in enumerate(table)
    ]


def _estimate(p: Parameter, best: Values, known: Values, half: float) -> Estimate:
    value = best[p.name]
    low, high = max(value - half, p.low), min(value + half, p.high)
    return Estimate(p.name, value, low, high, known[p.name], is_fitted=True)


def _left(
    residuals: Residuals, p: Parameter, best: Values, look: Look, seen: list[int]
) -> Estimate:
    low, high = not_excluded(residuals, best, p, look, seen)
    return Estimate(p.name, best[p.name], low, high, best[p.name], is_fitted=False)


def told(covariance: Covariance, table: Sequence[Parameter]) -> tuple[list[int], list[float]]:
    """Numbers of the parameters that are told, and half of everyone's interval."""
    seen = list(range(len(table)))
    halves = [0.0] * len(table)
    spans = np.array([p.high - p.low for p in table])
    normal = float(norm.ppf(0.5 + 0.5 * CONFIDENCE))
    while seen:
        own = normal * np.sqrt(np.diag(covariance(seen)))  # in shares of the range
        for i, half in zip(seen, own * spans[seen], strict=True):
            halves[i] = float(half)
        worst = int(np.argmax(own))
        if own[worst] <= 0.5:
            break
        del seen[worst]
    return seen, halves


def _searched(residuals: Residuals, start: Values, wanted: Sequence[Parameter]) -> dict[str, float]:
    """All of ``start``, with the wanted ones where the sum of squares is least."""
    names = [p.name for p in wanted]
    lows, spans = _range(wanted)

    def values(shares: Floats) -> dict[str, float]:
        return {**start, **dict(zip(names, map(float, lows + shares * spans), strict=True))}

    first = np.clip((np.array([start[name] for name in names]) - lows) / spans, 0.01, 0.99)
    found = least_squares(
        lambda shares: stacked(residuals(values(shares))),
        first,
        jac=lambda shares: look_at(residuals, values(shares), wanted).slopes,
        bounds=(0.0, 1.0),
        x_scale="jac",
        ftol=ENOUGH,
        xtol=ENOUGH,
    )
    return values(found.x)


def _range(table: Sequence[Parameter]) -> tuple[Floats, Floats]:
    lows = np.array([p.low for p in table])
    return lows, np.array([p.high for p in table]) - lows
