"""A measured run: a driver's commands and the car's odometry, on one clock."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from calibration.arrays import Floats
from host_bridge.core.errors import DataFileFault


@dataclass(frozen=True)
class Commands:
    """All messages of a driver in order of time, (n,) each.

    A message is of steering or of throttle; ``value_norm`` is from -1 to 1, left
    and ahead are positive. ``is_ramped``: throttle is what the ramp of the car's program made of a
    wish, as Tandem's logs have it. ``brakes``: from when to when its program braked, in s.
    """

    file: str
    sha256: str
    t_s: Floats
    is_steering: npt.NDArray[np.bool_]
    value_norm: Floats
    is_ramped: bool = False
    brakes: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class PoseTrack:
    """The car's poses by the time at which it was there, (n,) each; yaw without jumps of a turn."""

    file: str
    sha256: str
    t_s: Floats
    x_m: Floats
    y_m: Floats
    yaw_rad: Floats


@dataclass(frozen=True)
class Run:
    """One drive: the commands and the resulting motion, in s on one clock."""

    commands: Commands
    odometry: PoseTrack

    def start_pose(self) -> tuple[float, float, float]:
        """Return the mean of all poses up to the first command: x_m, y_m, yaw_rad.

        There has to be at least one.
        """
        o = self.odometry
        count = int(np.searchsorted(o.t_s, self.commands.t_s[0], side="right"))
        return (
            float(np.mean(o.x_m[:count])),
            float(np.mean(o.y_m[:count])),
            float(np.mean(o.yaw_rad[:count])),
        )


def require_start_pose(run: Run, odometry: Path) -> Run:
    """Return the run. Raises errors.DataFileFault if every pose is later than the first command."""
    if run.odometry.t_s[0] > run.commands.t_s[0]:
        raise DataFileFault(
            "begins after the first command",
            where=str(odometry),
            expected=f"a pose before {run.commands.t_s[0]:.3f} s, to start from",
            got=f"the first at {run.odometry.t_s[0]:.3f} s",
            remedy="give the two files of one run",
        )
    return run


def run_fault(path: Path, line: int, what: str, expected: str, got: str) -> DataFileFault:
    """Return the error of a line of a file; line 0 is the whole file."""
    where = f"{path}:{line}" if line else str(path)
    return DataFileFault(what, where=where, expected=expected, got=got, remedy="mend the file")
