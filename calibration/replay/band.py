"""The simultaneous prediction band of a run: where the car is seen throughout, in 90 of 100 runs.

The band is drawn from everything that a fit leaves uncertain: the parameters' posterior, effects
that differ from run to run, effects that no parameter explains, and the odometry's noise. Each draw
of a car and its run effects is simulated in full, as an early start is not linear in its cause. The
band is simultaneous: its widths over time are those of the draws' spread, times the factor that
holds 90 % of the draws from start to end. If leave-one-out runs lay farther away than the model
says, the band is widened by that factor (``leave_one_out.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibration.arrays import Floats
from calibration.bayesian_fit.estimates import BAND_SHARE, Fit
from calibration.bayesian_fit.leave_one_out import band_half_widths
from calibration.bayesian_fit.linearisation import ROUGH_STEP_S, SimulatedRun
from calibration.bayesian_fit.linearised_run import differing_scales, run_scales, scaled_pieces
from calibration.bayesian_fit.odometry_noise import drawn_noise
from calibration.bayesian_fit.parameters import DIFFERING_AT, FIT_PARAMETERS
from calibration.bayesian_fit.run_effects import ZERO_EFFECTS
from calibration.logs.run import Run
from calibration.simulation.plant_numbers import Values
from calibration.simulation.twin import Twin, commands_in_effect

DRIVES, SEEN = 200, 10  # draws of a car, and draws of odometry noise for each of them
SEED = 1
BRIEF_S = 0.2  # shorter commands hardly move the car
NEAR_NORM = 0.01  # steering this close to what was driven counts as driven


@dataclass(frozen=True)
class Band:
    """Half widths of the band, sample by sample from the first command on.

    ``position_m`` is the radius of a circle around the twin, ``yaw_rad`` either side of its yaw.
    ``is_extrapolated`` marks samples with steering beyond that of the fitted runs, so extrapolated.
    """

    position_m: Floats
    yaw_rad: Floats
    is_extrapolated: np.ndarray

    def holds(self, position_m: Floats, yaw_rad: Floats) -> np.ndarray:
        """Return whether such errors lie inside the band, sample by sample."""
        return (position_m <= self.position_m) & (np.abs(yaw_rad) <= self.yaw_rad)


def band(
    twin: Twin,
    known: Values,
    fit: Fit,
    run: Run,
    share: float = BAND_SHARE,
) -> Band:
    """Draw the band of a run, fitted on or not."""
    simulated = SimulatedRun(twin, fit.values, run, step_s=ROUGH_STEP_S)
    drawn = _drawn(twin, known, fit, run, simulated)
    position_m, yaw_rad = band_half_widths(drawn, share)
    is_extrapolated = _extrapolated(simulated.t_s, run, fit)
    return Band(fit.stretch * position_m, fit.stretch * yaw_rad, is_extrapolated)


def _drawn(twin: Twin, known: Values, fit: Fit, run: Run, simulated: SimulatedRun) -> Floats:
    """Return drawn deviations of runs of this car from the twin's run, (samples, 3, draws)."""
    rng = np.random.default_rng(SEED)
    drives = [_drive(twin, known, fit, run, simulated, rng.normal) for _ in range(DRIVES)]
    drawn = np.repeat(np.stack(drives, axis=2), SEEN, axis=2)
    strange = scaled_pieces(*simulated.pieces(), fit.scales)
    drawn += strange @ rng.normal(size=(strange.shape[2], drawn.shape[2]))
    return np.asarray(drawn + drawn_noise(rng, simulated.t_s, fit.scales, drawn.shape[2]))


def _drive(
    twin: Twin,
    known: Values,
    fit: Fit,
    run: Run,
    simulated: SimulatedRun,
    normal: Callable[..., Floats],
) -> Floats:
    """Simulate one car drawn from the posterior with drawn run effects; return its deviation.

    The shape is (samples, 3): x and y in m, yaw in rad.
    """
    # The covariance comes from a file and is rounded: its least eigenvalues may be negative.
    sizes, directions = np.linalg.eigh(fit.covariance)
    steps = (directions * np.sqrt(np.maximum(sizes, 0.0))) @ normal(size=len(sizes))
    steps[DIFFERING_AT] += differing_scales(fit.scales) * normal(size=len(DIFFERING_AT))
    values = {
        p.name: p.value(
            p.standardised(fit.values[p.name], known[p.name]) + float(step), known[p.name]
        )
        for p, step in zip(FIT_PARAMETERS, steps, strict=True)
    }
    own = run_scales(fit.scales, simulated.still_s) * normal(size=len(ZERO_EFFECTS))
    return np.asarray(SimulatedRun(twin, values, run, own, ROUGH_STEP_S).poses - simulated.poses)


def _extrapolated(times_s: Floats, run: Run, fit: Fit) -> np.ndarray:
    """Return whether each sample comes after the first steering that no fitted run had."""
    steering = fit.steering
    low, high = driven_steering([run], fit.values)
    low, high = min(low, steering[0]), max(high, steering[1])
    if steering[0] - low <= NEAR_NORM and high - steering[1] <= NEAR_NORM:
        return np.zeros(len(times_s), bool)
    begins_s = min(
        begin_s
        for begin_s, value in _driven(run, fit.values)
        if not steering[0] - NEAR_NORM <= value <= steering[1] + NEAR_NORM
    )
    return np.asarray(times_s > begins_s)


def driven_steering(runs: list[Run], values: Values) -> tuple[float, float]:
    """Return the least and the greatest steering that any of the runs was driven with."""
    found = [value for run in runs for _, value in _driven(run, values)]
    return min(found), max(found)


def _driven(run: Run, values: Values) -> list[tuple[float, float]]:
    """Return (start time, steering) of each span with throttle, without those below ``BRIEF_S``.

    If all are that short, all are returned; without any throttle, one with steering 0.
    """
    schedule = commands_in_effect(run, values)
    ends_s = [*(one.t_s for one in schedule[1:]), np.inf]
    spans = [
        (one.t_s, one.steering_norm, end_s - one.t_s)
        for one, end_s in zip(schedule, ends_s, strict=True)
        if one.throttle_norm
    ]
    kept = [(t_s, value) for t_s, value, span_s in spans if span_s >= BRIEF_S]
    return kept or [(t_s, value) for t_s, value, _ in spans] or [(0.0, 0.0)]
