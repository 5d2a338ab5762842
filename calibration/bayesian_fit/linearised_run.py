"""A run linearised in the parameters and in its own effects, with the scales of these effects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.arrays import Floats
from calibration.bayesian_fit.variance_priors import DIFFERING, SCALES


@dataclass(frozen=True)
class LinearisedRun:
    """One run, linearised at some values of the parameters and of its own effects.

    ``residual``: predicted less measured, (samples, 3). The other columns, (samples, 3, any), are
    derivatives: by the standardised parameters, the run's effects, the speed and curvature of each
    piece, the suspects, and the parameters that may be other ones in each run (DIFFERING). These
    and the pieces are assumed small. ``own``: the run's effects at which it is linearised.
    ``still_s``: how long the car was seen standing at its start.
    """

    t_s: Floats
    residual: Floats
    slopes: Floats
    run_columns: Floats
    piece_speed: Floats
    piece_curvature: Floats
    suspects: Floats
    differing: Floats
    own: Floats
    still_s: float

    def run_scales(self, scales: Floats) -> Floats:
        """Return the scales of the run's effects."""
        return run_scales(scales, self.still_s)

    @property
    def linear_count(self) -> int:
        """The number of the effects that are assumed small, and so never simulated."""
        return sum(
            int(one.shape[2]) for one in (self.piece_speed, self.piece_curvature, self.differing)
        )

    def of_run(self, scales: Floats) -> Floats:
        """Return the columns of all effects of the run as a whole, each times its scale."""
        return np.concatenate(
            [
                self.run_columns * self.run_scales(scales),
                self.differing * differing_scales(scales),
            ],
            axis=2,
        )

    def linear(self, scales: Floats) -> Floats:
        """Return the columns of all effects that are assumed small, each times its scale."""
        pieces = scaled_pieces(self.piece_speed, self.piece_curvature, scales)
        return np.concatenate([pieces, self.differing * differing_scales(scales)], axis=2)

    def effects(self, scales: Floats) -> Floats:
        """Return the columns of all effects, each times its scale."""
        return np.concatenate(
            [self.run_columns * self.run_scales(scales), self.linear(scales)], axis=2
        )

    def without_own(self) -> Floats:
        """Return the residual as it would be if the run had no effects of its own."""
        return np.asarray(self.residual - self.run_columns @ self.own)


def scaled_pieces(speed: Floats, curvature: Floats, scales: Floats) -> Floats:
    """Join the columns of each piece's speed and bend, each times its scale."""
    return np.concatenate((speed * scales[7], curvature * scales[8]), axis=2)


_NAMES = [one.name for one in SCALES]
_DIFFERING = [_NAMES.index(scale) for scale in DIFFERING.values()]


def differing_scales(scales: Floats) -> Floats:
    """Return the scales of the parameters that differ from run to run, in spreads of priors."""
    return np.asarray(scales[_DIFFERING])


def run_scales(scales: Floats, still_s: float) -> Floats:
    """Return the scales of a run's effects; its start pose has noise of its own.

    The start pose is the mean over ``still_s``, so part of that noise is left in it.
    """
    start = scales[[0, 1]] * start_share(still_s, float(scales[2]))
    speed, trim, delay, yaw = scales[3:7]
    return np.array([speed, trim, delay, np.hypot(yaw, start[1]), start[0], start[0]])


def start_share(still_s: float, memory_s: float) -> float:
    """Return the share of the noise's spread that is left in a mean over ``still_s``.

    It is that of an Ornstein-Uhlenbeck process.
    """
    ratio = still_s / memory_s
    if ratio < 1e-3:  # below it the formula loses its digits, and the limit is 1
        return 1.0
    return float(np.sqrt(2.0 / ratio * (1.0 + np.expm1(-ratio) / ratio)))
