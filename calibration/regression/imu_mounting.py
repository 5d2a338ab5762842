"""The yaw angle of the inertial sensor in the car, by accelerations that the wheels explain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from calibration.arrays import Floats
from calibration.logs.trace import DriveTrace
from calibration.parameters import Estimate, estimated, not_identifiable
from calibration.regression.least_squares import fit_least_squares, solve_least_squares

_NAME = "imu_yaw_rad"
_GRID_S = 0.02  # chosen: finer than what is smoothed over
# chosen: longer would round changes off, shorter would leave the steps of wheel counts
_SMOOTH_S = 0.2
_BLOCK_S = 2.0
_LEAST_MPS2 = 0.3  # least rms of the acceleration that the wheels explain
_LEAST_S = 10.0  # of driving: five blocks
# Least share of the angle's own effect that nothing else explains: it is 0.4 to 1 where a car turns
# both ways, and 0.003 to 0.08 in circles to one side, where an angle looks like a sensor farther
# ahead.
_LEAST_SHARE = 0.2
_ASSUMED_RAD = 0.002  # assumed error of the slip model and of the wheels' alignment with the car


def estimate_imu_yaw(traces: Sequence[DriveTrace], counts_ratio: float = 1.0) -> Estimate:
    """Return the sensor's yaw angle, by regression of its accelerations on those of the wheels.

    Forward a = dv/dt, to the left v r; as complex numbers: measured = turn * (a + i v r) + bias.
    That holds at the point that moves along the car's heading, between the axles that are not
    steered. A sensor at p = x + i y from there also feels turn * p * (i dr/dt - r^2). The rear
    tyres slip by k v r, so that the heading is not the direction of travel: this adds turn * k *
    ((v r)^2 - i d(v^2 r)/dt). Position and slip are estimated too. ``counts_ratio`` is as in
    ``steering``. Never raises.
    """
    there = [trace for trace in traces if trace.inertial.is_present and trace.travel.is_present]
    if not there:
        return not_identifiable(_NAME, "no inertial sensor")
    if not any(np.any(trace.inertial.values[1:]) for trace in there):
        return not_identifiable(_NAME, "it tells no accelerations")
    felt, known, besides, groups = _gathered(there, counts_ratio)
    rms = float(np.sqrt(np.mean(np.abs(known) ** 2))) if known.size else 0.0
    if known.size * _GRID_S < _LEAST_S or rms < _LEAST_MPS2:
        return not_identifiable(_NAME, f"its wheels explain {rms:.2f} m/s^2 only")
    # (c + i s) (x + i y): forward c x - s y, to the left s x + c y. Each complex unknown c + i s
    # therefore has two real columns.
    columns = [known, *besides.T, np.ones(known.size)]
    ahead = [part for one in columns for part in (one.real, -one.imag)]
    aside = [part for one in columns for part in (one.imag, one.real)]
    design = np.concatenate([np.column_stack(ahead), np.column_stack(aside)])
    if _own_share(design, 1) < _LEAST_SHARE:
        return not_identifiable(
            _NAME, "it turns one way only, as a sensor farther ahead would feel"
        )
    measured = np.concatenate([felt.real, felt.imag])
    line = fit_least_squares(design, measured, np.concatenate([groups, groups]))
    c, s = line.values[:2]
    size = float(np.hypot(c, s))
    by = np.concatenate([[-s, c], np.zeros(len(line.values) - 2)]) / size**2
    deviation = float(np.hypot(np.sqrt(by @ line.covariance @ by), _ASSUMED_RAD))
    return estimated(_NAME, float(np.arctan2(s, c)), deviation, line.quantile)


def _own_share(design: Floats, column: int) -> float:
    """Return the share of a column's squares that the other columns do not explain."""
    own, others = design[:, column], np.delete(design, column, axis=1)
    left = own - others @ solve_least_squares(others, own)
    return float(left @ left / (own @ own))


_Complex: TypeAlias = npt.NDArray[np.complex128]


def _gathered(
    traces: Sequence[DriveTrace], counts_ratio: float
) -> tuple[_Complex, _Complex, _Complex, npt.NDArray[np.int64]]:
    parts = [_of(trace, counts_ratio, 10_000 * at) for at, trace in enumerate(traces)]
    felt, known, besides, groups = (np.concatenate(column) for column in zip(*parts, strict=True))
    return felt, known, besides, groups.astype(np.int64)


def _of(
    trace: DriveTrace, counts_ratio: float, first: int
) -> tuple[_Complex, _Complex, _Complex, Floats]:
    """Return one trace's regression: measured, explained, additional columns, and blocks of time.

    The additional columns are those of a metre of position and of slip.
    """
    t_s, columns = trace.inertial
    begin, end = max(t_s[0], trace.travel.t_s[0]) + 0.5, min(t_s[-1], trace.travel.t_s[-1]) - 0.5
    times_s = np.arange(begin, end, _GRID_S)
    if len(times_s) < 2:
        nothing = np.zeros(0, complex)
        return nothing, nothing, np.zeros((0, 2), complex), np.zeros(0)
    yaw, ax, ay = (_smooth(np.interp(times_s, t_s, column)) for column in columns)
    speed = counts_ratio * trace.speed_mps(times_s)
    is_in = np.abs(speed) > 0.0
    blocks = first + np.floor((times_s - begin) / _BLOCK_S)
    rolled = _smooth(speed)
    aside = rolled * yaw
    known = _smooth(np.gradient(speed, _GRID_S)) + 1j * aside
    swung = 1j * np.gradient(yaw, _GRID_S) - yaw**2
    slid = aside**2 - 1j * np.gradient(rolled * aside, _GRID_S)
    besides, felt = np.column_stack([swung, slid]), ax + 1j * ay
    return _in(felt, is_in), _in(known, is_in), _in(besides, is_in), blocks[is_in]


def _in(values: npt.ArrayLike, is_in: npt.NDArray[np.bool_]) -> _Complex:
    return np.asarray(values, np.complex128)[is_in]


def _smooth(values: Floats) -> Floats:
    width = int(_SMOOTH_S / _GRID_S)
    if len(values) < width:
        return values
    return np.asarray(np.convolve(values, np.ones(width) / width, "same"))
