"""The odometry's noise: an Ornstein-Uhlenbeck process for each channel, whitened and drawn."""

from __future__ import annotations

import numpy as np

from calibration.arrays import Floats


def whitened(t_s: Floats, columns: Floats, scales: Floats) -> Floats:
    """Whiten the noise in columns (samples, 3, any); return them as (3 samples, any)."""
    rest = np.exp(-np.diff(t_s) / scales[2])
    share = np.concatenate([[1.0], np.sqrt(1.0 - rest**2)])
    fresh = columns.copy()
    fresh[1:] -= rest[:, None, None] * columns[:-1]
    spread = share[:, None] * scales[[0, 0, 1]]
    return np.asarray((fresh / spread[:, :, None]).reshape(3 * len(t_s), columns.shape[2]))


def log_spreads(t_s: Floats, scales: Floats) -> float:
    """Return half the logarithm of the determinant of the noise's covariance."""
    rest = np.exp(-np.diff(t_s) / scales[2])
    each = float(np.log(scales[[0, 0, 1]]).sum())
    return len(t_s) * each + 1.5 * float(np.log1p(-(rest**2)).sum())  # half of three: x, y and yaw


def drawn_noise(rng: np.random.Generator, t_s: Floats, scales: Floats, count: int) -> Floats:
    """Draw odometry noise, (samples, 3, count), as an Ornstein-Uhlenbeck process."""
    drawn = rng.normal(size=(len(t_s), 3, count))
    rests = np.exp(-np.diff(t_s) / scales[2])
    for i, rest in enumerate(rests, 1):
        drawn[i] = rest * drawn[i - 1] + np.sqrt(1.0 - rest**2) * drawn[i]
    return np.asarray(drawn * scales[[0, 0, 1], None])
