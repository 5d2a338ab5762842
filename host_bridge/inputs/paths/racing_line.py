"""Racing lines: the line of least curvature between walls, and the speeds that it allows a car.

The line is moved sideways by what makes the sum of the squared second differences of its evenly
spaced points least, which is a bounded linear least squares problem; where it lies then the problem
is posed anew, until it stays (after Heilmeier et al., Vehicle System Dynamics, 2020). Of two lines
that bend alike this prefers the shorter one. The speeds are those of a point mass with a friction
ellipse: what a bend takes is not there for braking or for gaining speed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline  # type: ignore[import-untyped]
from scipy.optimize import lsq_linear  # type: ignore[import-untyped]

from host_bridge.inputs.paths.path import Floats, Path, resampled

Room = Callable[[Floats, Floats], tuple[Floats, Floats]]

_POINTS_M, _MOST_POINTS = 0.1, 1_500  # the least spacing, and what is solved within seconds
_FINE_M = 0.05  # of the line's points at the end: of coarser ones the bends are measured unevenly
# The places that are moved; between them the line bends as a spline. More find no faster line on
# the tracks tried, fewer round off the bends of a small one.
_NODES_M, _MOST_NODES, _FEWEST_NODES = 0.3, 150, 24
_ROUNDS = 12  # half of them do, on every track tried
_STAYS_M = 0.005  # the line stays: it moved by less than half a centimetre
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
    nodes = int(np.clip(length_m / _NODES_M, _FEWEST_NODES, _MOST_NODES))
    per_node = max(round(min(length_m / _POINTS_M, _MOST_POINTS) / nodes), 2)
    count = nodes * per_node
    basis = _basis(nodes, per_node)
    line = resampled(centre, length_m / count, is_loop=True)
    for _ in range(_ROUNDS):
        left = _left_of(line)
        to_left, to_right = room(line, left)
        _refuse_narrow(line, to_left + to_right, half_width_m)
        most, least = to_left - half_width_m, half_width_m - to_right
        most, least = _least_near(most, per_node), -_least_near(-least, per_node)
        offsets = basis @ _least_bent(line, left, basis, least, most)
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


def _basis(nodes: int, per_node: int) -> Floats:
    """Return the matrix that makes a closed spline's values of those at its nodes."""
    unit = np.eye(nodes)
    spline = CubicSpline(np.arange(nodes + 1), np.vstack([unit, unit[:1]]), bc_type="periodic")
    return np.asarray(spline(np.arange(nodes * per_node) / per_node))


def _least_near(values: Floats, per_node: int) -> Floats:
    """Return the least value around each node, as far as half way to the next ones.

    A spline that obeys these at its nodes obeys all values between them but for millimetres.
    """
    turned = np.roll(values, per_node // 2)
    return np.asarray(turned.reshape(-1, per_node).min(axis=1))


def _least_bent(line: Floats, left: Floats, basis: Floats, least: Floats, most: Floats) -> Floats:
    """Return the nodes' offsets to the left with the least sum of squared second differences."""
    matrix = np.vstack([_bent(left[:, i : i + 1] * basis) for i in (0, 1)])
    target = -np.concatenate([_bent(line[:, i]) for i in (0, 1)])
    q, r = np.linalg.qr(matrix)
    most = np.maximum(most, least + 1e-6)  # where the line has to be in the very middle
    return np.asarray(lsq_linear(r, q.T @ target, (least, most), method="trf").x)


def _bent(values: Floats) -> Floats:
    """Return the second differences of values round a closed line."""
    return np.roll(values, -1, axis=0) - 2.0 * values + np.roll(values, 1, axis=0)


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
