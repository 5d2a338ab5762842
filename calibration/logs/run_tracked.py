"""Takes a run's poses from whoever tracked the car from outside: motion capture, cameras, SLAM.

What tracks a car sees where it was, in its own frame and by its own clock. The clock is set by the
speeds, which the car's odometry saw too; where the car pointed is where it went, or the opposite
where it went backward. The point that is tracked should be the one that the car turns about.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from calibration.arrays import Floats
from calibration.logs.run import PoseTrack, Run, require_start_pose
from calibration.logs.tracked_positions import (
    GRID_S,
    read_tracked_positions,
    shifted,
    smooth,
)
from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bags.bag import sha256_of

_MOVES_MPS = 0.15  # slower, noise of a millimetre at 100 Hz is most of a direction
_LEAST_MOVING = 20  # grid points: one second of moving, of which a direction is known


def with_tracked(run: Run, path: Path) -> Run:
    """Return the run with the poses of this file, on the clock of its commands.

    Raises errors.DataFileFault for a file without positions, or of a car that hardly moved.
    """
    own = run.odometry
    own_s = np.arange(own.t_s[0], own.t_s[-1], GRID_S)
    forward_mps = _forward(own, own_s)
    seen = shifted(own_s, np.abs(forward_mps), read_tracked_positions(path))
    times_s = np.arange(max(seen.t_s[0], own_s[0]), min(seen.t_s[-1], own_s[-1]), GRID_S)
    if len(times_s) < _LEAST_MOVING:
        raise _hardly_moved(path, f"{len(times_s) * GRID_S:.1f} s in common")
    x_m, y_m = (np.interp(times_s, seen.t_s, column) for column in seen.values[:2])
    yaw_rad = _headings(path, times_s, x_m, y_m, np.interp(times_s, own_s, forward_mps))
    track = PoseTrack(path.name, sha256_of(path), times_s, x_m, y_m, yaw_rad)
    return require_start_pose(replace(run, odometry=track), path)


def _forward(own: PoseTrack, own_s: Floats) -> Floats:
    """Return the car's speed by its odometry, backward negative."""
    x_m, y_m = (smooth(np.interp(own_s, own.t_s, column)) for column in (own.x_m, own.y_m))
    yaw_rad = np.interp(own_s, own.t_s, own.yaw_rad)
    along = np.gradient(x_m, GRID_S) * np.cos(yaw_rad)
    return np.asarray(along + np.gradient(y_m, GRID_S) * np.sin(yaw_rad))


def _headings(path: Path, times_s: Floats, x_m: Floats, y_m: Floats, forward: Floats) -> Floats:
    """Return where the car pointed: by its course while it moved, and held while it stood."""
    vx, vy = (np.gradient(smooth(column), GRID_S) for column in (x_m, y_m))
    is_moving = np.hypot(vx, vy) > _MOVES_MPS
    if np.count_nonzero(is_moving) < _LEAST_MOVING:
        raise _hardly_moved(path, f"{np.count_nonzero(is_moving) * GRID_S:.1f} s of moving")
    course = np.arctan2(vy, vx) + np.pi * (forward < 0.0)
    headings = np.interp(times_s, times_s[is_moving], np.unwrap(course[is_moving]))
    return np.asarray(headings)


def _hardly_moved(path: Path, got: str) -> DataFileFault:
    return DataFileFault(
        "these places say too little of this drive",
        where=str(path),
        expected=f"the same drive, and {_LEAST_MOVING * GRID_S:g} s of it above {_MOVES_MPS} m/s",
        got=got,
    )
