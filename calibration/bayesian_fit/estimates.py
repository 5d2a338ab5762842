"""The result of a fit: parameters with intervals, and the rest that a prediction needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from calibration.arrays import Floats
from calibration.bayesian_fit.marginals import Marginal
from calibration.parameters import Estimate

CONFIDENCE = 0.95  # of the intervals that are told, as is usual
# Of unseen runs that lie in a prediction band; studies can tell it from a band that holds them all
BAND_SHARE = 0.90
LEVEL = 0.05  # significance level of the test of lack of fit


class LackOfFit(NamedTuple):
    """The result of the test of lack of fit.

    ``p`` is the chance of residuals this strange if the model fits; ``suspect`` is the known fault
    that they look most like, or empty.
    """

    p: float
    suspect: str

    @property
    def is_significant(self) -> bool:
        return self.p < LEVEL


@dataclass(frozen=True)
class Fit:
    """The estimates of all parameters with their joint uncertainty.

    ``covariance`` is that of the parameters, standardised by their priors; ``scales`` are
    in the order of SCALES. ``stretch`` is the factor by which a band has to be wider than all of
    this says (``leave_one_out.py``). ``marginals`` are the marginal posteriors of these; a fit
    that was read from a file has none. ``steering`` is the least and greatest of its runs, as
    shares of full lock.
    """

    estimates: tuple[Estimate, ...]
    covariance: Floats
    scales: Floats
    lack_of_fit: LackOfFit
    stretch: float = 1.0
    marginals: tuple[Marginal, ...] = ()
    steering: tuple[float, float] = (-1.0, 1.0)

    @property
    def values(self) -> dict[str, float]:
        return {one.name: one.value for one in self.estimates}
