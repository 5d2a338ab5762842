"""The simulated runs of a fit: thinned odometry, residuals, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from calibration.arrays import Floats
from calibration.bayesian_fit.linearised_run import LinearisedRun
from calibration.bayesian_fit.parameters import (
    DIFFERING_AT,
    FIT_PARAMETER_NAMES,
    FIT_PARAMETERS,
)
from calibration.bayesian_fit.run_effects import (
    ZERO_EFFECTS,
    PredictedPath,
    RunEffects,
    pieces,
    start_pose_columns,
    suspects,
)
from calibration.bayesian_fit.variance_priors import DIFFERING
from calibration.logs.run import PoseTrack, Run
from calibration.simulation.plant_numbers import Values
from calibration.simulation.poses import Poses, as_odometry
from calibration.simulation.twin import STEP_S, Twin, commands_in_effect

APART_S = 0.09  # between samples: correlated noise says nothing new sooner
BESIDE_S = 0.6  # standing time kept before and after a drive: more repeats the same sample
MOVED_M = 0.03  # more than odometry's noise at rest: from then on it is a drive
PROBES = (5e-4, 0.2)  # least and greatest finite difference, in spreads of a prior
ROUGH_STEP_S = 0.005  # the plant's longest step: positions are 1 mm off over a run, slopes hardly
_OF_THE_MOUNTING = ("mount_yaw_rad", "mount_x_m")  # these change what is seen, not the drive

View: TypeAlias = Callable[[Floats], Floats]  # of poses in columns, (samples, 3)


def thinned(run: Run) -> Run:
    """Return the run without redundant odometry: no long standing, samples ``APART_S`` apart.

    All poses before the first command are kept, so their mean stays.
    """
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


def _driven(o: PoseTrack) -> tuple[float, float]:
    """Return from when to when the car moves, plus ``BESIDE_S`` on either side."""
    from_start_m = np.hypot(o.x_m - o.x_m[0], o.y_m - o.y_m[0])
    from_end_m = np.hypot(o.x_m - o.x_m[-1], o.y_m - o.y_m[-1])
    moves = np.flatnonzero((from_start_m > MOVED_M) & (from_end_m > MOVED_M))
    if not moves.size:
        return float(o.t_s[0]), float(o.t_s[-1])
    return float(o.t_s[moves[0]]) - BESIDE_S, float(o.t_s[moves[-1]]) + BESIDE_S


def first_sample(run: Run) -> int:
    """Return the index of the first sample after the first command."""
    return int(np.searchsorted(run.odometry.t_s, run.commands.t_s[0]))


def as_positions(poses: Floats) -> Floats:
    """Return the poses as they are: an early error persists in all later positions."""
    return poses


def as_displacements(poses: Floats) -> Floats:
    """Return the poses as distances along and across the car's own heading, and its yaw.

    A wrong heading does not bend what comes later, so a search converges from far away.
    """
    dx, dy = np.diff(poses[:, :2], axis=0, prepend=poses[:1, :2]).T
    yaw = poses[:, 2]
    middle = 0.5 * (yaw + np.concatenate([yaw[:1], yaw[:-1]]))
    c, s = np.cos(middle), np.sin(middle)
    return np.column_stack([np.cumsum(c * dx + s * dy), np.cumsum(c * dy - s * dx), yaw])


def residual(
    twin: Twin,
    values: Values,
    own: Floats,
    run: Run,
    step_s: float = STEP_S,
    view: View = as_positions,
) -> Floats:
    """Return predicted less measured poses, (samples since the first command, 3).

    ``own`` are the run's effects.
    """
    effects, first = RunEffects(*own), first_sample(run)
    way = twin.centre_poses(effects.applied(values), run, step_s)
    predicted = columns(_placed(way, run, values, effects))
    return view(predicted[first:]) - view(_measured(run)[first:])


def columns(poses: Poses) -> Floats:
    """Return the poses as an array (samples, 3): x and y in m, yaw in rad."""
    return np.column_stack([poses.x_m, poses.y_m, poses.yaw_rad])


def _measured(run: Run) -> Floats:
    o = run.odometry
    return np.column_stack([o.x_m, o.y_m, o.yaw_rad])


def _placed(way: Poses, run: Run, values: Values, own: RunEffects) -> Poses:
    x_m, y_m, yaw_rad = run.start_pose()
    start = x_m + own.start_x_m, y_m + own.start_y_m, yaw_rad + own.start_yaw_rad
    return as_odometry(way, start, values["mount_yaw_rad"], values["mount_x_m"])


class SearchPoint(NamedTuple):
    """A point of a search: standardised parameters, their values, and finite-difference steps."""

    at: Floats
    values: Values
    probes: Floats


def probes(own: Floats) -> Floats:
    """Return the finite-difference steps of parameters with these deviations, in spreads.

    A slope taken over the range that is in doubt holds there; a smaller step would be dominated by
    the rounding of the plant's own steps.
    """
    return np.asarray(np.clip(0.2 * own, *PROBES))  # a fifth of the range that is in doubt


class SimulatedRun:
    """One run simulated at some values and effects of its own: poses, and their derivatives."""

    def __init__(
        self,
        twin: Twin,
        values: Values,
        run: Run,
        own: Floats = ZERO_EFFECTS,
        step_s: float = STEP_S,
    ) -> None:
        self._twin, self._values, self._run = twin, values, run
        self._own, self._first = RunEffects(*own), first_sample(run)
        self._rough = self._driven(values, ROUGH_STEP_S)
        way = self._rough if step_s == ROUGH_STEP_S else self._driven(values, step_s)
        self.poses = self._seen(way, values)

    @property
    def t_s(self) -> Floats:
        """The times of all samples since the first command."""
        return self._run.odometry.t_s[self._first :]

    @property
    def still_s(self) -> float:
        """The time for which the car was seen standing before the first command."""
        t_s = self._run.odometry.t_s
        return float(t_s[self._first - 1] - t_s[0])

    def pieces(self) -> tuple[Floats, Floats]:
        """Return the columns of the speed and the curvature of each piece."""
        return pieces(self._path())

    def _path(self) -> PredictedPath:
        return PredictedPath.of(self.t_s, Poses(*self.poses.T))

    def _driven(self, values: Values, step_s: float) -> Poses:
        return self._twin.centre_poses(self._own.applied(values), self._run, step_s)

    def _seen(self, way: Poses, values: Values) -> Floats:
        return columns(_placed(way, self._run, values, self._own))[self._first :]

    def slopes(self, known: Values, point: SearchPoint, view: View) -> Floats:
        """Return the derivatives by the standardised parameters, (samples, 3, parameters).

        Each takes one more rough simulation, except those of the mounting.
        """
        here = view(self._seen(self._rough, self._values))
        found = []
        for name, moved, probe in _probes(known, point):
            way = self._rough if name in _OF_THE_MOUNTING else self._driven(moved, ROUGH_STEP_S)
            found.append((view(self._seen(way, moved)) - here) / probe)
        return np.stack(found, axis=2)

    def measured(self) -> Floats:
        return _measured(self._run)[self._first :]

    def linearised(self, known: Values, point: SearchPoint) -> LinearisedRun:
        """Return the linearised run with all columns, seen as positions."""
        slopes, path = self.slopes(known, point, as_positions), self._path()
        speed, curvature = pieces(path)
        return LinearisedRun(
            self.t_s,
            self.poses - self.measured(),
            slopes,
            np.concatenate([_of_run(slopes), start_pose_columns(path)], axis=2),
            speed,
            curvature,
            suspects(path, commands_in_effect(self._run, self._own.applied(self._values))),
            slopes[:, :, DIFFERING_AT],
            np.array(self._own),
            self.still_s,
        )

    def linearised_displacements(self, known: Values, point: SearchPoint) -> LinearisedRun:
        """Return the run linearised as displacements, without effects, to begin a search with."""
        none = np.zeros((len(self.poses), 3, 0))
        run, differing = (
            np.zeros((len(self.poses), 3, len(one))) for one in (ZERO_EFFECTS, DIFFERING)
        )
        return LinearisedRun(
            self.t_s,
            as_displacements(self.poses) - as_displacements(self.measured()),
            self.slopes(known, point, as_displacements),
            *(run, none, none, none, differing, ZERO_EFFECTS, 0.0),
        )


def _probes(known: Values, point: SearchPoint) -> Iterator[tuple[str, Values, float]]:
    """Yield for each parameter its name, the values with it moved, and the standardised step."""
    for p, here, by in zip(FIT_PARAMETERS, point.at, point.probes, strict=True):
        is_at_top = p.value(float(here + by), known[p.name]) >= p.high
        probe = float(-by if is_at_top else by)
        moved = {**point.values, p.name: p.value(float(here) + probe, known[p.name])}
        yield p.name, moved, probe


def _of_run(slopes: Floats) -> Floats:
    """Return the columns of speed (by its logarithm), trim and delay, per unit, not per spread."""
    at = [
        FIT_PARAMETER_NAMES.index(one)
        for one in ("full_effort_mps", "steer_trim_norm", "queue_delay_s")
    ]
    return np.asarray(slopes[:, :, at] / [FIT_PARAMETERS[one].spread for one in at])
