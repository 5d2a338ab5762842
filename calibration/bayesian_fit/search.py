"""A damped Gauss-Newton search for the parameters and the runs' effects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from calibration.arrays import Floats
from calibration.bayesian_fit.linearisation import SearchPoint, probes
from calibration.bayesian_fit.linearised_run import LinearisedRun
from calibration.bayesian_fit.normal_equations import normal_equations, unknowns
from calibration.bayesian_fit.odometry_noise import whitened
from calibration.bayesian_fit.parameters import FitParameter
from calibration.bayesian_fit.run_effects import ZERO_EFFECTS
from calibration.bayesian_fit.variance_components import prior_scales
from calibration.simulation.plant_numbers import Values

FIRST_PROBE, FIRST_DAMPING = 0.01, 1e-2  # of a prior's spread, and of a slope's square
FARTHEST = 1.0  # largest step, in spreads of a prior: slopes hold only near by
Residuals: TypeAlias = Callable[[Values, Floats], Sequence[Floats]]  # run by run, (samples, 3)
Linearise: TypeAlias = Callable[[SearchPoint, Floats], Sequence[LinearisedRun]]


class ResidualModel(NamedTuple):
    """The evaluation of all runs: ``residuals`` alone, or ``linearise`` with all derivatives.

    Both take the parameters (values, or a point with probes) and the runs' own effects, (runs, 6).
    """

    residuals: Residuals
    linearise: Linearise


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
        self.run_effects = np.tile(ZERO_EFFECTS, (self._runs, 1))
        self.damping, self._probes = FIRST_DAMPING, np.full(len(at), FIRST_PROBE)

    def values(self, at: Floats) -> dict[str, float]:
        pairs = zip(self._table, at, strict=True)
        return {p.name: p.value(float(one), self._known[p.name]) for p, one in pairs}

    def linearise(self) -> Sequence[LinearisedRun]:
        point = SearchPoint(self.at, self.values(self.at), self._probes)
        return self.models.linearise(point, self.run_effects)

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
        deviations = _deviations(one.matrix, len(self.at))
        self._probes = probes(deviations)
        while self.damping < 1e6:
            at, run_effects = self._damped(linearised, one.matrix, one.right, scales)
            found = self.models.residuals(self.values(at), run_effects)
            if self._cost(linearised, found, at, run_effects, scales) <= here:
                # a tenth after each step that helped; below 1e-8 it is none
                self.damping = max(0.1 * self.damping, 1e-8)
                length = float(np.max(np.abs(at - self.at) / deviations))
                self.at, self.run_effects = at, run_effects
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
            linearised, [one.residual for one in linearised], self.at, self.run_effects, scales
        )

    def _cost(
        self,
        linearised: Sequence[LinearisedRun],
        residuals: Sequence[Floats],
        at: Floats,
        run_effects: Floats,
        scales: Floats,
    ) -> float:
        """Return half the squares of noise, effects and parameters, the pieces integrated out."""
        cost = 0.5 * float(at @ at)
        for run, residual, own in zip(linearised, residuals, run_effects, strict=True):
            columns = np.concatenate([residual[:, :, None], run.linear(scales)], axis=2)
            white = whitened(run.t_s, columns, scales)
            left, effects = white[:, 0], white[:, 1:]
            seen = effects.T @ left
            matrix = np.eye(len(seen)) + effects.T @ effects
            share = own / run.run_scales(scales)
            cost += 0.5 * float(share @ share + left @ left - seen @ np.linalg.solve(matrix, seen))
        return cost


def _deviations(matrix: Floats, count: int) -> Floats:
    """Return the posterior deviations of the first ``count`` unknowns of the normal equations."""
    return np.asarray(np.sqrt(np.diag(np.linalg.inv(matrix))[:count]))
