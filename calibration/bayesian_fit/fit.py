"""The maximum a posteriori fit of the parameters, given the runs and a prior.

All parameters are fitted at once, each standardised by its prior, so a parameter that a log does
not determine stays near its known value and is never dropped. The effects of runs and pieces
(``run_effects.py``) and their scales (``variance_components.py``) are fitted with them.

A car that starts late or turns too little ends far from where it was, and a linear step leads
astray. The search therefore starts with displacements along and across the heading instead of
positions (``as_displacements``), from several starting points. From the promising ends it continues
with positions and the scales' priors, and fits the scales only at the minimum: fitted sooner, they
would grow until they explain the runs. All steps are Gauss-Newton with Levenberg's damping. A
parameter's interval is that of its posterior, so it includes the variance between runs and the
uncertainty of all other parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.stats import norm  # type: ignore[import-untyped]

from calibration.arrays import Floats
from calibration.bayesian_fit.estimates import CONFIDENCE, Estimate, Fit
from calibration.bayesian_fit.lack_of_fit import lack_of_fit_test
from calibration.bayesian_fit.leave_one_out import band_stretch
from calibration.bayesian_fit.linearisation import SearchPoint, probes
from calibration.bayesian_fit.linearised_run import LinearisedRun
from calibration.bayesian_fit.marginals import Marginal, Optimum, marginals
from calibration.bayesian_fit.normal_equations import normal_equations, unknowns
from calibration.bayesian_fit.odometry_noise import whitened
from calibration.bayesian_fit.parameters import FIT_PARAMETERS, FitParameter
from calibration.bayesian_fit.run_effects import ZERO_EFFECTS
from calibration.bayesian_fit.variance_components import (
    averaged_covariance,
    drawn_scales,
    likeliest_scales,
    neg_log_likelihood,
    prior_scales,
)
from calibration.simulation.plant_numbers import Values

FITTED_SHARE = (
    0.5  # a parameter counts as fitted if its interval is below this share of its prior's
)
ENOUGH, ROUGHLY = 0.02, 0.2  # of a parameter's own deviation: a step that ends a search
ROUNDS, STEPS, ROUGH_STEPS = 4, 5, 25
HOPELESS = 20.0  # in log likelihood below the best: starting points that are not followed
WORSE = 6.0  # in log likelihood below the best: ends whose scales are not fitted
FIRST_PROBE, FIRST_DAMPING = 0.01, 1e-2  # of a prior's spread, and of a slope's square
FARTHEST = 1.0  # largest step, in spreads of a prior: slopes hold only near by
SMOOTHING = (10.0, 2.0)  # times the noise's prior scale: first a smoothed cost, then a sharper one

Residuals: TypeAlias = Callable[[Values, Floats], Sequence[Floats]]  # run by run, (samples, 3)
Linearise: TypeAlias = Callable[[SearchPoint, Floats], Sequence[LinearisedRun]]


class ResidualModel(NamedTuple):
    """The evaluation of all runs: ``residuals`` alone, or ``linearise`` with all derivatives.

    Both take the parameters (values, or a point with probes) and the runs' own effects, (runs, 6).
    """

    residuals: Residuals
    linearise: Linearise


class Stages(NamedTuple):
    """The stages of a search: by displacements, by positions roughly, by positions exactly."""

    displacements: ResidualModel
    rough: ResidualModel
    fine: ResidualModel


class GaussNewtonSearch:
    """A damped Gauss-Newton search over standardised parameters and run effects."""

    def __init__(
        self, models: ResidualModel, runs: int, known: Values, table: Sequence[FitParameter]
    ) -> None:
        self.models, self._known, self._table = models, known, table
        self.low = np.array([p.standardised(p.low, known[p.name]) for p in table])
        self.high = np.array([p.standardised(p.high, known[p.name]) for p in table])
        self._runs, self.scales = runs, prior_scales()
        self.begin({})

    def begin(self, first: Values) -> None:
        """Start at these values, and at the known value of each parameter that is not given."""
        at = [p.standardised(first.get(p.name, self._known[p.name]), self._known[p.name])
              for p in self._table]  # fmt: skip
        self.at = np.clip(np.array(at), self.low, self.high)
        self.owns = np.tile(ZERO_EFFECTS, (self._runs, 1))
        self.damping, self._probes = FIRST_DAMPING, np.full(len(at), FIRST_PROBE)

    def values(self, at: Floats) -> dict[str, float]:
        pairs = zip(self._table, at, strict=True)
        return {p.name: p.value(float(one), self._known[p.name]) for p, one in pairs}

    def linearise(self) -> Sequence[LinearisedRun]:
        point = SearchPoint(self.at, self.values(self.at), self._probes)
        return self.models.linearise(point, self.owns)

    def descend(self, scales: Floats, steps: int, enough: float) -> Sequence[LinearisedRun]:
        """Step downhill until a step is at most ``enough``; return the runs linearised there."""
        linearised = self.linearise()
        for _ in range(steps):
            length = self.step(linearised, scales)
            linearised = self.linearise()
            if length < enough:
                break
        return linearised

    def step(self, linearised: Sequence[LinearisedRun], scales: Floats) -> float:
        """Take one damped step that lowers the cost, if any; return its length in deviations."""
        here = self.cost(linearised, scales)
        one = normal_equations(linearised, self.at, scales)
        own = _deviations(one.matrix, len(self.at))
        self._probes = probes(own)
        while self.damping < 1e6:
            at, owns = self._damped(linearised, one.matrix, one.right, scales)
            found = self.models.residuals(self.values(at), owns)
            if self._cost(linearised, found, at, owns, scales) <= here:
                self.damping = max(0.1 * self.damping, 1e-8)
                length = float(np.max(np.abs(at - self.at) / own))
                self.at, self.owns = at, owns
                return length
            self.damping *= 10.0
        self.damping = FIRST_DAMPING
        return 0.0

    def deviations(self, linearised: Sequence[LinearisedRun], scales: Floats) -> Floats:
        """Return the parameters' posterior deviations, in spreads of their priors."""
        return _deviations(normal_equations(linearised, self.at, scales).matrix, len(self.at))

    def _damped(
        self, linearised: Sequence[LinearisedRun], matrix: Floats, right: Floats, scales: Floats
    ) -> tuple[Floats, Floats]:
        """Return the next point; parameters that would leave their range stay at its edge."""
        count, here = len(self.at), unknowns(linearised, self.at, scales)
        damped = matrix + self.damping * np.diag(np.where(here.is_nonlinear, np.diag(matrix), 0.0))
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
            run.own + run.run_scales(scales) * step[place : place + len(run.own)]
            for run, place in zip(linearised, here.begins, strict=True)
        ]
        return self.at + step[:count], np.array(own)

    def cost(self, linearised: Sequence[LinearisedRun], scales: Floats) -> float:
        """Return the cost (negative log posterior) of the current point."""
        return self._cost(
            linearised, [one.residual for one in linearised], self.at, self.owns, scales
        )

    def _cost(
        self,
        linearised: Sequence[LinearisedRun],
        residuals: Sequence[Floats],
        at: Floats,
        owns: Floats,
        scales: Floats,
    ) -> float:
        """Return half the squares of noise, effects and parameters, the pieces integrated out."""
        cost = 0.5 * float(at @ at)
        for run, residual, own in zip(linearised, residuals, owns, strict=True):
            columns = np.concatenate([residual[:, :, None], run.pieces(scales)], axis=2)
            white = whitened(run.t_s, columns, scales)
            left, effects = white[:, 0], white[:, 1:]
            seen = effects.T @ left
            matrix = np.eye(len(seen)) + effects.T @ effects
            share = own / run.run_scales(scales)
            cost += 0.5 * float(share @ share + left @ left - seen @ np.linalg.solve(matrix, seen))
        return cost


class SearchEnd(NamedTuple):
    """The point where a search ended, and its cost."""

    cost: float
    at: Floats
    owns: Floats
    scales: Floats


def fit(
    stages: Stages, runs: int, known: Values, table: Sequence[FitParameter] = FIT_PARAMETERS
) -> Fit:
    """Fit all of ``table``, in its order, from each starting point; the least cost counts."""
    search = GaussNewtonSearch(stages.displacements, runs, known, table)
    ends = [*_starting_points(search, table)]
    for vague in SMOOTHING:
        ends = _searched(search, ends, _smoothed_scales(vague))
    search.models = stages.rough
    rough = _searched(search, ends, prior_scales())
    search.models = stages.fine
    best = min(
        (_converged(search, one) for one in rough if one.cost < rough[0].cost + WORSE),
        key=lambda end: end.cost,
    )
    search.at, search.owns, search.scales = best.at, best.owns, best.scales
    return _result(search, stages.rough, known, table)


def _result(
    search: GaussNewtonSearch, rough: ResidualModel, known: Values, table: Sequence[FitParameter]
) -> Fit:
    """Return the fit at the point where the search ended, averaged over the uncertain scales."""
    linearised = search.linearise()
    every = drawn_scales(linearised, search.at, search.scales)
    covariance = averaged_covariance(linearised, search.at, every)

    def moved(at: Floats, owns: Floats) -> Sequence[Floats]:
        return rough.residuals(search.values(at), owns)

    optimum = Optimum(linearised, search.at, search.owns, search.scales, search.low, search.high)
    found = tuple(marginals(optimum, np.sqrt(np.diag(covariance)), moved))
    return Fit(
        tuple(_estimates(search, found, known, table)),
        covariance,
        np.sqrt(np.mean(every**2, axis=0)),
        lack_of_fit_test(linearised, search.scales),
        band_stretch(linearised, search.at, search.scales),
        found,
    )


def _starting_points(
    search: GaussNewtonSearch, table: Sequence[FitParameter]
) -> Iterator[SearchEnd]:
    """Yield the known values, combined with each set of the parameters' ``first`` values."""
    many = [p for p in table if p.first]
    for firsts in product(*(p.first for p in many)):
        search.begin({p.name: one for p, one in zip(many, firsts, strict=True)})
        yield SearchEnd(0.0, search.at, search.owns, prior_scales())


def _smoothed_scales(factor: float) -> Floats:
    """Return the prior scales with the noise multiplied by ``factor``."""
    scales = prior_scales()
    scales[:2] *= factor
    return scales


def _searched(
    search: GaussNewtonSearch, begun: Sequence[SearchEnd], scales: Floats
) -> list[SearchEnd]:
    """Search downhill from each point with these scales; return the ends, least cost first.

    Ends that were reached before, or that cost ``HOPELESS`` more than the best, are left out.
    """
    ends: list[SearchEnd] = []
    for one in begun:
        search.at, search.owns, search.damping = one.at, one.owns, FIRST_DAMPING
        linearised = search.descend(scales, ROUGH_STEPS, ROUGHLY)
        own = search.deviations(linearised, scales)
        if not any(np.all(np.abs(search.at - other.at) < 0.5 * own) for other in ends):
            ends.append(SearchEnd(search.cost(linearised, scales), search.at, search.owns, scales))
    ends.sort(key=lambda end: end.cost)
    return [end for end in ends if end.cost < ends[0].cost + HOPELESS]


def _converged(search: GaussNewtonSearch, begun: SearchEnd) -> SearchEnd:
    """Search to convergence, alternating between the scales and the parameters."""
    search.at, search.owns, search.scales = begun.at, begun.owns, begun.scales
    search.damping = 1e-4
    linearised = search.descend(search.scales, STEPS, ROUGHLY)
    for _ in range(ROUNDS):
        search.scales = likeliest_scales(linearised, search.at, search.scales)
        before = search.at
        linearised = search.descend(search.scales, STEPS, ENOUGH)
        own = search.deviations(linearised, search.scales)
        if float(np.max(np.abs(search.at - before) / own)) < 5.0 * ENOUGH:
            break
    cost = neg_log_likelihood(linearised, search.at, search.scales)
    return SearchEnd(cost, search.at, search.owns, search.scales)


def _deviations(matrix: Floats, count: int) -> Floats:
    """Return the posterior deviations of the first ``count`` unknowns of the normal equations."""
    return np.asarray(np.sqrt(np.diag(np.linalg.inv(matrix))[:count]))


def _estimates(
    search: GaussNewtonSearch,
    found: Sequence[Marginal],
    known: Values,
    table: Sequence[FitParameter],
) -> Iterator[Estimate]:
    low, high = (
        np.array(side) for side in zip(*(m.interval(CONFIDENCE) for m in found), strict=True)
    )
    is_fitted = high - low < FITTED_SHARE * _WHOLE
    value, lowest, highest = map(search.values, (search.at, low, high))
    for p, one in zip(table, is_fitted, strict=True):
        yield Estimate(
            p.name, value[p.name], lowest[p.name], highest[p.name], known[p.name], bool(one)
        )


_WHOLE = 2.0 * float(norm.ppf(0.5 + 0.5 * CONFIDENCE))  # width of a prior's interval, in spreads
