"""Reads one drive of a virtual car as others have it: as a bag of ROS 2, or as cameras saw it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from calibration.bayesian_fit.parameters import known_values
from calibration.logs.ros_bag import read_run_bag
from calibration.logs.run import Run
from calibration.logs.run_log import read_log_runs
from calibration.logs.run_tracked import with_tracked
from calibration.replay.pose_drive import PoseDrive
from calibration.simulation.twin import Twin
from host_bridge.core import Vehicle
from host_bridge.ros2.messages.bag import write_bag
from host_bridge.sharing.services import make_host

SEEN_M = 0.002  # of each place, as a motion capture's or a good camera's
AHEAD_S = 3.7  # of the tracking's clock, which is its own
Place = tuple[float, float, float]  # s, m, m: where the car really was

HOST = make_host()


def from_bag(log: Path, vehicle: Vehicle) -> PoseDrive:
    """The drive of this log by way of a bag with /drive and /odom."""
    return _posed(vehicle, read_run_bag(written_bag(log), vehicle))


def written_bag(log: Path) -> Path:
    """The log as a bag of ROS 2, beside it."""
    bag = log.with_suffix(".bag.mcap")
    bag.unlink(missing_ok=True)
    write_bag(log, bag, HOST.vehicles.load)
    return bag


def from_tracking(log: Path, vehicle: Vehicle, places: Sequence[Place], seed: int) -> PoseDrive:
    """The drive of this log with the places that cameras saw, in a table."""
    (logged,) = read_log_runs(log, "", HOST.vehicles.load)
    return _posed(vehicle, with_tracked(logged.run, written_tracking(log, places, seed)))


def written_tracking(log: Path, places: Sequence[Place], seed: int) -> Path:
    """The places as a camera's table, beside the log."""
    table, rng = log.with_suffix(".csv"), np.random.default_rng([seed, 35])
    rows = [
        f"{t_s + AHEAD_S:.4f},{x_m + rng.normal(0.0, SEEN_M):.5f},"
        f"{y_m + rng.normal(0.0, SEEN_M):.5f}"
        for t_s, x_m, y_m in places
    ]
    table.write_text("\n".join(["t_s,x_m,y_m", *rows]) + "\n", encoding="utf-8")
    return table


def _posed(vehicle: Vehicle, run: Run) -> PoseDrive:
    return PoseDrive(Twin(vehicle), known_values(vehicle), run)
