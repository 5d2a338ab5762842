"""Racing lines: the line of least curvature between walls, and the speeds that it allows a car.

The line is a row of evenly spaced points. Each is moved sideways, within the walls, so that the sum
of the squared second differences of the points is least: a linear least squares problem with
bounds. It is solved again around the line that was found, until that moves no more (after Heilmeier
et al., Vehicle System Dynamics, 2020). Of two lines that bend alike this prefers the shorter one.

The speeds are those of a point mass with a friction ellipse: grip that a bend takes is missing for
braking and for gaining speed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import ndimage, sparse  # type: ignore[import-untyped]
from scipy.interpolate import CubicSpline  # type: ignore[import-untyped]
from scipy.sparse.linalg import spsolve  # type: ignore[import-untyped]

from host_bridge.inputs.paths.path import Floats, Path, resampled

Room = Callable[[Floats, Floats], tuple[Floats, Floats]]

# The spacing of the points that are moved, or wider on a track of more than so many: solved within
# seconds. A spline through fewer than the last rounds off the bends of a small track.
_POINTS_M, _MOST_POINTS, _FEWEST_POINTS = 0.1, 2_000, 32
_FINE_M = 0.05  # of the line's points at the end: of coarser ones the bends are measured unevenly
_EVEN_M = 0.3  # to either side: six cells of most maps
_ROUNDS = 12  # half of them do, on every track tried
_STAYS_M = 0.005  # the line stays: it moved by less than half a centimetre
_STEPS = 80  # of the interior point method: it takes twenty to forty
_LOWERED = 0.2  # the weight's part of the gap: chosen, as textbooks do
_APART_M = 1e-4  # a tenth of a millimetre: nearer to a bound, or to the solution, is no gain
_LAPS = 3  # of the speeds: the first begins at any speed, the second is limited by it


@dataclass(frozen=True)
class SpeedLimits:
    """The limits of a car on its racing line, in m/s and m/s²."""

    top_mps: float
    lateral_mps2: float
    accel_mps2: float
    decel_mps2: float

    def scaled(self, share: float) -> SpeedLimits:
        """Return the limits with this share of each acceleration."""
        a, b, c = (share * it for it in (self.lateral_mps2, self.accel_mps2, self.decel_mps2))
        return SpeedLimits(self.top_mps, a, b, c)


def least_curvature(centre: Floats, half_width_m: float, room: Room) -> Path:
    """Return the line of least curvature along a closed centre line, in its direction.

    ``half_width_m`` has to be free to either side: half of the car and a margin. ``room`` gives the
    distances in m to the walls, to the left and to the right of points and along unit vectors.
    Raises ValueError naming the place where it is narrower than that.
    """
    length_m = Path(centre, is_loop=True).length_m
    count = int(np.clip(length_m / _POINTS_M, _FEWEST_POINTS, _MOST_POINTS))
    line = resampled(centre, length_m / count, is_loop=True)
    for _ in range(_ROUNDS):
        left = _left_of(line)
        to_left, to_right = room(line, left)
        _refuse_narrow(line, to_left + to_right, half_width_m)
        reach = max(round(_EVEN_M * count / length_m), 1)
        most = _evened(to_left - half_width_m, reach)
        offsets = _least_bent(line, left, -_evened(to_right - half_width_m, reach), most)
        line = _even(line + offsets[:, None] * left, count)
        if np.abs(offsets).max() < _STAYS_M:
            break
    return Path(_even(line, max(count, round(length_m / _FINE_M))), is_loop=True)


def race_speeds(path: Path, limits: SpeedLimits, half_m: float) -> tuple[Path, float]:
    """Return the loop with the speeds that can be held on it, and its lap time in s.

    A bend is measured over ``half_m`` to either side.
    """
    along = path.along_m[:-1]
    bends = np.abs(path.curvatures(along, half_m))
    # 1/m: a straight has no limit, and must not divide by 0
    by_bends = np.sqrt(limits.lateral_mps2 / np.maximum(bends, 1e-6))
    steps = np.diff(path.along_m)
    speeds = np.minimum(limits.top_mps, by_bends).tolist()
    _limit(speeds, bends.tolist(), steps.tolist(), limits.accel_mps2, limits.lateral_mps2)
    for it in (speeds, backward := bends.tolist(), spans := steps.tolist()):
        it.reverse()
    spans = [*spans[1:], spans[0]]  # the step that leads from each point to the one before it
    _limit(speeds, backward, spans, limits.decel_mps2, limits.lateral_mps2)
    speeds.reverse()
    found = np.array(speeds)
    lap_s = float(np.sum(2.0 * steps / (found + np.roll(found, -1))))
    return Path(path.points_m[:-1], found, is_loop=True), lap_s


def _limit(
    speeds: list[float], bends: list[float], steps: list[float], gain: float, lateral: float
) -> None:
    """Limit each speed to what can be reached from the place before, round and round."""
    count = len(speeds)
    for at in range(_LAPS * count):
        i, after = at % count, (at + 1) % count
        square = speeds[i] * speeds[i]
        used = min(square * bends[i] / lateral, 1.0)
        left = gain * (1.0 - used * used) ** 0.5
        speeds[after] = min(speeds[after], (square + 2.0 * left * steps[i]) ** 0.5)


def _least_bent(line: Floats, left: Floats, least: Floats, most: Floats) -> Floats:
    """Return the offsets to the left with the least sum of squared second differences.

    It is a quadratic programme with bounds, solved by the primal-dual interior point method
    (Nocedal and Wright, Numerical Optimization, 2006, chapter 16.6): a weight keeps the offsets
    from the bounds and is lowered to nothing.
    """
    count = len(line)
    bent = _second_differences(count)
    matrix = sparse.vstack([bent @ sparse.diags_array(left[:, i]) for i in (0, 1)])
    hessian = (matrix.T @ matrix).tocsc()
    gradient = matrix.T @ np.concatenate([bent @ line[:, i] for i in (0, 1)])
    scale = float(hessian.diagonal().mean())
    most = np.maximum(most, least + 2.0 * _APART_M)  # in the very middle, where there is no choice
    offsets = 0.5 * (least + most)
    above, below = np.full(count, scale), np.full(count, scale)  # the bounds' multipliers
    for _ in range(_STEPS):
        up, down = offsets - least, most - offsets
        gap = float(above @ up + below @ down) / (2 * count)
        if gap < scale * _APART_M**2:
            break
        weight = _LOWERED * gap
        slope = hessian @ offsets + gradient
        system = hessian + sparse.diags_array(above / up + below / down)
        step = spsolve(system.tocsc(), weight / up - weight / down - slope)
        change_above = weight / up - above - above / up * step
        change_below = weight / down - below + below / down * step
        size = _longest((up, down, above, below), (step, -step, change_above, change_below))
        offsets, above, below = (
            offsets + size * step,
            above + size * change_above,
            below + size * change_below,
        )
    return offsets


def _longest(values: Sequence[Floats], changes: Sequence[Floats]) -> float:
    """Return the part of the changes, 1 at most, that leaves all values above 0."""
    parts = [
        float((value[change < 0.0] / -change[change < 0.0]).min(initial=np.inf))
        for value, change in zip(values, changes, strict=True)
    ]
    return min(1.0, 0.995 * min(parts))  # not all of the way to the nearest bound


def _evened(room_m: Floats, reach: int) -> Floats:
    """Return the room without the steps of a map's cells, nowhere more than it is.

    Each is the mean, over so many points to either side, of the least room around each of these.
    """
    least = ndimage.minimum_filter1d(room_m, 2 * reach + 1, mode="wrap")
    return np.asarray(ndimage.uniform_filter1d(least, 2 * reach + 1, mode="wrap"))


def _second_differences(count: int) -> sparse.csc_array:
    """Return the matrix of second differences round a closed line."""
    ones = np.ones(count)
    wraps = ([1.0], [1.0])
    shape = (count, count)
    inner = sparse.diags_array([ones[1:], -2.0 * ones, ones[1:]], offsets=[-1, 0, 1], shape=shape)
    ends = sparse.diags_array(wraps, offsets=[1 - count, count - 1], shape=shape)
    return sparse.csc_array(inner + ends)


def _left_of(line: Floats) -> Floats:
    """Return the unit vectors to the left of a closed line's points."""
    ahead = np.roll(line, -1, axis=0) - np.roll(line, 1, axis=0)
    ahead /= np.hypot(ahead[:, 0], ahead[:, 1])[:, None]
    return np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)


def _even(line: Floats, count: int) -> Floats:
    """Return so many points, evenly apart, on the spline through those of a closed line."""
    closed = np.vstack([line, line[:1]])
    along = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(closed, axis=0).T))))
    spline = CubicSpline(along, closed, bc_type="periodic")
    return np.asarray(spline(np.linspace(0.0, along[-1], count, endpoint=False)))


def _refuse_narrow(line: Floats, width_m: Floats, half_width_m: float) -> None:
    at = int(np.argmin(width_m))
    if width_m[at] < 2.0 * half_width_m:
        x, y = line[at]
        raise ValueError(
            f"it is {width_m[at]:.2f} m wide at {x:.2f},{y:.2f}, and the car with its margin takes "
            f"{2.0 * half_width_m:.2f} m"
        )
