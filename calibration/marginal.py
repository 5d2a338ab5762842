"""What is known of one parameter when all others may give way: its marginal posterior.

Near the likeliest value all is linear and the marginal is normal, with the deviation of the
covariance. Farther away it need not be: a car that starts as fast as its tyres can tells that its
motors lag by no more than so much, and nothing of how little. So each parameter is moved, step by
step, the runs are driven there, all others give way, and what that costs is the marginal's
logarithm (profile: Murphy and van der Vaart, On Profile Likelihood, 2000). Intervals are of highest
density, so the likeliest value lies in each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.interpolate import PchipInterpolator  # type: ignore[import-untyped]
from scipy.stats import norm  # type: ignore[import-untyped]

from calibration.samples import Floats
from calibration.scatter import Sight, whitened

NEAR = 2.0  # deviations: where a profile is compared with the normal's
ALIKE = 0.1  # of a deviation there: such profiles are normal
STEPS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0, 13.0, 20.0, 40.0)  # of deviations, outward
FAR = 4.0  # deviations: a density of 3e-4
POINTS, WIDE = 801, 10

Moved: TypeAlias = Callable[[Floats, Floats], Sequence[Floats]]  # residuals, of beliefs and effects


@dataclass(frozen=True)
class Marginal:
    """Hold the density of one belief at places that rise."""

    place: Floats
    density: Floats

    @classmethod
    def normal(cls, at: float, deviation: float, low: float, high: float) -> Marginal:
        """Make a normal one that is cut off at the range."""
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
        """Return for each place what share is at least as dense, counted from the densest on."""
        weight = self.density * np.gradient(self.place)
        order = np.argsort(-self.density, kind="stable")
        shares = np.empty(len(weight))
        shares[order] = np.cumsum(weight[order]) / weight.sum()
        return shares


@dataclass(frozen=True)
class Ground:
    """Hold what a profile stands on: runs linearised at their fit, beliefs, scales, ranges."""

    sights: Sequence[Sight]
    at: Floats
    owns: Floats
    scales: Floats
    low: Floats
    high: Floats


def marginals(ground: Ground, deviations: Floats, moved: Moved) -> list[Marginal]:
    """Find all marginals, in the order of the beliefs.

    ``deviations`` know how unsure the scales are.
    """
    profiles = [_Profile(ground, i, moved) for i in range(len(ground.at))]
    bent = [one.curve() for one in profiles if not one.is_normal()]
    found = []
    for profile, deviation in zip(profiles, deviations, strict=True):
        ratio = float(deviation) / profile.deviation
        own = [curve for curve in bent if curve.number == profile.number]
        others = [curve.of_other(profile.number, ratio) for curve in bent if curve not in own]
        if own:
            found.append(own[0].marginal(ratio))
            continue
        i, widest = profile.number, max(others, key=Marginal.deviation, default=None)
        normal = Marginal.normal(
            *(float(x[i]) for x in (ground.at, deviations, ground.low, ground.high))
        )
        is_wider = widest is not None and widest.deviation() > normal.deviation()
        found.append(widest if widest is not None and is_wider else normal)
    return found


@dataclass(frozen=True, eq=False)
class _Curve:
    """A belief that is not normal: places, what each costs, and where all others are then, and how
    sure; nan where one does not give way."""

    number: int
    place: Floats
    cost: Floats
    means: Floats  # (places, beliefs)
    deviations: Floats  # (beliefs,)

    def _weights(self, ratio: float) -> tuple[Floats, Floats]:
        fine = np.linspace(self.place[0], self.place[-1], POINTS)
        cost = PchipInterpolator(self.place, self.cost)(fine)
        return fine, np.exp(-(cost - cost.min()) / ratio**2)

    def marginal(self, ratio: float) -> Marginal:
        return Marginal(*self._weights(ratio))

    def of_other(self, number: int, ratio: float) -> Marginal:
        """Mix the normal ones of another belief, by how much of this one is at each place."""
        fine, weight = self._weights(1.0)
        mean = np.interp(fine, self.place, self.means[:, number])
        deviation = ratio * float(self.deviations[number])
        if not np.isfinite(deviation):
            return Marginal.normal(0.0, 1e-9, 0.0, 0.0)
        most = mean[weight > np.exp(-0.5 * FAR**2)]
        place = np.linspace(most.min() - 6.0 * deviation, most.max() + 6.0 * deviation, POINTS)
        each = norm.pdf(place[:, None], mean[None, ::WIDE], deviation)
        return Marginal(place, each @ weight[::WIDE])


class _Place(NamedTuple):
    """Beliefs and the runs' own effects, and what it costs to be there."""

    at: Floats
    owns: Floats
    cost: float


class _Profile:
    """Profile one belief. Others that lie at the edge of their range stay there."""

    def __init__(self, ground: Ground, number: int, moved: Moved) -> None:
        self._ground, self.number, self._moved = ground, number, moved
        others = np.arange(len(ground.at)) != number
        self._free = others & (ground.at > ground.low) & (ground.at < ground.high)
        self._base = moved(ground.at, ground.owns)
        self._q, self._r = np.linalg.qr(self._design())
        slope = self._white([sight.slopes[:, :, number] for sight in ground.sights])
        slope = np.concatenate([slope, np.zeros(len(self._r))])
        told = self._q.T @ slope
        self.deviation = float(1.0 / np.sqrt(1.0 + slope @ slope - told @ told))
        self._gives = -np.linalg.solve(self._r, told)  # how all others give way, as slopes say
        self._begin = self._given(_Place(ground.at, ground.owns, 0.0))

    def is_normal(self) -> bool:
        """Say whether either side costs what slopes say, near by and within the range."""
        at = float(self._ground.at[self.number])
        for side in (-NEAR, NEAR):
            there = at + side * self.deviation
            if not self._ground.low[self.number] <= there <= self._ground.high[self.number]:
                return False
            at_there, owns = self._shifted(self._begin, self._gives * (there - at))
            found = self._given(_Place(self._with(at_there, there), owns, 0.0))
            if abs(self._off(found) - NEAR) > ALIKE * NEAR:
                return False
        return True

    def curve(self) -> _Curve:
        """Go outward on both sides until it is far too dear, or at the range's end."""
        at, known = float(self._ground.at[self.number]), [self._begin]
        for side, end in ((-1.0, self._ground.low), (1.0, self._ground.high)):
            edge, last = float(end[self.number]), self._begin
            for step in STEPS:
                there = at + side * step * self.deviation
                is_out = side * there >= side * edge
                here = self._with(last.at, edge if is_out else there)
                last = self._given(_Place(here, last.owns, 0.0))
                known.append(last)
                if self._off(last) > FAR or is_out:
                    break
        known.sort(key=lambda one: float(one.at[self.number]))
        places = {float(one.at[self.number]): one for one in known}
        deviations = np.full(len(self._ground.at), np.nan)
        inverse = np.linalg.inv(self._r)
        deviations[self._free] = np.sqrt((inverse**2).sum(axis=1))[: int(self._free.sum())]
        return _Curve(
            self.number,
            np.array([*places]),
            np.array([one.cost for one in places.values()]),
            np.array([one.at for one in places.values()]),
            deviations,
        )

    def _off(self, place: _Place) -> float:
        """Return how far off a place is, in deviations, if the belief were normal."""
        return float(np.sqrt(2.0 * max(place.cost - self._begin.cost, 0.0)))

    def _with(self, at: Floats, place: float) -> Floats:
        moved: Floats = at.copy()
        moved[self.number] = place
        return moved

    def _given(self, place: _Place) -> _Place:
        """Let all others give way from here, as slopes say."""
        ground = self._ground
        there = self._moved(place.at, place.owns)
        residuals = [
            sight.residual + one - base
            for sight, one, base in zip(ground.sights, there, self._base, strict=True)
        ]
        rows = [self._white(residuals), place.at[self._free]]
        for sight, own in zip(ground.sights, place.owns, strict=True):
            rows += [own / sight.run_scales(ground.scales), np.zeros(sight.piece_count)]
        left = np.concatenate(rows)
        told = self._q.T @ left
        cost = 0.5 * float(place.at[self.number] ** 2 + left @ left - told @ told)
        return _Place(*self._shifted(place, -np.linalg.solve(self._r, told)), cost)

    def _shifted(self, place: _Place, by: Floats) -> tuple[Floats, Floats]:
        """Shift beliefs, within their ranges, and own effects; the pieces' effects are no place."""
        ground, count = self._ground, int(self._free.sum())
        at, owns, begin = place.at.copy(), place.owns.copy(), count
        at[self._free] += by[:count]
        for i, sight in enumerate(ground.sights):
            end = begin + len(sight.own)
            owns[i] += by[begin:end] * sight.run_scales(ground.scales)
            begin = end + sight.piece_count
        return np.asarray(np.clip(at, ground.low, ground.high)), owns

    def _design(self) -> Floats:
        """Return whitened columns of what may give way, above the rows of their own beliefs."""
        sights, scales = self._ground.sights, self._ground.scales
        count = int(self._free.sum())
        effects = [whitened(s.t_s, s.effects(scales), scales) for s in sights]
        slopes = [whitened(s.t_s, s.slopes[:, :, self._free], scales) for s in sights]
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
        """Whiten (samples, 3) of each run, one below the other."""
        sights, scales = self._ground.sights, self._ground.scales
        white = [
            whitened(s.t_s, one[:, :, None], scales)[:, 0]
            for s, one in zip(sights, columns, strict=True)
        ]
        return np.concatenate(white)
