"""The marginal posterior of each parameter while all others vary, found from profile likelihoods.

Near the maximum the model is linear and the marginal is normal, with the deviation of the
covariance. Farther away it need not be: a car that starts as fast as its tyres can bounds the lag
of its motors from above and says nothing of how small it is. So each parameter is moved step by
step, the runs are simulated there, all others are re-estimated, and the increase in cost is the
logarithm of the marginal (profile: Murphy and van der Vaart, On Profile Likelihood, 2000).
Intervals are of highest density, so the likeliest value lies in each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.interpolate import PchipInterpolator  # type: ignore[import-untyped]
from scipy.stats import norm  # type: ignore[import-untyped]

from calibration.arrays import Floats
from calibration.bayesian_fit.linearised_run import LinearisedRun
from calibration.bayesian_fit.odometry_noise import whitened

NEAR = 2.0  # deviations from the maximum: where a profile is compared with the normal's
ALIKE = 0.1  # relative difference there below which a profile counts as normal
STEPS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0, 13.0, 20.0, 40.0)  # of deviations, outward
FAR = 4.0  # deviations from the maximum where a profile ends: a density of 3e-4
POINTS, WIDE = 801, 10  # of the grid, a step is 0.015 deviations; and which of them a mixture takes

Moved: TypeAlias = Callable[[Floats, Floats], Sequence[Floats]]  # residuals


@dataclass(frozen=True)
class Marginal:
    """The density of one standardised parameter at rising places."""

    place: Floats
    density: Floats

    @classmethod
    def normal(cls, at: float, deviation: float, low: float, high: float) -> Marginal:
        """Return a normal density that is cut off at the ends of the range."""
        # deviations: beyond is 2e-9 of the whole
        place = np.linspace(max(at - 6.0 * deviation, low), min(at + 6.0 * deviation, high), POINTS)
        return cls(place, norm.pdf(place, at, deviation))

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the interval of highest density, which always holds the likeliest value."""
        inside = self._shares() <= confidence
        inside[int(np.argmax(self.density))] = True
        there = self.place[inside]
        return float(there[0]), float(there[-1])

    def deviation(self) -> float:
        weight = self.density * np.gradient(self.place)
        mean = float(self.place @ weight / weight.sum())
        return float(np.sqrt((self.place - mean) ** 2 @ weight / weight.sum()))

    def level(self, at: float) -> float:
        """Return the share that is denser than here: an interval of that confidence ends here."""
        if not self.place[0] <= at <= self.place[-1]:
            return 1.0
        return float(np.interp(at, self.place, self._shares()))

    def _shares(self) -> Floats:
        """Return for each place the share that is at least as dense, starting with the densest."""
        weight = self.density * np.gradient(self.place)
        order = np.argsort(-self.density, kind="stable")
        shares = np.empty(len(weight))
        shares[order] = np.cumsum(weight[order]) / weight.sum()
        return shares


@dataclass(frozen=True)
class Optimum:
    """The inputs of all profiles: runs linearised at their fit, parameters, scales and ranges."""

    linearised: Sequence[LinearisedRun]
    at: Floats
    run_effects: Floats
    scales: Floats
    low: Floats
    high: Floats


def marginals(optimum: Optimum, deviations: Floats, moved: Moved) -> list[Marginal]:
    """Return the marginals of all standardised parameters, in order.

    ``deviations`` include the uncertainty of the scales. A parameter whose own profile is normal
    takes the widest of its marginals as the bent profiles imply them, if wider than the normal one.
    """
    profiles = [_LikelihoodProfile(optimum, i, moved) for i in range(len(optimum.at))]
    bent = [one.curve() for one in profiles if not one.is_normal()]
    found = []
    for profile, deviation in zip(profiles, deviations, strict=True):
        ratio = float(deviation) / profile.deviation
        own = [curve for curve in bent if curve.number == profile.number]
        others = [
            curve.marginal_of_other(profile.number, ratio) for curve in bent if curve not in own
        ]
        if own:
            found.append(own[0].marginal(ratio))
            continue
        i, widest = profile.number, max(others, key=Marginal.deviation, default=None)
        normal = Marginal.normal(
            *(float(x[i]) for x in (optimum.at, deviations, optimum.low, optimum.high))
        )
        is_wider = widest is not None and widest.deviation() > normal.deviation()
        found.append(widest if widest is not None and is_wider else normal)
    return found


@dataclass(frozen=True, eq=False)
class _ProfileCurve:
    """The profile of a parameter, where it is not normal.

    Places, the cost of each, the values of all other parameters there, and their deviations; a
    deviation is nan for a parameter that is held at the edge of its range.
    """

    number: int
    place: Floats
    cost: Floats
    means: Floats  # (places, parameters)
    deviations: Floats  # (parameters,)

    def _weights(self, ratio: float) -> tuple[Floats, Floats]:
        fine = np.linspace(self.place[0], self.place[-1], POINTS)
        cost = PchipInterpolator(self.place, self.cost)(fine)
        return fine, np.exp(-(cost - cost.min()) / ratio**2)

    def marginal(self, ratio: float) -> Marginal:
        return Marginal(*self._weights(ratio))

    def marginal_of_other(self, number: int, ratio: float) -> Marginal:
        """Return another parameter's marginal: its normals, mixed by this one's density."""
        fine, weight = self._weights(1.0)
        mean = np.interp(fine, self.place, self.means[:, number])
        deviation = ratio * float(self.deviations[number])
        if not np.isfinite(deviation):
            # as narrow as no interval is: nothing is in doubt
            return Marginal.normal(0.0, 1e-9, 0.0, 0.0)
        most = mean[weight > np.exp(-0.5 * FAR**2)]
        # deviations, as above
        place = np.linspace(most.min() - 6.0 * deviation, most.max() + 6.0 * deviation, POINTS)
        each = norm.pdf(place[:, None], mean[None, ::WIDE], deviation)
        return Marginal(place, each @ weight[::WIDE])


class _ProfilePoint(NamedTuple):
    """A point of the search: parameters, the runs' own effects, and the cost there."""

    at: Floats
    run_effects: Floats
    cost: float


class _LikelihoodProfile:
    """The profile likelihood of one parameter; others at the edge of their range stay there."""

    def __init__(self, optimum: Optimum, number: int, moved: Moved) -> None:
        self._optimum, self.number, self._moved = optimum, number, moved
        others = np.arange(len(optimum.at)) != number
        self._free = others & (optimum.at > optimum.low) & (optimum.at < optimum.high)
        self._base = moved(optimum.at, optimum.run_effects)
        self._q, self._r = np.linalg.qr(self._design())
        slope = self._white([run.slopes[:, :, number] for run in optimum.linearised])
        slope = np.concatenate([slope, np.zeros(len(self._r))])
        projected = self._q.T @ slope
        self.deviation = float(1.0 / np.sqrt(1.0 + slope @ slope - projected @ projected))
        self._gives = -np.linalg.solve(self._r, projected)  # slopes of all others by this parameter
        self._begin = self._reestimated(_ProfilePoint(optimum.at, optimum.run_effects, 0.0))

    def is_normal(self) -> bool:
        """Return whether the profile agrees with the normal's at ``NEAR`` deviations on both sides.

        It does not where either place is out of the range.
        """
        at = float(self._optimum.at[self.number])
        for side in (-NEAR, NEAR):
            there = at + side * self.deviation
            if not self._optimum.low[self.number] <= there <= self._optimum.high[self.number]:
                return False
            at_there, run_effects = self._shifted(self._begin, self._gives * (there - at))
            found = self._reestimated(_ProfilePoint(self._with(at_there, there), run_effects, 0.0))
            if abs(self._deviations_away(found) - NEAR) > ALIKE * NEAR:
                return False
        return True

    def curve(self) -> _ProfileCurve:
        """Step outward on both sides until the cost exceeds ``FAR`` deviations or range ends."""
        at, known = float(self._optimum.at[self.number]), [self._begin]
        for side, end in ((-1.0, self._optimum.low), (1.0, self._optimum.high)):
            edge, last = float(end[self.number]), self._begin
            for step in STEPS:
                there = at + side * step * self.deviation
                is_out = side * there >= side * edge
                here = self._with(last.at, edge if is_out else there)
                last = self._reestimated(_ProfilePoint(here, last.run_effects, 0.0))
                known.append(last)
                if self._deviations_away(last) > FAR or is_out:
                    break
        known.sort(key=lambda one: float(one.at[self.number]))
        places = {float(one.at[self.number]): one for one in known}
        deviations = np.full(len(self._optimum.at), np.nan)
        inverse = np.linalg.inv(self._r)
        deviations[self._free] = np.sqrt((inverse**2).sum(axis=1))[: int(self._free.sum())]
        return _ProfileCurve(
            self.number,
            np.array([*places]),
            np.array([one.cost for one in places.values()]),
            np.array([one.at for one in places.values()]),
            deviations,
        )

    def _deviations_away(self, place: _ProfilePoint) -> float:
        """Return the distance of a place in deviations, as a normal's cost would give it."""
        return float(np.sqrt(2.0 * max(place.cost - self._begin.cost, 0.0)))

    def _with(self, at: Floats, place: float) -> Floats:
        moved: Floats = at.copy()
        moved[self.number] = place
        return moved

    def _reestimated(self, place: _ProfilePoint) -> _ProfilePoint:
        """Re-estimate all other unknowns at this place by one linear step; return the new place."""
        optimum = self._optimum
        there = self._moved(place.at, place.run_effects)
        residuals = [
            run.residual + one - base
            for run, one, base in zip(optimum.linearised, there, self._base, strict=True)
        ]
        rows = [self._white(residuals), place.at[self._free]]
        for run, own in zip(optimum.linearised, place.run_effects, strict=True):
            rows += [own / run.run_scales(optimum.scales), np.zeros(run.linear_count)]
        left = np.concatenate(rows)
        projected = self._q.T @ left
        cost = 0.5 * float(place.at[self.number] ** 2 + left @ left - projected @ projected)
        return _ProfilePoint(*self._shifted(place, -np.linalg.solve(self._r, projected)), cost)

    def _shifted(self, place: _ProfilePoint, by: Floats) -> tuple[Floats, Floats]:
        """Return parameters, clipped to their ranges, and run effects, shifted by ``by``.

        ``by`` also holds the pieces' effects, which are not part of a place and are skipped.
        """
        optimum, count = self._optimum, int(self._free.sum())
        at, run_effects, begin = place.at.copy(), place.run_effects.copy(), count
        at[self._free] += by[:count]
        for i, run in enumerate(optimum.linearised):
            end = begin + len(run.own)
            run_effects[i] += by[begin:end] * run.run_scales(optimum.scales)
            begin = end + run.linear_count
        return np.asarray(np.clip(at, optimum.low, optimum.high)), run_effects

    def _design(self) -> Floats:
        """Return the whitened columns of the free unknowns, above the rows of their own priors."""
        linearised, scales = self._optimum.linearised, self._optimum.scales
        count = int(self._free.sum())
        effects = [whitened(s.t_s, s.effects(scales), scales) for s in linearised]
        slopes = [whitened(s.t_s, s.slopes[:, :, self._free], scales) for s in linearised]
        size = count + sum(one.shape[1] for one in effects)
        above, begin = [], count
        for slope, effect in zip(slopes, effects, strict=True):
            row = np.zeros((len(slope), size))
            row[:, :count] = slope
            row[:, begin : begin + effect.shape[1]] = effect
            above.append(row)
            begin += effect.shape[1]
        return np.concatenate([*above, np.eye(size)])

    def _white(self, columns: Sequence[Floats]) -> Floats:
        """Whiten (samples, 3) of each run and stack the runs."""
        linearised, scales = self._optimum.linearised, self._optimum.scales
        white = [
            whitened(s.t_s, one[:, :, None], scales)[:, 0]
            for s, one in zip(linearised, columns, strict=True)
        ]
        return np.concatenate(white)
