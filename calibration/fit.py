"""The likeliest parameters, given the runs and what was believed before them.

All parameters are fitted at once, each in spreads of its belief, so what a log does not tell stays
near its known value and is never dropped on the way. With them go the effects of runs and pieces
(``effects.py``) and the scales of those (``scatter.py``).

A car that starts late or turns too little is far away from where it was, and a step by the slopes
there leads astray. So the search begins with ways in place of places (``sights.unrolled``), from
several beginnings; from the ends that are worth it it goes on with places, the scales as they are
believed, and only at the bottom the scales are found too: sooner, they would grow until the runs
explain themselves. All by Gauss-Newton with Levenberg's damping. A parameter's interval is its
posterior's, so it knows of the scatter between runs and of all others that may give way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.stats import norm  # type: ignore[import-untyped]

from calibration.effects import NONE
from calibration.estimates import CONFIDENCE, Estimate, Fit
from calibration.lack import lack_of_fit
from calibration.left_out import stretch
from calibration.marginal import Ground, Marginal, marginals
from calibration.parameters import PARAMETERS, Parameter, Values
from calibration.samples import Floats
from calibration.scatter import (
    Sight,
    believed_scales,
    drawn_scales,
    likeliest,
    mixed,
    state,
    system,
    unlikely,
    whitened,
)
from calibration.sights import Point, probes

TOLD = 0.5  # of a belief's spread: what the runs leave of it, at most, where they tell something
ENOUGH, ROUGHLY = 0.02, 0.2  # of a parameter's own deviation: a step that ends a search
ROUNDS, STEPS, ROUGH_STEPS = 4, 5, 25
HOPELESS = 20.0  # how much less likely a beginning is that is not followed
WORSE = 6.0  # the same of an end, of which the likeliest scales are not looked for
FIRST_PROBE, FIRST_DAMPING = 0.01, 1e-2  # of a belief's spread, and of a slope's square
FARTHEST = 1.0  # spread of a belief, in one step: slopes are true near by
VAGUE = (10.0, 2.0)  # of the believed wobble: as ways are looked at from far, then from near by

Residuals: TypeAlias = Callable[[Values, Floats], Sequence[Floats]]  # run by run, (samples, 3)
See: TypeAlias = Callable[[Point, Floats], Sequence[Sight]]


class Looks(NamedTuple):
    """Hold both ways of looking at the runs: ``residuals`` alone, or with all columns.

    Both of values, or where they are probed, and of the runs' own effects, (runs, 6).
    """

    residuals: Residuals
    see: See


class Stages(NamedTuple):
    """Hold the three stages of a search: by ways, by places roughly, and by places exactly."""

    ways: Looks
    rough: Looks
    fine: Looks


class Search:
    """Go downhill from a place: beliefs, effects of runs and scales, and what is seen there."""

    def __init__(self, looks: Looks, runs: int, known: Values, table: Sequence[Parameter]) -> None:
        self.looks, self._known, self._table = looks, known, table
        self.low = np.array([p.belief(p.low, known[p.name]) for p in table])
        self.high = np.array([p.belief(p.high, known[p.name]) for p in table])
        self._runs, self.scales = runs, believed_scales()
        self.begin({})

    def begin(self, first: Values) -> None:
        """Begin at these values, and where none is given at the known ones."""
        at = [p.belief(first.get(p.name, self._known[p.name]), self._known[p.name])
              for p in self._table]  # fmt: skip
        self.at = np.clip(np.array(at), self.low, self.high)
        self.owns = np.tile(NONE, (self._runs, 1))
        self.damping, self._probes = FIRST_DAMPING, np.full(len(at), FIRST_PROBE)

    def values(self, at: Floats) -> dict[str, float]:
        pairs = zip(self._table, at, strict=True)
        return {p.name: p.value(float(one), self._known[p.name]) for p, one in pairs}

    def sights(self) -> Sequence[Sight]:
        point = Point(self.at, self.values(self.at), self._probes)
        return self.looks.see(point, self.owns)

    def downhill(self, scales: Floats, steps: int, enough: float) -> Sequence[Sight]:
        """Step downhill until a step is no longer than ``enough``; returns what is seen there."""
        sights = self.sights()
        for _ in range(steps):
            length = self.step(sights, scales)
            sights = self.sights()
            if length < enough:
                break
        return sights

    def step(self, sights: Sequence[Sight], scales: Floats) -> float:
        """Take a step downhill, if there is one; returns its length, in deviations."""
        here = self.cost(sights, scales)
        one = system(sights, self.at, scales)
        own = _deviations(one.matrix, len(self.at))
        self._probes = probes(own)
        while self.damping < 1e6:
            at, owns = self._damped(sights, one.matrix, one.right, scales)
            found = self.looks.residuals(self.values(at), owns)
            if self._cost(sights, found, at, owns, scales) <= here:
                self.damping = max(0.1 * self.damping, 1e-8)
                length = float(np.max(np.abs(at - self.at) / own))
                self.at, self.owns = at, owns
                return length
            self.damping *= 10.0
        self.damping = FIRST_DAMPING
        return 0.0

    def deviations(self, sights: Sequence[Sight], scales: Floats) -> Floats:
        """Return the parameters' own deviations, in spreads of their beliefs."""
        return _deviations(system(sights, self.at, scales).matrix, len(self.at))

    def _damped(
        self, sights: Sequence[Sight], matrix: Floats, right: Floats, scales: Floats
    ) -> tuple[Floats, Floats]:
        """Find the next place; what would leave its range stays at its edge, the rest goes on."""
        count, here = len(self.at), state(sights, self.at, scales)
        damped = matrix + self.damping * np.diag(np.where(here.is_bent, np.diag(matrix), 0.0))
        pull = -right - matrix @ here.values
        free = np.ones(len(matrix), bool)
        step = np.zeros(len(matrix))
        for _ in range(count):
            rest = pull[free] - damped[np.ix_(free, ~free)] @ step[~free]
            step[free] = np.linalg.solve(damped[np.ix_(free, free)], rest)
            tried = self.at + step[:count]
            out = free[:count] & ((tried < self.low) | (tried > self.high))
            step[:count] = np.clip(tried, self.low, self.high) - self.at
            if not out.any():
                break
            free[:count] &= ~out
        step *= min(1.0, FARTHEST / max(float(np.max(np.abs(step[:count]))), FARTHEST))
        own = [
            sight.own + sight.run_scales(scales) * step[place : place + len(sight.own)]
            for sight, place in zip(sights, here.begins, strict=True)
        ]
        return self.at + step[:count], np.array(own)

    def cost(self, sights: Sequence[Sight], scales: Floats) -> float:
        """Return the cost of where the search is."""
        return self._cost(sights, [one.residual for one in sights], self.at, self.owns, scales)

    def _cost(
        self,
        sights: Sequence[Sight],
        residuals: Sequence[Floats],
        at: Floats,
        owns: Floats,
        scales: Floats,
    ) -> float:
        """Return the least half square of wobble, effects and beliefs, with these residuals."""
        cost = 0.5 * float(at @ at)
        for sight, residual, own in zip(sights, residuals, owns, strict=True):
            columns = np.concatenate([residual[:, :, None], sight.pieces(scales)], axis=2)
            white = whitened(sight.t_s, columns, scales)
            left, effects = white[:, 0], white[:, 1:]
            seen = effects.T @ left
            matrix = np.eye(len(seen)) + effects.T @ effects
            share = own / sight.run_scales(scales)
            cost += 0.5 * float(share @ share + left @ left - seen @ np.linalg.solve(matrix, seen))
        return cost


class End(NamedTuple):
    """Say where a search came to."""

    cost: float
    at: Floats
    owns: Floats
    scales: Floats


def fit(stages: Stages, runs: int, known: Values, table: Sequence[Parameter] = PARAMETERS) -> Fit:
    """Fit all of ``table``, in its order, from each beginning; the likeliest end counts."""
    search = Search(stages.ways, runs, known, table)
    ends = [*_beginnings(search, table)]
    for vague in VAGUE:
        ends = _on(search, ends, _vague(vague))
    search.looks = stages.rough
    rough = _on(search, ends, believed_scales())
    search.looks = stages.fine
    best = min(
        (_settled(search, one) for one in rough if one.cost < rough[0].cost + WORSE),
        key=lambda end: end.cost,
    )
    search.at, search.owns, search.scales = best.at, best.owns, best.scales
    return _told(search, stages.rough, known, table)


def _told(search: Search, rough: Looks, known: Values, table: Sequence[Parameter]) -> Fit:
    """Return what is known where the search ended, whose scales nobody knows for sure."""
    sights = search.sights()
    every = drawn_scales(sights, search.at, search.scales)
    covariance = mixed(sights, search.at, every)

    def moved(at: Floats, owns: Floats) -> Sequence[Floats]:
        return rough.residuals(search.values(at), owns)

    ground = Ground(sights, search.at, search.owns, search.scales, search.low, search.high)
    found = tuple(marginals(ground, np.sqrt(np.diag(covariance)), moved))
    return Fit(
        tuple(_estimates(search, found, known, table)),
        covariance,
        np.sqrt(np.mean(every**2, axis=0)),
        lack_of_fit(sights, search.scales),
        stretch(sights, search.at, search.scales),
        found,
    )


def _beginnings(search: Search, table: Sequence[Parameter]) -> Iterator[End]:
    """Yield the known values, with each set of ``first`` ones."""
    many = [p for p in table if p.first]
    for firsts in product(*(p.first for p in many)):
        search.begin({p.name: one for p, one in zip(many, firsts, strict=True)})
        yield End(0.0, search.at, search.owns, believed_scales())


def _vague(factor: float) -> Floats:
    """Return the believed scales, but for a wobble that is so much larger."""
    scales = believed_scales()
    scales[:2] *= factor
    return scales


def _on(search: Search, begun: Sequence[End], scales: Floats) -> list[End]:
    """Go downhill from each, with these scales; none twice or without hope, the likeliest first."""
    ends: list[End] = []
    for one in begun:
        search.at, search.owns, search.damping = one.at, one.owns, FIRST_DAMPING
        sights = search.downhill(scales, ROUGH_STEPS, ROUGHLY)
        own = search.deviations(sights, scales)
        if not any(np.all(np.abs(search.at - other.at) < 0.5 * own) for other in ends):
            ends.append(End(search.cost(sights, scales), search.at, search.owns, scales))
    ends.sort(key=lambda end: end.cost)
    return [end for end in ends if end.cost < ends[0].cost + HOPELESS]


def _settled(search: Search, begun: End) -> End:
    """Go on to the end: scales and parameters by turns."""
    search.at, search.owns, search.scales = begun.at, begun.owns, begun.scales
    search.damping = 1e-4
    sights = search.downhill(search.scales, STEPS, ROUGHLY)
    for _ in range(ROUNDS):
        search.scales = likeliest(sights, search.at, search.scales)
        before = search.at
        sights = search.downhill(search.scales, STEPS, ENOUGH)
        own = search.deviations(sights, search.scales)
        if float(np.max(np.abs(search.at - before) / own)) < 5.0 * ENOUGH:
            break
    cost = unlikely(sights, search.at, search.scales)
    return End(cost, search.at, search.owns, search.scales)


def _deviations(matrix: Floats, count: int) -> Floats:
    """Return the deviations of the first ``count``, by the matrix of a ``System``."""
    return np.asarray(np.sqrt(np.diag(np.linalg.inv(matrix))[:count]))


def _estimates(
    search: Search, found: Sequence[Marginal], known: Values, table: Sequence[Parameter]
) -> Iterator[Estimate]:
    low, high = (
        np.array(side) for side in zip(*(m.interval(CONFIDENCE) for m in found), strict=True)
    )
    is_fitted = high - low < TOLD * _WHOLE
    value, lowest, highest = map(search.values, (search.at, low, high))
    for p, told in zip(table, is_fitted, strict=True):
        yield Estimate(
            p.name, value[p.name], lowest[p.name], highest[p.name], known[p.name], bool(told)
        )


_WHOLE = 2.0 * float(norm.ppf(0.5 + 0.5 * CONFIDENCE))  # of a belief's interval, in spreads
