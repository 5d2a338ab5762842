"""The yaw rate and the travel of a drive without a gyro, out of the poses that tracked it.

Where the poses have no heading, the course of the tracked point stands for it: in a steady bend
both turn equally fast. Differences over a time blur the yaw rate; ``DriveTrace.turning`` says by
how much, and whoever compares it with commands blurs these as much.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from calibration.arrays import Floats
from calibration.logs.trace import DriveTrace, Series, Turning

GRID_S = 0.01  # as that of the fit of the steering (regression/steering_samples.py)
_CHORD_M = 0.05  # the course is that of a chord so long: 50 times the noise of a motion capture
_SHORTEST_S, _LONGEST_S = 0.1, 0.4  # of a chord: half a lag of a servo, a bend of a walking car
_LEAST_CHORD = (
    0.4  # of _CHORD_M: a shorter chord's direction is noise, and the car as good as rests
)
_LEAST_ROWS = 20  # poses of a drive: fewer are no track

Complexes = npt.NDArray[np.complex128]


def with_turning(trace: DriveTrace) -> DriveTrace:
    """Return the trace with a yaw rate, and a travel, of its tracked places where it has none.

    Where nothing tells the yaw rate (a place without a heading, at rest) it is nan.
    """
    if trace.inertial.is_present or len(trace.places.t_s) < _LEAST_ROWS:
        return trace
    t_s, (x_m, y_m, *headings) = trace.places
    # a pose that never turns has no heading: who publishes points as poses leaves it at 0
    headings = [one for one in headings if np.ptp(one) > 0.0]
    times_s = np.arange(t_s[0], t_s[-1], GRID_S)
    place = np.interp(times_s, t_s, x_m) + 1j * np.interp(times_s, t_s, y_m)
    period_s = float(np.median(np.diff(t_s)))
    chord_s = _chord_s(place, period_s)
    chord = _difference(place, chord_s)
    if headings:
        pointing = np.exp(1j * np.interp(times_s, t_s, np.unwrap(headings[0])))
        forward = np.sign(np.real(chord * np.conj(pointing)))
        blurs: tuple[float, ...] = chord_s, period_s
    else:
        pointing = np.where(np.abs(chord) > _LEAST_CHORD * _CHORD_M, chord, np.nan)
        forward = np.ones(len(times_s))
        blurs = chord_s, chord_s, period_s
    yaw_radps = _turned_rad(pointing, chord_s) / chord_s
    nothing = np.zeros(len(times_s))
    found = replace(
        trace,
        inertial=Series(times_s, np.array([yaw_radps, nothing, nothing])),
        turning=Turning(blurs, has_heading=bool(headings)),
    )
    if found.travel.is_present:
        return found
    travel_m = np.cumsum(forward * np.abs(chord)) * GRID_S / chord_s
    return replace(found, travel=Series(times_s, travel_m[None, :]), counts_per_m=0.0)


def _chord_s(place: Complexes, period_s: float) -> float:
    """Return the time in which the car, when it moves, goes as far as a chord is long."""
    steps = np.abs(_difference(place, _LONGEST_S)) / _LONGEST_S
    moving = steps[steps > _LEAST_CHORD * _CHORD_M / _LONGEST_S]
    speed_mps = float(np.median(moving)) if len(moving) else _CHORD_M
    wanted_s = min(max(_CHORD_M / speed_mps, _SHORTEST_S, period_s), max(_LONGEST_S, period_s))
    return 2 * GRID_S * round(wanted_s / GRID_S / 2)


def _difference(values: Complexes, span_s: float) -> Complexes:
    """Return the differences over a time around each sample; the ends hold beyond the ends."""
    reach = round(span_s / GRID_S / 2)
    padded = np.pad(values, reach, mode="edge")
    return np.asarray(padded[2 * reach :] - padded[: -2 * reach])


def _turned_rad(pointing: Complexes, span_s: float) -> Floats:
    """Return by how much a direction turns over a time around each sample; nan at the ends."""
    reach = round(span_s / GRID_S / 2)
    found = np.full(len(pointing), np.nan)
    if len(pointing) > 2 * reach:
        found[reach:-reach] = np.angle(pointing[2 * reach :] * np.conj(pointing[: -2 * reach]))
    return found
