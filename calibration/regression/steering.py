"""The steering map, its delay and its lag, identified from yaw rate and speed.

At a walk a car drives the curvature k tan(angle) of its geometry, so yaw rate over speed gives the
effective angle of its wheels: that of a single wheel in the middle. The command is delayed and
lagged until it fits; the map gets only as many terms as the log supports. If the same command gives
two angles, depending on the side from which it was approached, no map describes that: it is free
play, reported as a lack of fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize  # type: ignore[import-untyped]
from scipy.signal import lfilter  # type: ignore[import-untyped]

from calibration.arrays import Floats
from calibration.logs.trace import Trace
from calibration.regression.least_squares import Line, fitted
from calibration.regression.parameters import Finding, told, untold
from calibration.regression.steering_geometry import Geometry, table_of
from calibration.regression.steering_map import Map
from host_bridge.core import Vehicle

_G_MPS2 = 9.81
_GRID_S = 0.01  # to which a log is resampled
_BLOCK_S = 1.0  # samples of one block are treated as correlated
_NEWTON = 3  # rounds of linearising the tangent
_MOST_RAD = 1.0
_HAIR_S = 0.002
_SLOW_MPS = 0.05  # below this speed, yaw rate over speed is noise
_LEAST_S = 3.0
_DELAYS_S = np.arange(0.0, 0.41, 0.02)
_LAGS_S = (0.0, 0.05, 0.15)
_ROUNDS = 4  # iterations that move the map's centre to the trim
_GAIN_RAD = 0.03  # least steering beyond the trim that determines a gain
_MOVES = 3  # least number of steering moves that determine delay and lag
_MOVE_RAD = 0.03
_LATERAL_MPS2 = 1.5  # least lateral acceleration that determines the tyres
_BAND_POINTS = 9
_COME_RAD = 0.01  # least steering one way that defines the side of approach
_PLAY_RAD = 0.001  # free play up to this is no lack of fit
_HELD_PLAY_RAD = 0.0005  # assumed error of the play, as delay and lag are only a model
_HELD_RAD = 0.0004  # assumed error of straight ahead: a lean, a sloping floor, tyres
_HELD = 0.005  # assumed relative error of the wheelbase, grip at a walk and no-slip model


@dataclass(frozen=True)
class _Stretch:
    """One drive's commands and motion on an even grid; where ``use`` is false it only leads in."""

    command_rad: Floats
    speed_mps: Floats
    yaw_radps: Floats
    use: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Shape:
    """The terms of a map beyond a line: a difference of the sides, and a bend from near to far."""

    has_sides: bool
    has_bend: bool

    @property
    def width(self) -> int:
        """The number of coefficients of such a map."""
        return 2 + self.has_sides + self.has_bend

    def columns(self, off: Floats) -> npt.NDArray[np.float64]:
        """Return a row for each command (relative to the trim), a column for each coefficient."""
        found = [np.ones_like(off), off]
        found += [np.abs(off)] if self.has_sides else []
        found += [off * np.abs(off)] if self.has_bend else []
        return np.column_stack(found)


SHAPES = (Shape(False, False), Shape(True, False), Shape(False, True), Shape(True, True))


def steering(
    traces: Sequence[Trace], vehicle: Vehicle, counts_ratio: float = 1.0
) -> tuple[list[Finding], Map | None]:
    """Return the steering's findings and its map, if any. Never raises.

    ``counts_ratio`` is the real distance per metre by the vehicle file's counts.
    """
    stretches = [one for trace in traces for one in _stretches(trace, counts_ratio)]
    seconds = sum(float(one.use.sum()) for one in stretches) * _GRID_S
    if seconds < _LEAST_S:
        why = _lacking(traces, seconds)
        return [untold(name, why) for name in (*_NAMES, _PLAY)], None
    return _Fit(stretches, vehicle).findings()


_PLAY = "steer_play_rad"
_LACK = "LACK OF FIT: free play, which no map and no virtual car has; trim and map are its middle"
_NAMES = ("steer_trim_rad", "steer_gain_left", "steer_gain_right", "steer_delay_s", "steer_lag_s")
TYRES = ("understeer_s2_per_m2", "tyre_stiffness_front_per_rad")


def _lacking(traces: Sequence[Trace], seconds: float) -> str:
    if not any(trace.inertial.is_there for trace in traces):
        return "nothing in it measures how the car turns: no gyro"
    if not any(trace.steering.is_there for trace in traces):
        return "what was steered is not in it"
    if not any(trace.travel.is_there for trace in traces):
        return "how far its wheels rolled is not in it"
    return f"it drives for {seconds:.1f} s only"


def _stretches(trace: Trace, counts_ratio: float) -> list[_Stretch]:
    parts = trace.steering, trace.inertial, trace.travel
    if not all(part.is_there for part in parts):
        return []
    begin, end = max(p.t_s[0] for p in parts), min(p.t_s[-1] for p in parts)
    times_s = np.arange(begin, end, _GRID_S)
    speed_mps = counts_ratio * trace.speed_mps(times_s)
    yaw_radps = np.interp(times_s, trace.inertial.t_s, trace.inertial.values[0])
    command_rad = trace.at("steering", times_s)
    is_moving = np.abs(speed_mps) > _SLOW_MPS
    # Half a second before and after is included, in which the gyro shows its bias.
    around = np.convolve(is_moving, np.ones(int(1.0 / _GRID_S)), "same") > 0
    return [_Stretch(command_rad, speed_mps, yaw_radps, around)] if len(times_s) else []


class _Fit:
    """One fit of all stretches together."""

    def __init__(self, stretches: Sequence[_Stretch], vehicle: Vehicle) -> None:
        self._stretches = stretches
        self._geometry = Geometry.of(vehicle)
        self._vehicle = vehicle
        self._yaw = np.concatenate([one.yaw_radps[one.use] for one in stretches])
        self._speed = np.concatenate([one.speed_mps[one.use] for one in stretches])
        self._gain = np.concatenate([_slope(one.yaw_radps)[one.use] for one in stretches])
        self._groups = self._grouped()
        lateral = np.abs(self._yaw * self._speed)
        self._tells_tyres = bool(np.quantile(lateral, 0.95) > _LATERAL_MPS2)

    def _grouped(self) -> npt.NDArray[np.int64]:
        found, first = [], 0
        for one in self._stretches:
            block = np.arange(len(one.use)) // int(_BLOCK_S / _GRID_S)
            found.append(first + block[one.use])
            first += int(block[-1]) + 1
        return np.concatenate(found)

    def findings(self) -> tuple[list[Finding], Map | None]:
        delay_s, lag_s = self._timing(SHAPES[0], 0.0)
        trim_rad, shape = 0.0, SHAPES[0]
        for _ in range(2):
            shape, trim_rad = self._chosen(delay_s, lag_s)
            delay_s, lag_s = self._timing(shape, trim_rad, (delay_s, lag_s))
        shape, trim_rad = self._chosen(delay_s, lag_s)
        line = self._line(shape, trim_rad, delay_s, lag_s, with_timing=self._has_moved())
        return self._told(shape, line, trim_rad, delay_s, lag_s)

    def _commands(self, delay_s: float, lag_s: float) -> Floats:
        """Return the delayed and lagged commands: the wheels' angles if there were no map."""
        return np.concatenate([
            _late(one.command_rad, delay_s, lag_s)[one.use] for one in self._stretches
        ])  # fmt: skip

    def _design(
        self, columns: npt.NDArray[np.float64], angles_rad: Floats
    ) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the yaw rate's derivatives by the coefficients, and its constant part."""
        bent, slope = self._geometry.tangents(angles_rad)
        rolled = self._geometry.per_tan * self._speed
        found = [*(rolled * slope * column for column in columns.T), np.ones_like(rolled)]
        if self._tells_tyres:
            found.append(-(self._speed**2) * self._yaw)
        return np.column_stack(found), rolled * (bent - slope * angles_rad)

    def _aim(self) -> Floats:
        """Return the yaw rate without the body's lag and, if tyres are not fitted, without slip."""
        known = 0.0 if self._tells_tyres else known_understeer(self._vehicle)
        early = self._yaw + yaw_lag_s_per_mps(self._vehicle) * np.abs(self._speed) * self._gain
        return np.asarray(early * (1.0 + known * self._speed**2))

    def _line(
        self,
        shape: Shape,
        trim_rad: float,
        delay_s: float,
        lag_s: float,
        *,
        with_timing: bool = False,
        besides: Sequence[Floats] = (),
    ) -> Line:
        """Fit the map's coefficients for this trim, delay and lag.

        ``besides`` are further columns of the wheels' angle, whose coefficients come last.
        """
        columns = shape.columns(self._commands(delay_s, lag_s) - trim_rad)
        values = np.zeros(columns.shape[1])
        values[:2] = 0.0, 1.0
        for _ in range(_NEWTON):
            angles_rad = np.clip(columns @ values, -_MOST_RAD, _MOST_RAD)
            design, rest = self._design(columns, angles_rad)
            if with_timing:  # columns of delay and lag, so that the covariance includes them
                extra = []
                for more in ((_HAIR_S, 0.0), (0.0, _HAIR_S)):
                    later = self._commands(delay_s + more[0], lag_s + more[1]) - trim_rad
                    apart = (shape.columns(later) - columns) @ values / _HAIR_S
                    slope = self._geometry.tangents(angles_rad)[1]
                    extra.append(self._geometry.per_tan * self._speed * slope * apart)
                design = np.column_stack([design, *extra])
            rolled = self._geometry.per_tan * self._speed * self._geometry.tangents(angles_rad)[1]
            design = np.column_stack([design, *(rolled * more for more in besides)])
            line = fitted(design, self._aim() - rest, self._groups)
            values = line.values[: columns.shape[1]]
        return line

    def _timing(
        self, shape: Shape, trim_rad: float, first: tuple[float, float] | None = None
    ) -> tuple[float, float]:
        def miss(pair: npt.NDArray[np.float64]) -> float:
            delay_s, lag_s = (abs(float(value)) for value in pair)
            left = self._line(shape, trim_rad, delay_s, lag_s).residuals
            return float(np.sqrt(np.mean(left**2)))

        if first is None:
            pairs = [(d, lag) for d in _DELAYS_S for lag in _LAGS_S]
            first = min(pairs, key=lambda pair: miss(np.array(pair)))
        options = {"xatol": 2e-4, "fatol": 1e-7, "initial_simplex": _simplex(first)}
        best = minimize(miss, first, method="Nelder-Mead", options=options).x
        return abs(float(best[0])), abs(float(best[1]))

    def _chosen(self, delay_s: float, lag_s: float) -> tuple[Shape, float]:
        """Return the shape with the least Bayesian information criterion, and its trim."""
        found = []
        for shape in SHAPES:
            trim_rad = 0.0
            for _ in range(_ROUNDS):
                line = self._line(shape, trim_rad, delay_s, lag_s)
                slope = line.values[1]
                if not 0.02 < abs(slope) < 10.0:
                    break
                trim_rad = float(np.clip(trim_rad - line.values[0] / slope, -0.6, 0.6))
            line = self._line(shape, trim_rad, delay_s, lag_s)
            size = line.groups
            left = np.mean(line.residuals**2)
            found.append((size * np.log(left) + shape.width * np.log(size), shape, trim_rad))
        _, shape, trim_rad = min(found, key=lambda it: it[0])
        return shape, trim_rad

    def _has_moved(self) -> bool:
        moves = 0
        for one in self._stretches:
            moved = np.abs(one.command_rad[20:] - one.command_rad[:-20]) > _MOVE_RAD
            is_rolling = np.abs(one.speed_mps[20:]) > _SLOW_MPS
            moves += int(np.sum(np.diff((moved & is_rolling).astype(int)) > 0))
        return moves >= _MOVES

    def _told(
        self, shape: Shape, line: Line, trim_rad: float, delay_s: float, lag_s: float
    ) -> tuple[list[Finding], Map | None]:
        commands = self._commands(delay_s, lag_s)[np.abs(self._speed) > _SLOW_MPS]
        factor, deviations = line.quantile, line.deviations
        found = [*self._map_findings(shape, line, commands, trim_rad)]
        if self._has_moved():
            # One step of the board is subtracted: on average the command waits half a step, and
            # the sample is half a step old. Half a step is also the uncertainty.
            step_s = self._vehicle.step_s
            found += [
                told(name, value, float(np.hypot(deviation, step_s / 2)), factor)
                for name, value, deviation in (
                    ("steer_delay_s", max(delay_s - step_s, 0.0), deviations[-2]),
                    ("steer_lag_s", lag_s, deviations[-1]),
                )
            ]
        else:
            why = f"the steering moves fewer than {_MOVES} times while it rolls"
            found += [untold("steer_delay_s", why), untold("steer_lag_s", why)]
        found += [self._play(shape, trim_rad, delay_s, lag_s), *self._tyres(shape, line)]
        is_driven = any(one.is_told for one in found if one.name == "steer_trim_rad")
        return found, self._map(shape, line, commands, trim_rad) if is_driven else None

    def _play(self, shape: Shape, trim_rad: float, delay_s: float, lag_s: float) -> Finding:
        """Return the free play: how the angle depends on the side from which it was approached."""
        sides = [_come_from(one.command_rad) for one in self._stretches]
        came = [
            _late(side, delay_s, 0.0)[one.use]
            for side, one in zip(sides, self._stretches, strict=True)
        ]
        # Before the side of approach is known, the offset is a free coefficient of each log.
        none = [np.zeros(len(one)) for one in came]
        unknown = [
            np.concatenate([*none[:i], (one == 0.0).astype(float), *none[i + 1 :]])
            for i, one in enumerate(came)
            if (one == 0.0).any()
        ]
        moves = sum(int(np.sum(np.abs(np.diff(side)) > 1.0)) for side in sides)
        if moves < _MOVES or not self._has_moved():
            return untold(_PLAY, f"its steering turns back {moves} times")
        more = [*unknown, np.concatenate(came)]
        line = self._line(shape, trim_rad, delay_s, lag_s, with_timing=True, besides=more)
        play_rad = -float(line.values[-1])
        spread = float(np.hypot(line.deviations[-1], _HELD_PLAY_RAD))
        is_lack = play_rad - line.quantile * spread > _PLAY_RAD
        return told(_PLAY, play_rad, spread, line.quantile, _LACK if is_lack else "")

    def _map_findings(
        self, shape: Shape, line: Line, commands: Floats, trim_rad: float
    ) -> list[Finding]:
        factor, spread = line.quantile, float(np.ptp(commands))
        if spread < 2 * _GAIN_RAD:
            why = f"its steering stays within {spread:.3f} rad"
            return [untold(name, why) for name in _NAMES[:3]]
        slope = line.values[1]
        spread_rad = float(np.hypot(line.deviations[0] / abs(slope), _HELD_RAD))
        trim = told("steer_trim_rad", trim_rad, spread_rad, factor)
        return [trim, *self._gains(shape, line, commands, trim_rad)]

    def _gains(self, shape: Shape, line: Line, commands: Floats, trim_rad: float) -> list[Finding]:
        """Return the gain of each side, at the largest steering that was driven to it."""
        found = []
        for name, side in (("steer_gain_left", 1.0), ("steer_gain_right", -1.0)):
            far_rad = float(np.max(side * (commands - trim_rad)))
            if far_rad < _GAIN_RAD:
                found.append(untold(name, "it is hardly steered to that side"))
                continue
            off = np.array([side * far_rad])
            row = shape.columns(off)[0]
            row[0] = 0.0
            place = slice(0, len(row))
            gain = side * float(row @ line.values[place]) / far_rad
            deviation = float(np.sqrt(row @ line.covariance[place, place] @ row))
            spread = float(np.hypot(deviation / far_rad, _HELD * gain))
            found.append(told(name, gain, spread, line.quantile))
        return found

    def _map(self, shape: Shape, line: Line, commands: Floats, trim_rad: float) -> Map:
        low, high = np.quantile(commands, (0.002, 0.998))
        at = np.linspace(low, high, _BAND_POINTS)
        rows = shape.columns(at - trim_rad)
        place = slice(0, rows.shape[1])
        angles = rows @ line.values[place]
        variances = np.einsum("ij,jk,ik->i", rows, line.covariance[place, place], rows)
        spread = np.maximum(variances, 0.0) + (_HELD * angles) ** 2
        half = line.quantile * np.sqrt(spread)
        left = float(np.sqrt(np.mean(line.residuals**2)))
        is_bent = shape.has_sides or shape.has_bend
        return Map(at, angles, angles - half, angles + half, left, is_bent)

    def _tyres(self, shape: Shape, line: Line) -> list[Finding]:
        if not self._tells_tyres:
            lateral = float(np.quantile(np.abs(self._yaw * self._speed), 0.95))
            why = f"it corners with {lateral:.1f} m/s^2, and tyres tell from {_LATERAL_MPS2:g} on"
            return [untold(name, why) for name in TYRES]
        place = shape.width + 1
        value, deviation = float(line.values[place]), float(line.deviations[place])
        first = told(TYRES[0], value, deviation, line.quantile)
        held = "as if the rear axle's were the vehicle file's"
        front, slope = front_stiffness(self._vehicle, value)
        return [first, told(TYRES[1], front, abs(slope) * deviation, line.quantile, held)]


def _late(command_rad: Floats, delay_s: float, lag_s: float) -> Floats:
    """Return the commands delayed, then lagged; the first one holds before the beginning."""
    places = np.arange(len(command_rad)) - delay_s / _GRID_S
    delayed = np.interp(places, np.arange(len(command_rad)), command_rad)
    if lag_s < 1e-4:
        return np.asarray(delayed)
    keep = float(np.exp(-_GRID_S / lag_s))
    found, _ = lfilter([1.0 - keep], [1.0, -keep], delayed, zi=[keep * delayed[0]])
    return np.asarray(found)


def _come_from(command_rad: Floats) -> Floats:
    """Return 1 once the steering moved enough to the left, -1 to the right, 0 before either."""
    sides, side, last = np.zeros(len(command_rad)), 0.0, float(command_rad[0])
    for i, command in enumerate(command_rad):
        if abs(command - last) > _COME_RAD:
            side = 1.0 if command > last else -1.0
        if (command - last) * side > 0.0:
            last = float(command)  # the farthest on this side: it has to come back from there
        sides[i] = side
    return sides


def _slope(values: Floats) -> Floats:
    """Return the derivative per second, over 40 ms as samples are noisy."""
    reach = 2
    padded = np.pad(values, reach, mode="edge")
    return np.asarray((padded[2 * reach :] - padded[: -2 * reach]) / (2 * reach * _GRID_S))


def yaw_lag_s_per_mps(vehicle: Vehicle) -> float:
    """Return the time constant of the yaw rate behind the wheels' angle, per speed.

    It is I / (m lf lr c g), that of a single track with about the same stiffness per load on both
    axles; Rajamani, Vehicle Dynamics and Control, equation 2.31, with the loads at rest put in.
    """
    body, tyre = table_of(vehicle, "body"), table_of(vehicle, "tyre")
    mean = (tyre["stiffness_front_per_rad"] + tyre["stiffness_rear_per_rad"]) / 2
    arms = body["mass_kg"] * body["lf_m"] * body["lr_m"]
    return float(body["inertia_z_kgm2"] / arms / (mean * _G_MPS2))


def _simplex(first: tuple[float, float]) -> npt.NDArray[np.float64]:
    delay_s, lag_s = first
    return np.array([[delay_s, lag_s], [delay_s + 0.01, lag_s], [delay_s, lag_s + 0.02]])


def known_understeer(vehicle: Vehicle) -> float:
    """Return the understeer of the vehicle file's tyres in s^2/m^2: (1/Cf - 1/Cr) / (g L).

    It does not depend on the loads. Source: Rajamani, Vehicle Dynamics and Control, section 3.3,
    with stiffness per load.
    """
    tyre = table_of(vehicle, "tyre")
    front, rear = tyre["stiffness_front_per_rad"], tyre["stiffness_rear_per_rad"]
    return (1.0 / front - 1.0 / rear) / (_G_MPS2 * vehicle.wheelbase_m)


def front_stiffness(vehicle: Vehicle, understeer: float) -> tuple[float, float]:
    """Return the front axle's stiffness per load at this understeer, and its slope.

    Both are nan where no stiffness gives this understeer.
    """
    rear = table_of(vehicle, "tyre")["stiffness_rear_per_rad"]
    inverse = 1.0 / rear + understeer * _G_MPS2 * vehicle.wheelbase_m
    if inverse <= 0.0:
        return float("nan"), float("nan")
    return 1.0 / inverse, -_G_MPS2 * vehicle.wheelbase_m / inverse**2
