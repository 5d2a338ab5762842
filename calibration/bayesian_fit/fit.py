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

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.stats import norm  # type: ignore[import-untyped]

from calibration.arrays import Floats
from calibration.bayesian_fit.estimates import CONFIDENCE, Fit
from calibration.bayesian_fit.lack_of_fit import lack_of_fit_test
from calibration.bayesian_fit.leave_one_out import band_stretch
from calibration.bayesian_fit.marginals import Marginal, Optimum, marginals
from calibration.bayesian_fit.parameters import FIT_PARAMETERS, FitParameter
from calibration.bayesian_fit.search import FIRST_DAMPING, GaussNewtonSearch, ResidualModel
from calibration.bayesian_fit.variance_components import (
    averaged_covariance,
    drawn_scales,
    likeliest_scales,
    neg_log_likelihood,
    prior_scales,
)
from calibration.parameters import Estimate
from calibration.simulation.plant_numbers import Values

FITTED_SHARE = 0.5  # of the prior's interval: a parameter with a shorter one counts as fitted
ENOUGH, ROUGHLY = 0.02, 0.2  # of a parameter's own deviation: a step that ends a search
# chosen: a fit that has not ended by then goes on to and fro, and the time is better spent
# elsewhere
ROUNDS, STEPS, ROUGH_STEPS = 4, 5, 25
HOPELESS = 20.0  # in log likelihood below the best: starting points that are not followed
WORSE = 6.0  # in log likelihood below the best: ends whose scales are not fitted
SMOOTHING = (10.0, 2.0)  # times the noise's prior scale: first a smoothed cost, then a sharper one


class Stages(NamedTuple):
    """The stages of a search: by displacements, by positions roughly, by positions exactly."""

    displacements: ResidualModel
    rough: ResidualModel
    fine: ResidualModel


class SearchEnd(NamedTuple):
    """The point where a search ended, and its cost."""

    cost: float
    at: Floats
    run_effects: Floats
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
    search.at, search.run_effects, search.scales = best.at, best.run_effects, best.scales
    return _result(search, stages.rough, known, table)


def _result(
    search: GaussNewtonSearch, rough: ResidualModel, known: Values, table: Sequence[FitParameter]
) -> Fit:
    """Return the fit at the point where the search ended, averaged over the uncertain scales."""
    linearised = search.linearise()
    every = drawn_scales(linearised, search.at, search.scales)
    covariance = averaged_covariance(linearised, search.at, every)

    def moved(at: Floats, run_effects: Floats) -> Sequence[Floats]:
        return rough.residuals(search.values(at), run_effects)

    optimum = Optimum(
        linearised, search.at, search.run_effects, search.scales, search.low, search.high
    )
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
        yield SearchEnd(0.0, search.at, search.run_effects, prior_scales())


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
        search.at, search.run_effects, search.damping = one.at, one.run_effects, FIRST_DAMPING
        linearised = search.descend(scales, ROUGH_STEPS, ROUGHLY)
        own = search.deviations(linearised, scales)
        if not any(np.all(np.abs(search.at - other.at) < 0.5 * own) for other in ends):
            ends.append(
                SearchEnd(search.cost(linearised, scales), search.at, search.run_effects, scales)
            )
    ends.sort(key=lambda end: end.cost)
    return [end for end in ends if end.cost < ends[0].cost + HOPELESS]


def _converged(search: GaussNewtonSearch, begun: SearchEnd) -> SearchEnd:
    """Search to convergence, alternating between the scales and the parameters."""
    search.at, search.run_effects, search.scales = begun.at, begun.run_effects, begun.scales
    search.damping = 1e-4  # small, for the rough search has come near
    linearised = search.descend(search.scales, STEPS, ROUGHLY)
    for _ in range(ROUNDS):
        search.scales = likeliest_scales(linearised, search.at, search.scales)
        before = search.at
        linearised = search.descend(search.scales, STEPS, ENOUGH)
        own = search.deviations(linearised, search.scales)
        # the scales move the maximum by less than is worth another round
        if float(np.max(np.abs(search.at - before) / own)) < 5.0 * ENOUGH:
            break
    cost = neg_log_likelihood(linearised, search.at, search.scales)
    return SearchEnd(cost, search.at, search.run_effects, search.scales)


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
            p.name,
            value[p.name],
            lowest[p.name],
            highest[p.name],
            known=known[p.name],
            is_fitted=bool(one),
        )


_WHOLE = 2.0 * float(norm.ppf(0.5 + 0.5 * CONFIDENCE))  # width of a prior's interval, in spreads
