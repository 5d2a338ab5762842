"""The steering map, its delay and its lag, identified from yaw rate and speed.

At a walk a car drives the curvature k tan(angle) of its geometry, so yaw rate over speed gives the
effective angle of its wheels: that of a single wheel in the middle. If the same command gives two
angles, depending on the side from which it was approached, no map describes that: it is free play,
reported as a lack of fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from calibration.arrays import Floats
from calibration.logs.trace import DriveTrace
from calibration.parameters import Estimate, estimated, not_identifiable
from calibration.regression.single_track import front_stiffness
from calibration.regression.steering_fit import LATERAL_MPS2, MOVES, SteeringFit, SteeringSolution
from calibration.regression.steering_geometry import seen_share
from calibration.regression.steering_map import SteeringMap
from calibration.regression.steering_samples import (
    GRID_S,
    SLOW_MPS,
    approach_sides,
    delayed_and_lagged,
    samples_of,
)
from host_bridge.core import Vehicle

_LEAST_S = 3.0  # of driving: less has too few moves
_GAIN_RAD = 0.03  # least steering beyond the trim that determines a gain
_BAND_POINTS = 9  # points of the map: as many as a board's curve has
_PLAY_RAD = 0.001  # free play up to this is no lack of fit
_ASSUMED_PLAY_RAD = 0.0005  # assumed error of the play, as delay and lag are only a model
_ASSUMED_RAD = 0.0004  # assumed error of straight ahead: a lean, a sloping floor, tyres
_ASSUMED_SHARE = 0.005  # assumed relative error of the wheelbase, grip at a walk and no-slip model
_PLAY = "steer_play_rad"
# Assumed error of the understeer in s^2/m^2: a steady bend's, of tyres that share their grip with
# the drive. Made cars without any noise differ by it (tests/studies/logs/log_study.py).
_ASSUMED_UNDERSTEER = 0.002
_LACK = "LACK OF FIT: free play, which no map and no virtual car has; trim and map are its middle"
_LATE = "no gyro, and how late its poses are told is not in it"
_UNSEEN = "no gyro and no heading: which point of the car was seen moves the turn in time"
_REVERSED = (
    "it turns to the other side than it is steered: a sign is reversed, of what was steered or of "
    "how it turned; left is positive for both"
)
_NAMES = ("steer_trim_rad", "steer_gain_left", "steer_gain_right", "steer_delay_s", "steer_lag_s")
TYRES = ("understeer_s2_per_m2", "tyre_stiffness_front_per_rad")


def estimate_steering(
    traces: Sequence[DriveTrace], vehicle: Vehicle, counts_ratio: float = 1.0
) -> tuple[list[Estimate], SteeringMap | None]:
    """Return the steering's estimates and its map, if any. Never raises.

    ``counts_ratio`` is the real distance per metre by the vehicle file's counts.
    """
    samples = [one for trace in traces for one in samples_of(trace, counts_ratio)]
    seconds = sum(float(one.use.sum()) for one in samples) * GRID_S
    if seconds < _LEAST_S:
        why = _lacking(traces, seconds)
        return [not_identifiable(name, why) for name in (*_NAMES, _PLAY)], None
    fit = SteeringFit(samples, vehicle)
    found = fit.solve()
    slope = float(found.line.values[1])
    if slope + found.line.quantile * float(found.line.deviations[1]) < 0.0:
        return [not_identifiable(name, _REVERSED) for name in (*_NAMES, _PLAY)], None
    commands = fit.commands(found.delay_s, found.lag_s)[np.abs(fit.speed_mps) > SLOW_MPS]
    estimates = [
        *_trim_and_gains(fit, found, commands),
        *_timing(fit, found),
        _play(fit, found),
        *_tyres(fit, found),
    ]
    has_map = any(one.is_estimated for one in estimates if one.name == "steer_trim_rad")
    return estimates, _map(found, commands) if has_map else None


def _lacking(traces: Sequence[DriveTrace], seconds: float) -> str:
    if not any(trace.inertial.is_present for trace in traces):
        return "nothing in it measures how the car turns: no gyro, and no poses that tracked it"
    if not any(trace.steering.is_present for trace in traces):
        return "what was steered is not in it"
    if not any(trace.travel.is_present for trace in traces):
        return "how far its wheels rolled is not in it"
    return f"it drives for {seconds:.1f} s only"


def _trim_and_gains(
    fit: SteeringFit, found: SteeringSolution, commands: Floats
) -> Iterator[Estimate]:
    line, spread = found.line, float(np.ptp(commands))
    if spread < 2 * _GAIN_RAD:
        why = f"its steering stays within {spread:.3f} rad"
        yield from (not_identifiable(name, why) for name in _NAMES[:3])
        return
    spread_rad = float(np.hypot(line.deviations[0] / abs(line.values[1]), _ASSUMED_RAD))
    yield estimated("steer_trim_rad", found.trim_rad, spread_rad, line.quantile)
    for name, side in (("steer_gain_left", 1.0), ("steer_gain_right", -1.0)):
        yield _gain(name, side, fit, found, commands)


def _gain(
    name: str, side: float, fit: SteeringFit, found: SteeringSolution, commands: Floats
) -> Estimate:
    """Return the gain of a side, at the largest steering that was driven to it."""
    line, far_rad = found.line, float(np.max(side * (commands - found.trim_rad)))
    if far_rad < _GAIN_RAD:
        return not_identifiable(name, "it is hardly steered to that side")
    row = found.shape.columns(np.array([side * far_rad]))[0]
    row[0] = 0.0
    place = slice(0, len(row))
    gain = side * float(row @ line.values[place]) / far_rad
    deviation = float(np.sqrt(row @ line.covariance[place, place] @ row))
    seen = seen_share(gain * far_rad) if any(one.is_of_point for one in fit.samples) else 0.0
    assumed = float(np.hypot(_ASSUMED_SHARE, seen)) * gain
    return estimated(name, gain, float(np.hypot(deviation / far_rad, assumed)), line.quantile)


def _timing(fit: SteeringFit, found: SteeringSolution) -> list[Estimate]:
    """Return delay and lag.

    One step of the board is subtracted: on average the command waits half a step, and the sample is
    half a step old. Half a step is also the uncertainty.
    """
    if not fit.has_moved():
        why = f"the steering moves fewer than {MOVES} times while it rolls"
        return [not_identifiable("steer_delay_s", why), not_identifiable("steer_lag_s", why)]
    turnings = [one.turning for one in fit.samples if one.turning]
    step_s, deviations = fit.vehicle.step_s, found.line.deviations
    rows = (
        ("steer_delay_s", found.delay_s - step_s, deviations[-2]),
        ("steer_lag_s", found.lag_s, deviations[-1]),
    )
    delay, lag = (
        _time(name, value, float(np.hypot(deviation, step_s / 2)), found.line.quantile)
        for name, value, deviation in rows
    )
    if turnings:
        delay = not_identifiable(delay.name, _LATE)
    if not all(one.has_heading for one in turnings):
        lag = not_identifiable(lag.name, _UNSEEN)
    return [delay, lag]


def _time(name: str, value_s: float, deviation_s: float, quantile: float) -> Estimate:
    """Return a delay or a lag; of one at its bound of 0 it is said that only its end is told."""
    why = ""
    if value_s <= 0.0:
        why = f"it is at its bound of 0: told is that it is {quantile * deviation_s:.2g} s at most"
    return estimated(name, max(value_s, 0.0), deviation_s, quantile, why)


def _play(fit: SteeringFit, found: SteeringSolution) -> Estimate:
    """Return the free play: how the angle depends on the side from which it was approached."""
    sides = [approach_sides(one.command_rad) for one in fit.samples]
    came = [
        delayed_and_lagged(side, found.delay_s, 0.0)[one.use]
        for side, one in zip(sides, fit.samples, strict=True)
    ]
    # Before the side of approach is known, the offset is a free coefficient of each log.
    none = [np.zeros(len(one)) for one in came]
    unknown = [
        np.concatenate([*none[:i], (one == 0.0).astype(float), *none[i + 1 :]])
        for i, one in enumerate(came)
        if (one == 0.0).any()
    ]
    moves = sum(int(np.sum(np.abs(np.diff(side)) > 1.0)) for side in sides)
    if moves < MOVES or not fit.has_moved():
        return not_identifiable(_PLAY, f"its steering turns back {moves} times")
    more = [*unknown, np.concatenate(came)]
    where = found.shape, found.trim_rad, found.delay_s, found.lag_s
    line = fit.fit_coefficients(*where, with_timing=True, besides=more)
    play_rad = -float(line.values[-1])
    spread = float(np.hypot(line.deviations[-1], _ASSUMED_PLAY_RAD))
    is_lack = play_rad - line.quantile * spread > _PLAY_RAD
    found_play = estimated(
        _PLAY, max(play_rad, 0.0), spread, line.quantile, _LACK if is_lack else ""
    )
    # no play is negative; files of before may have one that is, so the table allows it
    return replace(found_play, low=max(found_play.low, 0.0))


def _tyres(fit: SteeringFit, found: SteeringSolution) -> list[Estimate]:
    if fit.lateral_mps2 <= LATERAL_MPS2:
        why = (
            f"it corners with {fit.lateral_mps2:.1f} m/s^2, and tyres tell from {LATERAL_MPS2:g} on"
        )
        return [not_identifiable(name, why) for name in TYRES]
    if not fit.has_tyres:
        why = (
            "its speed hardly varies in bends, and at one speed understeer and steering gain are "
            "one number"
        )
        return [not_identifiable(name, why) for name in TYRES]
    line, place = found.line, found.shape.width + 1
    value = float(line.values[place])
    deviation = float(np.hypot(line.deviations[place], _ASSUMED_UNDERSTEER))
    held = "as if the rear axle's were the vehicle file's"
    front, slope = front_stiffness(fit.vehicle, value)
    return [
        estimated(TYRES[0], value, deviation, line.quantile),
        estimated(TYRES[1], front, abs(slope) * deviation, line.quantile, held),
    ]


def _map(found: SteeringSolution, commands: Floats) -> SteeringMap:
    line, shape = found.line, found.shape
    # without the last 0.2 % on either side, which are overshoots
    low, high = np.quantile(commands, (0.002, 0.998))
    at = np.linspace(low, high, _BAND_POINTS)
    rows = shape.columns(at - found.trim_rad)
    place = slice(0, rows.shape[1])
    angles = rows @ line.values[place]
    variances = np.einsum("ij,jk,ik->i", rows, line.covariance[place, place], rows)
    spread = np.maximum(variances, 0.0) + (_ASSUMED_SHARE * angles) ** 2
    half = line.quantile * np.sqrt(spread)
    left = float(np.sqrt(np.mean(line.residuals**2)))
    more = slice(2, shape.width)
    is_bent = bool(np.any(np.abs(line.values[more]) > line.quantile * line.deviations[more]))
    return SteeringMap(at, angles, angles - half, angles + half, left, is_bent)
