"""Makes a path from a recorded drive: from the dead-reckoned places of a car that drove forward."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, remainder, tau

import numpy as np
from scipy.ndimage import gaussian_filter1d  # type: ignore[import-untyped]

from host_bridge.inputs.paths.path import GAP_M, GAP_PART, GAP_RAD, Floats, Path, resampled

# finer than the bends that these cars drive, above the steps of wheel counts
SPACING_M = 0.05
_SMOOTH_POINTS = 2.0  # sigma of 0.1 m, against the steps of wheel counts
SLOWEST_MPS = 0.05  # of a path on the way; its drive may have stood there
_FINE_M = 0.01  # a smaller movement counts as standing
_BACK_M = 0.1  # more backward movement than the play of the wheels


@dataclass(frozen=True)
class RecordedDrive:
    """A recorded drive: rows of x, y in m, and the speed there, forward positive."""

    places_m: Floats
    speeds_mps: Floats


def path_of_drive(drive: RecordedDrive, spacing_m: float = SPACING_M) -> Path:
    """Return the path, evenly spaced and smoothed, with the speeds of the drive.

    A drive that comes back to its start (the loop rule) is a loop: it is cut there, and the gap
    between its ends, by drift or by hand, is spread over the loop. Raises ValueError for a drive
    that stands still, or goes backward.
    """
    places, speeds = _moved(drive)
    if len(places) < 3:
        raise ValueError("the car did not move")
    _refuse_backward(places, speeds)
    end = _return_of(places)
    is_loop = end is not None
    if end is not None:
        places, speeds = _closed(places[: end + 1]), speeds[: end + 1]
    along = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(places, axis=0).T))))
    points = resampled(places[:-1] if is_loop else places, spacing_m, is_loop)
    mode = "wrap" if is_loop else "nearest"
    if len(points) > 8:  # fewer are too few for a filter of this width
        points = _smoothed(points, mode)
    at = np.linspace(0.0, along[-1], len(points) + is_loop)[: len(points)]
    driven = gaussian_filter1d(np.interp(at, along, speeds), _SMOOTH_POINTS, mode=mode)
    return Path(points, _never_standing(driven), is_loop)


def _never_standing(speeds: Floats) -> Floats:
    """Return the speeds without standing on the way, of which a path cannot say how long it is."""
    driven = np.maximum(speeds, 0.0)
    moving = np.flatnonzero(driven >= SLOWEST_MPS)
    if moving.size:
        way = slice(moving[0], moving[-1] + 1)
        driven[way] = np.maximum(driven[way], SLOWEST_MPS)
    return driven


def _smoothed(points: Floats, mode: str) -> Floats:
    """Smooth the points; an open path keeps its end points."""
    smooth: Floats = gaussian_filter1d(points, _SMOOTH_POINTS, axis=0, mode=mode)
    if mode != "wrap":
        smooth[0], smooth[-1] = points[0], points[-1]
    return smooth


def _moved(drive: RecordedDrive) -> tuple[Floats, Floats]:
    """Return the drive without the places at which it stood."""
    kept = [0]
    for i in range(1, len(drive.places_m)):
        if np.hypot(*(drive.places_m[i] - drive.places_m[kept[-1]])) >= _FINE_M:
            kept.append(i)
    return drive.places_m[kept], drive.speeds_mps[kept]


def _refuse_backward(places: Floats, speeds: Floats) -> None:
    steps = np.hypot(*np.diff(places, axis=0).T)
    back_m = float(steps[speeds[1:] < 0.0].sum())
    if back_m > _BACK_M:
        raise ValueError(f"the car drove {back_m:.2f} m backward, and a path is driven forward")


def _return_of(places: Floats) -> int | None:
    """Return the index of the first return to the start, or None."""
    along = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(places, axis=0).T))))
    near_m = np.hypot(*(places - places[0]).T)
    limit_m = np.minimum(GAP_M, GAP_PART * along)
    candidates = np.flatnonzero((near_m <= limit_m) & (along > 2.0 * GAP_M))
    begin = _yaw(places, 0)
    best: int | None = None
    for i in candidates:
        if best is not None and i > best + 1 and along[i] - along[best] > 2.0 * GAP_M:
            break  # this one belongs to the next lap
        turned = abs(remainder(_yaw(places, min(int(i), len(places) - 2)) - begin, tau))
        if turned <= GAP_RAD and (best is None or near_m[i] < near_m[best]):
            best = int(i)
    return best


def _yaw(places: Floats, i: int) -> float:
    """Return the direction over a few places, since those from wheel counts have steps."""
    last = min(i + 5, len(places) - 1)  # places, each _FINE_M or more from the one before
    first = min(i, last - 1)
    dx, dy = places[last] - places[first]
    return atan2(dy, dx)


def _closed(places: Floats) -> Floats:
    """Close the gap between the ends by shifting each place by its share of it."""
    gap = places[-1] - places[0]
    along = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(places, axis=0).T))))
    share = along / max(along[-1], 1e-9)  # m: a path that goes nowhere has no length to divide by
    closed: Floats = places - share[:, None] * gap
    return closed
