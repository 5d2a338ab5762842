"""The likeliest parameters, given the runs and what was believed before them.

All parameters are fitted at once, each in spreads of its belief, so what a log does not tell stays
near its known value and is never dropped on the way. With the parameters the effects of runs and
pieces (``effects.py``) and the scales of those (``scatter.py``) are found: Gauss-Newton with
Levenberg's damping, the scales anew after each few steps. A parameter's interval is its
posterior's, so it knows of the scatter between runs and of all others that may give way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.stats import norm  # type: ignore[import-untyped]

from calibration.estimates import CONFIDENCE, Estimate, Fit
from calibration.lack import lack_of_fit
from calibration.parameters import PARAMETERS, Parameter, Values
from calibration.samples import Floats
from calibration.scatter import Sight, believed_scales, likeliest, system, unlikely, whitened

TOLD = 0.5  # of a belief's spread: what the runs leave of it, at most, where they tell something
ENOUGH = 0.02  # of a parameter's own deviation: a step that ends the search
ROUNDS, STEPS, COARSE_STEPS = 4, 5, 12
HOPELESS = 50.0  # how much less likely a beginning is that is not followed
FARTHEST = 0.5  # spread of a belief, in one step: slopes are true near by
COARSE = np.array([3.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])  # far from the end all wobbles

Residuals: TypeAlias = Callable[[Values], Sequence[Floats]]  # run by run, (samples, 3)
See: TypeAlias = Callable[[Floats, Values], Sequence[Sight]]  # at these beliefs, and their values


class Looks(NamedTuple):
    """How a search looks at the runs: ``residuals`` alone, or with all columns."""

    residuals: Residuals
    see: See


class Search:
    """Where the search is: beliefs and scales, and what is seen from there."""

    def __init__(self, looks: Looks, known: Values, table: Sequence[Parameter]) -> None:
        self.looks, self._known, self._table = looks, known, table
        self.low = np.array([p.belief(p.low, known[p.name]) for p in table])
        self.high = np.array([p.belief(p.high, known[p.name]) for p in table])
        self.at = np.clip(np.zeros(len(table)), self.low, self.high)
        self.scales = believed_scales()
        self.damping = 1e-2

    def values(self, at: Floats) -> dict[str, float]:
        pairs = zip(self._table, at, strict=True)
        return {p.name: p.value(float(one), self._known[p.name]) for p, one in pairs}

    def sights(self) -> Sequence[Sight]:
        return self.looks.see(self.at, self.values(self.at))

    def step(self, sights: Sequence[Sight], scales: Floats) -> float:
        """One step downhill, if there is one; its length in the parameters' own deviations."""
        here = self.cost(sights, [sight.residual for sight in sights], self.at, scales)
        one = system(sights, self.at, scales)
        own = np.sqrt(np.diag(np.linalg.inv(one.matrix))[: len(self.at)])
        while self.damping < 1e6:
            there = self._damped(one.matrix, one.right)
            most = float(np.max(np.abs(there - self.at)))
            there = self.at + (there - self.at) * min(1.0, FARTHEST / max(most, FARTHEST))
            found = self.looks.residuals(self.values(there))
            if self.cost(sights, found, there, scales) <= here:
                self.damping = max(0.1 * self.damping, 1e-8)
                length = float(np.max(np.abs(there - self.at) / own))
                self.at = there
                return length
            self.damping *= 10.0
        self.damping = 1e-2
        return 0.0

    def _damped(self, matrix: Floats, right: Floats) -> Floats:
        """The next place; what would leave its range stays at its edge, and the rest goes on."""
        count = len(self.at)
        damped = matrix + np.diag(
            [self.damping * matrix[i, i] if i < count else 0.0 for i in range(len(matrix))]
        )
        pull = -right - matrix[:, :count] @ self.at
        free = np.ones(len(matrix), bool)
        there = self.at.copy()
        for _ in range(count):
            step = np.zeros(len(matrix))
            rest = pull[free] - damped[np.ix_(free, ~free)] @ _fixed(there - self.at, free, count)
            step[free] = np.linalg.solve(damped[np.ix_(free, free)], rest)
            tried = np.where(free[:count], self.at + step[:count], there)
            out = free[:count] & ((tried < self.low) | (tried > self.high))
            there = np.clip(tried, self.low, self.high)
            if not out.any():
                break
            free[:count] &= ~out
        return np.asarray(there)

    def cost(
        self, sights: Sequence[Sight], residuals: Sequence[Floats], at: Floats, scales: Floats
    ) -> float:
        """Least half square of wobble, effects and beliefs, with these residuals."""
        cost = 0.5 * float(at @ at)
        for sight, residual in zip(sights, residuals, strict=True):
            columns = np.concatenate([residual[:, :, None], sight.effects(scales)], axis=2)
            white = whitened(sight.t_s, columns, scales)
            left, effects = white[:, 0], white[:, 1:]
            seen = effects.T @ left
            matrix = np.eye(len(seen)) + effects.T @ effects
            cost += 0.5 * float(left @ left - seen @ np.linalg.solve(matrix, seen))
        return cost


def _fixed(step: Floats, free: npt.NDArray[np.bool_], count: int) -> Floats:
    return np.asarray(step[~free[:count]])


def fit(rough: Looks, fine: Looks, known: Values, table: Sequence[Parameter] = PARAMETERS) -> Fit:
    """All of ``table``, in its order. From each beginning; the likelier end counts.

    ``rough`` is good enough on the way there, and what is found is seen by ``fine`` alone.
    """
    search = Search(rough, known, table)
    ends: list[tuple[float, Floats, Floats]] = []
    begun = sorted(_beginnings(search, known, table), key=lambda one: one[0])
    search.looks = fine
    for cost, begin in begun:
        is_known = any(np.allclose(begin, end, atol=10.0 * ENOUGH) for _, end, _ in ends)
        if is_known or cost > begun[0][0] + HOPELESS:
            continue
        search.at, search.scales = begin, believed_scales()
        sights = _settled(search)
        ends.append((unlikely(sights, search.at, search.scales), search.at, search.scales))
    _, search.at, search.scales = min(ends, key=lambda end: end[0])
    sights = search.sights()
    covariance = _covariance(search, sights)
    return Fit(
        tuple(_estimates(search, covariance, known, table)),
        covariance,
        search.scales,
        lack_of_fit(sights, search.scales),
    )


def _beginnings(
    search: Search, known: Values, table: Sequence[Parameter]
) -> Iterator[tuple[float, Floats]]:
    """Costs and places: roughly downhill from the known values, and from each ``first``."""
    scales = COARSE * believed_scales()
    for first in ({}, {p.name: p.first for p in table if p.first is not None}):
        at = [p.belief(first.get(p.name, known[p.name]), known[p.name]) for p in table]
        search.at = np.clip(np.array(at), search.low, search.high)
        sights = search.sights()
        for _ in range(COARSE_STEPS):
            length = search.step(sights, scales)
            sights = search.sights()
            if length < 10.0 * ENOUGH:
                break
        yield search.cost(sights, [one.residual for one in sights], search.at, scales), search.at


def _settled(search: Search) -> Sequence[Sight]:
    """To the end: scales and parameters by turns."""
    sights = search.sights()
    for _ in range(ROUNDS):
        search.scales = likeliest(sights, search.at, search.scales)
        before = search.at
        for _ in range(STEPS):
            length = search.step(sights, search.scales)
            sights = search.sights()
            if length < ENOUGH:
                break
        own = np.sqrt(np.diag(_covariance(search, sights)))
        if float(np.max(np.abs(search.at - before) / own)) < 5.0 * ENOUGH:
            break
    return sights


def _covariance(search: Search, sights: Sequence[Sight]) -> Floats:
    count = len(search.at)
    matrix = system(sights, search.at, search.scales).matrix
    return np.asarray(np.linalg.inv(matrix)[:count, :count])


def _estimates(
    search: Search, covariance: Floats, known: Values, table: Sequence[Parameter]
) -> list[Estimate]:
    own = np.sqrt(np.diag(covariance))
    half = float(norm.ppf(0.5 + 0.5 * CONFIDENCE)) * own
    value, low, high = map(search.values, (search.at, search.at - half, search.at + half))
    return [
        Estimate(p.name, value[p.name], low[p.name], high[p.name], known[p.name], bool(one < TOLD))
        for p, one in zip(table, own, strict=True)
    ]
