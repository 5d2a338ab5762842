"""Runs as a fit sees them: what of a log is looked at, residuals, and how they change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from calibration.effects import Path, pieces, suspects, turned_at_start
from calibration.parameters import NAMES, PARAMETERS, Values
from calibration.samples import Floats, Odometry, Run
from calibration.scatter import Sight
from calibration.twin import STEP_S, Poses, Twin, arrived

APART_S = 0.09  # between samples: a wobble that is remembered says nothing new sooner
BESIDE_S = 0.6  # of standing, before and after a drive: more is the same sample again
MOVED_M = 0.03
PROBE = 3e-3  # of a belief's spread: far above the plant's rounding, far below its bends


def thinned(run: Run) -> Run:
    """Without odometry that tells nothing new. Poses before the first command keep their mean."""
    o = run.odometry
    kept, last_s = [], -np.inf
    begin_s, end_s = _driven(o)
    first_s = float(run.commands.t_s[0])
    for i, t_s in enumerate(o.t_s):
        is_start = t_s < first_s
        if is_start or (begin_s <= t_s <= end_s and t_s - last_s >= APART_S):
            kept.append(i)
            last_s = t_s
    own = {name: getattr(o, name)[kept] for name in ("t_s", "x_m", "y_m", "yaw_rad")}
    return Run(run.commands, replace(o, **own))


def _driven(o: Odometry) -> tuple[float, float]:
    """From when to when it moves, and ``BESIDE_S`` more."""
    from_start_m = np.hypot(o.x_m - o.x_m[0], o.y_m - o.y_m[0])
    from_end_m = np.hypot(o.x_m - o.x_m[-1], o.y_m - o.y_m[-1])
    moves = np.flatnonzero((from_start_m > MOVED_M) & (from_end_m > MOVED_M))
    if not moves.size:
        return float(o.t_s[0]), float(o.t_s[-1])
    return float(o.t_s[moves[0]]) - BESIDE_S, float(o.t_s[moves[-1]]) + BESIDE_S


def since(run: Run) -> int:
    """Number of the first sample after the first command."""
    return int(np.searchsorted(run.odometry.t_s, run.commands.t_s[0]))


def residual(twin: Twin, values: Values, run: Run, step_s: float = STEP_S) -> Floats:
    """Predicted less measured, (samples since the first command, 3)."""
    o = run.odometry
    measured = np.column_stack([o.x_m, o.y_m, o.yaw_rad])
    return (columns(twin.predict(values, run, step_s)) - measured)[since(run) :]


def columns(poses: Poses) -> Floats:
    """(samples, 3): x and y in m, yaw in rad."""
    return np.column_stack([poses.x_m, poses.y_m, poses.yaw_rad])


def sight(
    twin: Twin, known: Values, at: Floats, values: Values, run: Run, step_s: float = STEP_S
) -> Sight:
    """One evaluation, and one more for each parameter."""
    here, first = twin.predict(values, run, step_s), since(run)
    base = columns(here)
    slopes = np.stack(
        [
            (columns(twin.predict(moved, run, step_s)) - base) / probe
            for moved, probe in _probes(known, at, values)
        ],
        axis=2,
    )[first:]
    t_s = run.odometry.t_s[first:]
    path = Path.of(t_s, Poses(*base[first:].T))
    speed, bend = pieces(path)
    o = run.odometry
    measured = np.column_stack([o.x_m, o.y_m, o.yaw_rad])
    return Sight(
        t_s,
        (base - measured)[first:],
        slopes,
        np.stack([*_of_run(slopes), turned_at_start(path)], axis=2),
        speed,
        bend,
        suspects(path, arrived(run, values)),
    )


def _probes(known: Values, at: Floats, values: Values) -> Iterator[tuple[dict[str, float], float]]:
    """For each parameter: values with that one moved, and by how much of its belief's spread."""
    for p, here in zip(PARAMETERS, at, strict=True):
        is_at_top = p.value(float(here) + PROBE, known[p.name]) >= p.high
        probe = -PROBE if is_at_top else PROBE
        yield {**values, p.name: p.value(float(here) + probe, known[p.name])}, probe


def _of_run(slopes: Floats) -> list[Floats]:
    """Speed by its share, trim, delay: each in its own unit, not in spreads."""
    names = ("speed_mps", "steer_trim_norm", "queue_delay_s")
    return [slopes[:, :, NAMES.index(one)] / PARAMETERS[NAMES.index(one)].spread for one in names]
