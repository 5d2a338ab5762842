"""How the inertial sensor is turned against the car, by accelerations that the wheels explain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from calibration.logs.findings import Finding, told, untold
from calibration.logs.regression import fitted
from calibration.logs.trace import Trace
from calibration.samples import Floats

_NAME = "imu_yaw_rad"
_GRID_S = 0.02
_SMOOTH_S = 0.2
_BLOCK_S = 2.0
_LEAST_MPS2 = 0.3  # rms of what the wheels explain
_LEAST_S = 10.0


def mounting(traces: Sequence[Trace], counts_ratio: float = 1.0) -> Finding:
    """Forward a = dv/dt, to the left v r: as complex numbers measured = turn * (a + i v r) + bias.

    ``counts_ratio``: as of ``steering``. Never raises.
    """
    there = [trace for trace in traces if trace.inertial.is_there and trace.travel.is_there]
    if not there:
        return untold(_NAME, "no inertial sensor")
    if not any(np.any(trace.inertial.values[1:]) for trace in there):
        return untold(_NAME, "it tells no accelerations")
    felt, known, groups = _gathered(there, counts_ratio)
    rms = float(np.sqrt(np.mean(np.abs(known) ** 2))) if known.size else 0.0
    if known.size * _GRID_S < _LEAST_S or rms < _LEAST_MPS2:
        return untold(_NAME, f"its wheels explain {rms:.2f} m/s^2 only")
    # two rows of real numbers: felt x = c a - s b, felt y = s a + c b
    a, b, ones, none = known.real, known.imag, np.ones(known.size), np.zeros(known.size)
    design = np.concatenate(
        [np.column_stack([a, -b, ones, none]), np.column_stack([b, a, none, ones])]
    )
    measured = np.concatenate([felt.real, felt.imag])
    line = fitted(design, measured, np.concatenate([groups, groups]))
    c, s = line.values[:2]
    size = float(np.hypot(c, s))
    by = np.array([-s, c, 0.0, 0.0]) / size**2
    deviation = float(np.sqrt(by @ line.covariance @ by))
    return told(_NAME, float(np.arctan2(s, c)), deviation, line.quantile)


def _gathered(
    traces: Sequence[Trace], counts_ratio: float
) -> tuple[npt.NDArray[np.complex128], npt.NDArray[np.complex128], npt.NDArray[np.int64]]:
    parts = [_of(trace, counts_ratio, 10_000 * at) for at, trace in enumerate(traces)]
    felt, known, groups = (np.concatenate(column) for column in zip(*parts, strict=True))
    return felt, known, groups.astype(np.int64)


def _of(
    trace: Trace, counts_ratio: float, first: int
) -> tuple[npt.NDArray[np.complex128], npt.NDArray[np.complex128], Floats]:
    t_s, columns = trace.inertial
    begin, end = max(t_s[0], trace.travel.t_s[0]) + 0.5, min(t_s[-1], trace.travel.t_s[-1]) - 0.5
    times_s = np.arange(begin, end, _GRID_S)
    yaw, ax, ay = (_smooth(np.interp(times_s, t_s, column)) for column in columns)
    speed = counts_ratio * trace.speed_mps(times_s)
    gain = _smooth(np.gradient(speed, _GRID_S)) if len(times_s) > 1 else np.zeros(len(times_s))
    is_in = np.abs(speed) > 0.0
    blocks = first + np.floor((times_s - begin) / _BLOCK_S)
    known = gain + 1j * _smooth(speed) * yaw
    return (ax + 1j * ay)[is_in], known[is_in], blocks[is_in]


def _smooth(values: Floats) -> Floats:
    width = int(_SMOOTH_S / _GRID_S)
    if len(values) < width:
        return values
    return np.asarray(np.convolve(values, np.ones(width) / width, "same"))
