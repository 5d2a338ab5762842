"""The least-squares fit of a steering map with its trim, delay and lag to yaw rate and speed.

The command is delayed and lagged until it fits; the map gets the terms that the steering angles
which were driven can tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize  # type: ignore[import-untyped]

from calibration.arrays import Floats
from calibration.regression.least_squares import LinearFit, fit_least_squares, solve_least_squares
from calibration.regression.single_track import (
    known_understeer,
    understeer_spread,
    yaw_lag_s_per_mps,
)
from calibration.regression.steering_geometry import RollingGeometry, seen_tangents
from calibration.regression.steering_map import LINE, MapTerms, driven_terms
from calibration.regression.steering_samples import (
    BLOCK_S,
    GRID_S,
    SLOW_MPS,
    SteeringSamples,
    relative_spread,
    slope_per_s,
    smoothed,
)
from host_bridge.core import Vehicle

MOVES = 3  # least number of steering moves that determine delay and lag
LATERAL_MPS2 = 1.5  # least lateral acceleration that determines the tyres
# Least spread of the squared speed in bends over its mean. At one speed understeer and gain are one
# number: with 0.3 (speeds 15 % either side) their estimates correlate by less than 0.96.
SPEED_SPREAD = 0.3
_MOVE_RAD = 0.03  # a change of the command within 0.2 s that counts as a move
_NEWTON = 4  # rounds of linearising the tangent and the slip
_MOST_RAD = 1.0
_HAIR_S = 0.002  # step of the difference by delay and lag: a tenth of the grid
_DELAYS_S = np.arange(0.0, 0.41, 0.02)
_LAGS_S = (0.0, 0.05, 0.15)  # rough starts: none, a quick servo, a slow one
_ROUNDS = 4  # iterations that move the map's centre to the trim


class SteeringSolution(NamedTuple):
    """A fitted map: its terms and coefficients, its trim, and the delay and lag of the command."""

    shape: MapTerms
    line: LinearFit
    trim_rad: float
    delay_s: float
    lag_s: float


class SteeringFit:
    """The fit of a steering map to the samples of all drives together."""

    def __init__(self, samples: Sequence[SteeringSamples], vehicle: Vehicle) -> None:
        self.samples = samples
        self.vehicle = vehicle
        self._geometry = RollingGeometry.of(vehicle)
        self._yaw = np.concatenate([one.yaw_radps[one.use] for one in samples])
        self.speed_mps = np.concatenate([one.speed_mps[one.use] for one in samples])
        self._gain = np.concatenate([slope_per_s(one.yaw_radps)[one.use] for one in samples])
        self._groups = self._grouped()
        self._is_of_point = np.concatenate(
            [np.full(int(one.use.sum()), one.is_of_point) for one in samples]
        )
        self._is_of_course = np.concatenate([
            np.full(int(one.use.sum()), bool(one.turning and not one.turning.has_heading))
            for one in samples
        ])  # fmt: skip
        # A gyro has a bias, and tracked poses have none
        self._biased = np.concatenate(
            [np.full(int(one.use.sum()), float(one.turning is None)) for one in samples]
        )
        # Smoothed, because the noise of a speed that hardly varies would pass for its variation.
        slow = [smoothed(one.speed_mps)[one.use] for one in samples]
        self._speed_squared = np.concatenate(slow) ** 2
        # per cent of the samples: the tyres' own limit, and no peak of noise
        self.lateral_mps2 = float(np.quantile(np.abs(self._yaw * self.speed_mps), 0.95))
        self.speed_spread = relative_spread(self._speed_squared, self._yaw**2)
        self.has_tyres = self.lateral_mps2 > LATERAL_MPS2 and self.speed_spread > SPEED_SPREAD

    def _grouped(self) -> npt.NDArray[np.int64]:
        found, first = [], 0
        for one in self.samples:
            block = np.arange(len(one.use)) // int(BLOCK_S / GRID_S)
            found.append(first + block[one.use])
            first += int(block[-1]) + 1
        return np.concatenate(found)

    def solve(self) -> SteeringSolution:
        """Fit the map's terms, trim, delay and lag in turn, and then all coefficients at once."""
        delay_s, lag_s = self._timing(LINE, 0.0)
        trim_rad, shape = 0.0, LINE
        for _ in range(2):
            off = self.commands(delay_s, lag_s) - self._trim(LINE, delay_s, lag_s)
            shape = driven_terms(off)
            trim_rad = self._trim(shape, delay_s, lag_s)
            delay_s, lag_s = self._timing(shape, trim_rad, (delay_s, lag_s))
        trim_rad = self._trim(shape, delay_s, lag_s)
        line = self.fit_coefficients(shape, trim_rad, delay_s, lag_s, with_timing=self.has_moved())
        return SteeringSolution(shape, line, trim_rad, delay_s, lag_s)

    def commands(self, delay_s: float, lag_s: float) -> Floats:
        """Return the delayed and lagged commands: the wheels' angles if there were no map."""
        return np.concatenate([one.commands(delay_s, lag_s) for one in self.samples])

    def _design(
        self, columns: npt.NDArray[np.float64], values: Floats, understeer: float
    ) -> tuple[npt.NDArray[np.float64], Floats, Floats]:
        """Return the yaw rate's derivatives by the coefficients, its rest, and its slope by angle.

        The rest is what the derivatives times the coefficients lack of the yaw rate. All of it is
        of the model: a derivative by understeer that held the measured yaw rate would explain the
        yaw rate by itself.
        """
        angles_rad = np.clip(columns @ values, -_MOST_RAD, _MOST_RAD)
        bent, slope = self._tangents(angles_rad)
        slip = 1.0 + understeer * self._speed_squared
        rolled = self._geometry.curvature_per_tan * self.speed_mps / slip
        by_understeer = -self._speed_squared * rolled * bent / slip
        found = [*(rolled * slope * column for column in columns.T), self._biased]
        rest = rolled * (bent - slope * angles_rad)
        if self.has_tyres:
            found.append(by_understeer)
            rest = rest - understeer * by_understeer
        return np.column_stack(found), rest, rolled * slope

    def _tangents(self, angles_rad: Floats) -> tuple[Floats, Floats]:
        """Return the tangent as whatever tells the speed sees it, and its slope by angle."""
        bent, slope = self._geometry.tangents(angles_rad)
        if not self._is_of_point.any():
            return bent, slope
        of_point, of_point_slope = seen_tangents(angles_rad)
        where = self._is_of_point
        return np.where(where, of_point, bent), np.where(where, of_point_slope, slope)

    def _aim(self) -> Floats:
        """Return the yaw rate without the body's lag."""
        lag_s = yaw_lag_s_per_mps(self.vehicle) * np.abs(self.speed_mps)
        return np.asarray(self._yaw + lag_s * self._gain)

    def _with_held_understeer(
        self, line: LinearFit, design: npt.NDArray[np.float64], columns: npt.NDArray[np.float64]
    ) -> LinearFit:
        """Return the fit with the uncertainty of an understeer that is held, not fitted."""
        if self.has_tyres:
            return line
        values = line.values[: columns.shape[1]]
        slip = 1.0 + known_understeer(self.vehicle) * self._speed_squared
        bent, _ = self._tangents(np.clip(columns @ values, -_MOST_RAD, _MOST_RAD))
        turn = self._geometry.curvature_per_tan * self.speed_mps * bent / slip
        moved = np.linalg.lstsq(design, turn * self._speed_squared / slip, rcond=None)[0]
        spread = understeer_spread(self.vehicle)
        return replace(line, covariance=line.covariance + spread**2 * np.outer(moved, moved))

    def fit_coefficients(
        self,
        shape: MapTerms,
        trim_rad: float,
        delay_s: float,
        lag_s: float,
        *,
        with_timing: bool = False,
        besides: Sequence[Floats] = (),
    ) -> LinearFit:
        """Fit the map's coefficients for this trim, delay and lag.

        ``besides`` are further columns of the wheels' angle, whose coefficients come last.
        """
        design, aim, columns = self._linearised(
            shape, trim_rad, delay_s, lag_s, with_timing=with_timing, besides=besides
        )
        line = fit_least_squares(design, aim, self._groups)
        return self._with_held_understeer(line, design, columns)

    def _linearised(
        self,
        shape: MapTerms,
        trim_rad: float,
        delay_s: float,
        lag_s: float,
        *,
        with_timing: bool = False,
        besides: Sequence[Floats] = (),
    ) -> tuple[npt.NDArray[np.float64], Floats, npt.NDArray[np.float64]]:
        """Return the design at the coefficients that Newton's rounds lead to, and what it explains.

        The third are the map's columns, a row for each sample.
        """
        columns = shape.columns(self.commands(delay_s, lag_s) - trim_rad)
        values = np.zeros(columns.shape[1])
        values[:2] = 0.0, 1.0
        understeer, yaw_radps = known_understeer(self.vehicle), self._aim()
        for is_last in (*[False] * (_NEWTON - 1), True):
            design, rest, per_angle = self._design(columns, values, understeer)
            extra = [per_angle * more for more in besides]
            if self._is_of_course.any():
                extra = [self._by_place(shape, trim_rad, (delay_s, lag_s), values), *extra]
            if with_timing:  # columns of delay and lag, so that the covariance includes them
                late = self._by_timing(shape, trim_rad, (delay_s, lag_s), columns @ values, values)
                place = len(extra) - len(besides)
                extra[place:place] = [per_angle * one for one in late]
            design = np.column_stack([design, *extra])
            aim = yaw_radps - rest
            if not is_last:
                found = solve_least_squares(design, aim)
                values = found[: columns.shape[1]]
                if self.has_tyres:
                    understeer = max(float(found[columns.shape[1] + 1]), self._least_understeer)
        return design, aim, columns

    def _by_timing(
        self,
        shape: MapTerms,
        trim_rad: float,
        timing: tuple[float, float],
        now_rad: Floats,
        values: Floats,
    ) -> list[Floats]:
        """Return the derivatives of the wheels' angle by delay and by lag."""
        delay_s, lag_s = timing
        moved = ((delay_s + _HAIR_S, lag_s), (delay_s, lag_s + _HAIR_S))
        angles = [shape.columns(self.commands(*one) - trim_rad) @ values for one in moved]
        return [np.asarray((one - now_rad) / _HAIR_S) for one in angles]

    def _by_place(
        self, shape: MapTerms, trim_rad: float, timing: tuple[float, float], values: Floats
    ) -> Floats:
        """Return the derivative of a course's turn by the place of the point that was seen.

        A point ahead of the rear axle turns its course as the wheels turn: by its share of the
        wheelbase times the change of their tangent.
        """
        delay_s, lag_s = timing
        now_rad, earlier_rad = (
            shape.columns(self.commands(one, lag_s) - trim_rad) @ values
            for one in (delay_s, delay_s + _HAIR_S)
        )
        rate = (np.tan(now_rad) - np.tan(earlier_rad)) / _HAIR_S
        return np.asarray(np.where(self._is_of_course, rate, 0.0))

    @property
    def _least_understeer(self) -> float:
        """The understeer at which the fastest bend would tighten fivefold: no car gets there."""
        # 1 - 0.8 is a fifth of the radius; no division by zero
        return -0.8 / max(float(self._speed_squared.max()), 1e-9)

    def _timing(
        self, shape: MapTerms, trim_rad: float, first: tuple[float, float] | None = None
    ) -> tuple[float, float]:
        def miss(pair: npt.NDArray[np.float64]) -> float:
            delay_s, lag_s = (abs(float(value)) for value in pair)
            design, aim, _ = self._linearised(shape, trim_rad, delay_s, lag_s)
            left = aim - design @ solve_least_squares(design, aim)
            return float(np.sqrt(np.mean(left**2)))

        if first is None:
            pairs = [(d, lag) for d in _DELAYS_S for lag in _LAGS_S]
            first = min(pairs, key=lambda pair: miss(np.array(pair)))
        # s, and of a relative miss: finer than any log determines
        options = {"xatol": 2e-4, "fatol": 1e-7, "initial_simplex": _simplex(first)}
        best = minimize(miss, first, method="Nelder-Mead", options=options).x
        return abs(float(best[0])), abs(float(best[1]))

    def _trim(self, shape: MapTerms, delay_s: float, lag_s: float) -> float:
        """Return the trim: the command at which a map of this shape is 0."""
        trim_rad = 0.0
        for _ in range(_ROUNDS):
            level, slope = self.fit_coefficients(shape, trim_rad, delay_s, lag_s).values[:2]
            # no car's steering has so little or so much gain: the fit went astray
            if not 0.02 < abs(slope) < 10.0:
                break
            # rad: no car stands so crooked
            trim_rad = float(np.clip(trim_rad - level / slope, -0.6, 0.6))
        return trim_rad

    def has_moved(self) -> bool:
        """Return whether the steering moved often enough to determine its delay and lag."""
        moves = 0
        for one in self.samples:
            moved = np.abs(one.command_rad[20:] - one.command_rad[:-20]) > _MOVE_RAD
            is_rolling = np.abs(one.speed_mps[20:]) > SLOW_MPS
            moves += int(np.sum(np.diff((moved & is_rolling).astype(int)) > 0))
        return moves >= MOVES


def _simplex(first: tuple[float, float]) -> npt.NDArray[np.float64]:
    delay_s, lag_s = first
    # s: steps of the search's own grid
    return np.array([[delay_s, lag_s], [delay_s + 0.01, lag_s], [delay_s, lag_s + 0.02]])
