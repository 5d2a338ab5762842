"""The speed profile of a path: limited by its own speeds, by bends, and by braking distances."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np

from host_bridge.inputs.paths.path import Floats, Path

LATERAL_MPS2 = 2.0  # in a bend; half of what a small car's tyres give on most floors, or less
DECEL_MPS2 = 1.0  # gentle for every car of the vehicle files
CREEP_MPS = 0.2  # the lowest speed, unless the path or its driver asks for less
_SPACING_M = 0.05  # a car at 3 m/s passes it in 17 ms
_TOLD_MPS = 0.01  # a smaller difference from what was asked is not worth a sentence


class SpeedProfile:
    """The speed at each place of a path, and the time that it takes to get there."""

    def __init__(
        self,
        path: Path,
        top_mps: float,
        lateral_mps2: float,
        half_m: float,
        decel_mps2: float = DECEL_MPS2,
    ) -> None:
        """Compute the speeds; a bend is measured over ``half_m`` to either side."""
        count = max(round(path.length_m / _SPACING_M), 8)  # a short path has some places too
        self._along: Floats = np.linspace(0.0, path.length_m, count + 1)
        speeds = np.full(count + 1, top_mps)
        bends = np.abs(path.curvatures(self._along, half_m))
        # 1/m: a straight has no limit, and must not divide by 0
        by_bends = np.sqrt(lateral_mps2 / np.maximum(bends, 1e-6))
        self._slowest = np.full(count + 1, CREEP_MPS)
        self.notes: tuple[str, ...] = ()
        if path.speeds_mps is not None:
            asked = np.interp(self._along, path.along_m, path.speeds_mps)
            self._slowest = _slowest(asked)
            self.notes = tuple(_notes(asked, top_mps, by_bends, lateral_mps2))
            speeds = np.minimum(speeds, np.maximum(asked, self._slowest))
        self._slowest = np.minimum(self._slowest, top_mps)
        speeds = np.minimum(speeds, by_bends)
        self._speeds = _slowed(speeds, path.length_m / count, path.is_loop, decel_mps2)
        # a car that stands would take for ever: the slowest that is reckoned with
        pace = np.maximum(0.5 * (self._speeds[1:] + self._speeds[:-1]), 0.05)
        spent = np.diff(self._along) / pace
        self._times: Floats = np.concatenate(([0.0], np.cumsum(spent)))
        self.duration_s = float(self._times[-1])

    def speed_at(self, along_m: float) -> float:
        """Return the speed there, which is never so low that the car would not arrive."""
        slowest_mps = np.interp(along_m, self._along, self._slowest)
        return float(max(np.interp(along_m, self._along, self._speeds), slowest_mps))

    def time_at(self, along_m: float) -> float:
        return float(np.interp(along_m, self._along, self._times))


def _slowest(asked: Floats) -> Floats:
    """Return the lowest speed by place: what the path asks for, but at its ends, where it is at
    rest and the car has to set off, or to arrive, at ``CREEP_MPS``."""
    slowest = np.minimum(asked, CREEP_MPS)
    fast = np.flatnonzero(asked >= CREEP_MPS)
    if fast.size:
        slowest[: fast[0]] = slowest[fast[-1] + 1 :] = CREEP_MPS
    elif asked.min() <= 0.0:
        slowest[:] = np.maximum(asked, asked.max())
    return slowest


def _notes(asked: Floats, top_mps: float, by_bends: Floats, lateral_mps2: float) -> Iterator[str]:
    """Yield sentences on where the path asks for more speed than is driven."""
    most_mps = float(asked.max())
    if most_mps > top_mps + _TOLD_MPS:
        yield f"the path asks for up to {most_mps:.2f} m/s; at most {top_mps:.2f} m/s are driven"
    part = float(np.mean(np.minimum(asked, top_mps) > by_bends + _TOLD_MPS))
    if part:
        yield (
            f"the path asks for more than bends at {lateral_mps2:g} m/s^2 allow (lateral=) on "
            f"{100.0 * part:.0f} % of its length; there it is driven slower"
        )


def _slowed(speeds: Floats, step_m: float, is_loop: bool, decel_mps2: float) -> Floats:
    """Limit each speed so that the car can still brake for the places ahead (backward pass)."""
    slowed = speeds.tolist()
    if is_loop:
        slowed[-1] = slowed[0] = min(slowed[0], slowed[-1])
    else:
        slowed[-1] = 0.0
    for _ in range(2 if is_loop else 1):
        for i in range(len(slowed) - 2, -1, -1):
            slowed[i] = min(slowed[i], sqrt(slowed[i + 1] ** 2 + 2.0 * decel_mps2 * step_m))
        if is_loop:
            slowed[-1] = slowed[0]
    return np.array(slowed)
