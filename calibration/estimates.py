"""What a fit says: parameters with intervals, and what else a prediction has to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from calibration.marginal import Marginal
from calibration.samples import Floats

CONFIDENCE = 0.95
LEVEL = 0.05  # of the test of lack of fit


class Lack(NamedTuple):
    """``p`` is the chance of residuals as strange as these if the model fits; ``suspect`` is what
    they look most like, or empty."""

    p: float
    suspect: str

    @property
    def is_flagged(self) -> bool:
        return self.p < LEVEL


@dataclass(frozen=True)
class Estimate:
    """A parameter after the fit, ``low`` to ``high`` its 95 % interval, within its range.

    Not ``is_fitted``, the runs tell little of it: it is near its known value.
    """

    name: str
    value: float
    low: float
    high: float
    known: float
    is_fitted: bool


@dataclass(frozen=True)
class Fit:
    """``covariance`` is that of the parameters' beliefs, ``scales`` are in the order of SCALES.

    ``stretch``: how much wider than all of this says a band has to be (``left_out.py``).
    ``marginals``: of each belief; a fit that was read from a file has none.
    """

    estimates: tuple[Estimate, ...]
    covariance: Floats
    scales: Floats
    lack: Lack
    stretch: float = 1.0
    marginals: tuple[Marginal, ...] = ()

    @property
    def values(self) -> dict[str, float]:
        return {one.name: one.value for one in self.estimates}
