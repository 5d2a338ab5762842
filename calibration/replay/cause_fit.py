"""The search for the single cause that explains how a drive differs from its twin's.

Each cause is fitted by itself, in Gauss and Newton's steps on the replay. What may differ from run
to run, and what a sensor may be off, is part of the noise: so an amount that is as usual explains
nothing. A cause is told if it explains most of the misfit, and by far more than the second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve  # type: ignore[import-untyped]

from calibration.arrays import Floats
from calibration.simulation.causes import CAUSES, SingleCause

# Fixed on seeds that the study's figure does not use (tests/studies/logs/cause_study.py)
LEAST_GAIN = 20.0  # of the misfit's chi square, that a cause must explain to be told at all
LEAST_LEAD = 10.0  # by which the first must be ahead of the second
LEAST_SHARE = 0.7  # of the misfit beyond the noise
LEAST_MISFIT = 1.2  # times the noise: of less there is nothing to explain
LEAST_WORTH = 0.6  # of the amount that is worth telling: less is not told
# Without a cause, over this many times the noise it differs; drives without a cause are below it
MUCH_MISFIT = 3.0
_REFINED = 5  # the causes that look best are fitted on; the others explain far less
_STEPS = 7  # parabolas: most come to the amount after four
_NEAR = 0.03  # of what is worth telling: nearer to a try than that is no new one
_APART = 0.2  # of it: tries so far apart show a slope that chance does not make
_LEAST_TOLD = 1e-12  # of an amount that changes nothing: its deviation is then a million
_QUANTILE = 1.96  # of a 95 % interval


class ComparedDrive(Protocol):
    """The part of a drive that a search needs; all arrays are flat and of one length."""

    measured: Floats
    noise: Floats
    own: Floats
    constants: list[Floats]

    def can_have(self, cause: SingleCause) -> bool: ...
    def simulated(self, cause: SingleCause, amount: float) -> Floats: ...


class FittedCause(NamedTuple):
    """A fitted cause: its amount with its deviation, and how much misfit it explains."""

    cause: SingleCause
    amount: float
    deviation: float
    gain: float  # of chi square, over what is left
    share: float  # of the misfit beyond the noise that it explains

    @property
    def is_large(self) -> bool:
        """True if it is no small amount."""
        return abs(self.amount) >= LEAST_WORTH * self.cause.worth

    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval of the amount, with what is as usual in it."""
        half = _QUANTILE * hypot(self.deviation, self.cause.usual)
        return max(self.amount - half, self.cause.low), min(self.amount + half, self.cause.high)

    def sentence(self) -> str:
        return self.cause.sentence(self.amount, *self.interval())


@dataclass(frozen=True)
class Finding:
    """The answer of a drive to what its car differs from its twin by.

    ``told`` is the single cause, if there is one. ``undecided`` are the best two where something
    differs and no single cause is told. ``not_told`` are causes that this drive could not tell.
    ``misfit`` is what is left without a cause, in noise (mean square).
    """

    told: FittedCause | None
    undecided: tuple[FittedCause, ...]
    not_told: tuple[SingleCause, ...]
    misfit: float
    candidates: tuple[FittedCause, ...]

    @property
    def differs(self) -> bool:
        """True if car and twin differ by more than runs of one car do."""
        return bool(self.told or self.undecided) or self.misfit > MUCH_MISFIT


class _Weights:
    """The inverse of the noise's covariance: white noise, and columns of what usually differs."""

    def __init__(self, columns: Sequence[Floats]) -> None:
        self._columns = np.column_stack(columns)
        inner = np.eye(self._columns.shape[1]) + self._columns.T @ self._columns
        self._factor = cho_factor(inner)

    def times(self, vector: Floats) -> Floats:
        return np.asarray(
            vector - self._columns @ cho_solve(self._factor, self._columns.T @ vector)
        )

    def square(self, rest: Floats) -> float:
        """Return the chi square of what is left."""
        return float(rest @ self.times(rest))


def search(drive: ComparedDrive, progress: Callable[[float], None] = lambda _: None) -> Finding:
    """Return what this drive says; ``progress`` hears the share that is done."""
    causes = [cause for cause in CAUSES if drive.can_have(cause)]
    tries = {}
    for at, cause in enumerate(causes):
        progress(0.5 * at / len(causes))
        tries[cause] = _Tries(drive, cause)
    weights = _weights(drive, {cause: it.slope() for cause, it in tries.items()})
    order = sorted(causes, key=lambda it: tries[it].least())
    for at, cause in enumerate(order[:_REFINED]):
        progress(0.5 + 0.5 * at / _REFINED)
        tries[cause].refine(_STEPS)
    progress(1.0)
    rest = (drive.measured - drive.own) / drive.noise
    before = weights[None].square(rest)
    found = [it.candidate(weights[cause], before) for cause, it in tries.items()]
    return _judged(found, before, len(rest))


class _Tries:
    """Replays of one cause at several amounts, and how much misfit each leaves."""

    def __init__(self, drive: ComparedDrive, cause: SingleCause) -> None:
        self._drive, self.cause = drive, cause
        # What a sensor is off throughout is no misfit
        self._plain = _Weights([it / drive.noise for it in drive.constants])
        self._rests: dict[float, Floats] = {}
        self._squares: dict[float, float] = {}
        self._keep(0.0, drive.own)
        for times in (-2.0, -1.0, 1.0, 2.0):
            self._replay(self._bounded(times * cause.worth))

    def _replay(self, amount: float) -> None:
        self._keep(amount, self._drive.simulated(self.cause, amount))

    def _keep(self, amount: float, made: Floats) -> None:
        rest = (self._drive.measured - made) / self._drive.noise
        self._rests[amount], self._squares[amount] = rest, self._plain.square(rest)

    def slope(self) -> Floats:
        """Return how the readings change per amount, in noise, by the tries at either side of 0."""
        known = sorted(self._rests)
        at = known.index(0.0)
        low, high = known[at - 1], known[at + 1]
        return np.asarray((self._rests[low] - self._rests[high]) / (high - low))

    def least(self) -> float:
        """Return the least misfit of the tries."""
        return min(self._squares.values())

    def _bounded(self, amount: float) -> float:
        return float(np.clip(amount, self.cause.low, self.cause.high))

    def refine(self, steps: int) -> None:
        """Come nearer to the amount that leaves least, by parabolas through the best tries."""
        for _ in range(steps):
            amount = self._vertex()
            if self._is_known(amount):
                amount = self._halfway()
            if self._is_known(amount):
                break
            self._replay(amount)

    def _is_known(self, amount: float) -> bool:
        return min(abs(amount - it) for it in self._rests) < _NEAR * self.cause.worth

    def _around(self) -> list[float]:
        """Return the best try between its neighbours; it may be the last on its side."""
        known = sorted(self._squares)
        at = min(range(len(known)), key=lambda it: self._squares[known[it]])
        return known[max(at - 1, 0) : at + 2]

    def _vertex(self) -> float:
        """Return where the parabola through the best try and its neighbours is least.

        Where the best is the last on its side, it is as far again on.
        """
        x = np.array(self._around())
        y = [self._squares[it] for it in x]
        if len(x) < 3:
            best, other = (x[0], x[1]) if y[0] < y[1] else (x[1], x[0])
            return self._bounded(2.0 * best - other)
        bend, slope, _ = np.polyfit(x - x[1], y, 2)
        if bend <= 0.0:
            return float(x[1])
        return float(np.clip(x[1] - 0.5 * slope / bend, x[0], x[2]))

    def _halfway(self) -> float:
        """Return the middle between the best try and the better one of its neighbours."""
        around = sorted(self._around(), key=lambda it: self._squares[it])
        return 0.5 * (around[0] + around[1])

    def candidate(self, weights: _Weights, before: float) -> FittedCause:
        """Return the best try by these weights, with the deviation by the readings' slope there."""
        squares = {it: weights.square(rest) for it, rest in self._rests.items()}
        best = min(squares, key=lambda it: squares[it])
        far = [it for it in self._rests if abs(it - best) > _APART * self.cause.worth]
        near = min(far, key=lambda it: abs(it - best))
        slope = (self._rests[best] - self._rests[near]) / (near - best)
        told = max(float(slope @ weights.times(slope)), _LEAST_TOLD)
        count, share = len(slope), 0.0
        if self._squares[0.0] > LEAST_MISFIT * count:
            share = 1.0 - (self._squares[best] - count) / (self._squares[0.0] - count)
        return FittedCause(self.cause, best, told**-0.5, before - squares[best], share)


def _judged(found: Sequence[FittedCause], before: float, count: int) -> Finding:
    best = max(it.gain for it in found)
    spread = max((before - best) / count, 1.0)
    scaled = sorted(
        (it._replace(gain=it.gain / spread, deviation=it.deviation * spread**0.5) for it in found),
        key=lambda it: -it.gain,
    )
    one, two = scaled[:2]
    differs = one.gain > LEAST_GAIN and one.is_large and one.share > 0.0
    is_told = differs and one.gain - two.gain > LEAST_LEAD and one.share > LEAST_SHARE
    undecided = (one, two) if differs and not is_told else ()
    others = scaled[1:] if is_told else [it for it in scaled if it not in undecided]
    not_told = tuple(it.cause for it in others if not _QUANTILE * it.deviation <= it.cause.worth)
    return Finding(one if is_told else None, undecided, not_told, before / count, tuple(scaled))


def _weights(
    drive: ComparedDrive, slopes: Mapping[SingleCause, Floats]
) -> dict[SingleCause | None, _Weights]:
    """Return the weights by the cause that is asked for, which is free; None: without a cause."""
    constants = [it / drive.noise for it in drive.constants]
    usual = {it: it.usual * slope for it, slope in slopes.items()}
    return {
        free: _Weights([*constants, *(it for cause, it in usual.items() if cause is not free)])
        for free in (None, *slopes)
    }
