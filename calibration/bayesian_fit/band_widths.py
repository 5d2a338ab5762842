"""The widths of a prediction band: how far from it most of the drawn runs lie."""

from __future__ import annotations

import numpy as np

from calibration.arrays import Floats


def band_half_widths(drawn: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the widths in m and rad, sample by sample, of draws (samples, 3, draws).

    They are the draws' spread, times the factor that holds a share ``confidence`` of the draws from
    start to end.
    """
    apart_m = np.hypot(drawn[:, 0], drawn[:, 1])
    position_m = np.sqrt(np.mean(apart_m**2, axis=1))
    yaw_rad = np.sqrt(np.mean(drawn[:, 2] ** 2, axis=1))
    shares = np.maximum(apart_m / position_m[:, None], np.abs(drawn[:, 2]) / yaw_rad[:, None])
    factor = float(np.quantile(shares.max(axis=0), confidence))
    return factor * position_m, factor * yaw_rad
