"""Reader of a run as a bag of ROS 1 or 2 that holds commands and odometry."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

from calibration.arrays import Floats
from calibration.logs.run import Commands, PoseTrack, Run, require_start_pose, run_fault
from host_bridge.core import Vehicle
from host_bridge.logs.bags import Bag, read_bag

# Commands are a stream: after a pause so long no car drives on. It is the timeout of the mux of
# f1tenth_system, and twice the lease that Tandem's cars have; a slow one may miss a few messages.
_SILENT_S, _SILENT_PERIODS = 0.2, 5.0
_FULL = 1.0 + 1e-6  # a share of the most, give or take the rounding of float32


def read_run_bag(path: Path, vehicle: Vehicle, drive_topic: str = "", odom_topic: str = "") -> Run:
    """Read a bag's odometry and commands, as shares of this vehicle's top speed and full lock.

    AutoDRIVE's and AutoRally's commands are such shares as they are: of a car with a speed
    controller they count as shares of its top speed, as its board takes them. Of others, commands
    before the first that asks for a speed are left out, as the car stands until then. Raises
    errors.DataFileFault as ``read_run_csv`` and ``read_bag`` do, DeviceFault without rosbags.
    """
    bag = read_bag(path, drive_topic, odom_topic)
    for note in bag.notes:
        print(f"tandem: {path.name}: {note}", file=sys.stderr)
    commands = _of_shares(path, bag) if bag.shares else _of_speeds(path, bag, vehicle)
    places = np.array([(it.t_s, it.x_m, it.y_m, it.yaw_rad) for it in bag.odometry])
    times_s, x_m, y_m, yaw_rad = places.T
    odometry = PoseTrack(bag.file, bag.sha256, times_s, x_m, y_m, np.unwrap(yaw_rad))
    return require_start_pose(Run(commands, odometry), path)


def _of_speeds(path: Path, bag: Bag, vehicle: Vehicle) -> Commands:
    rows = np.array([(it.t_s, it.speed_mps, it.steer_rad) for it in bag.commands])
    rows = rows[_first(path, bag, rows[:, 1] != 0.0) :]
    shares = rows[:, 1:] / (vehicle.speed_max_mps, vehicle.steer_max_rad)
    _tell_clipped(path, vehicle, shares)
    stops = _silences(rows[:, 0], bag.odometry[-1].t_s)
    _tell_stops(path, bag.drive_topic, stops)
    stops_s = np.array([begin_s for begin_s, _ in stops])
    times_s = np.concatenate([np.repeat(rows[:, 0], 2), stops_s])
    is_steering = np.concatenate([np.tile([False, True], len(rows)), np.zeros(len(stops), bool)])
    values = np.concatenate([np.clip(shares, -1.0, 1.0).ravel(), np.zeros(len(stops))])
    order = np.argsort(times_s, kind="stable")
    return Commands(
        bag.file,
        bag.sha256,
        times_s[order],
        is_steering[order],
        values[order],
        brakes=tuple(stops),
    )


def _silences(times_s: Floats, end_s: float) -> list[tuple[float, float]]:
    """Return from when to when nobody drives, as no command came; the last may last to the end."""
    until_s = np.append(times_s[1:], end_s)
    pauses_s = until_s - times_s
    period_s = float(np.median(np.diff(times_s))) if len(times_s) > 1 else 0.0
    long_s = max(_SILENT_S, _SILENT_PERIODS * period_s)
    begun = np.flatnonzero(pauses_s > long_s)
    return [(float(times_s[at]) + long_s, float(until_s[at])) for at in begun]


def _tell_stops(path: Path, topic: str, stops: list[tuple[float, float]]) -> None:
    for begin_s, end_s in stops:
        print(
            f"tandem: {path.name}: {topic} fell silent: the twin stops from {begin_s:.3f} s to "
            f"{end_s:.3f} s",
            file=sys.stderr,
        )


def _of_shares(path: Path, bag: Bag) -> Commands:
    """Return AutoDRIVE's or AutoRally's commands, which are shares already.

    What was steered before the first throttle stays: it is sent when it changes, too.
    """
    is_steering = np.array([it.is_steering for it in bag.shares])
    values = np.array([it.value_norm for it in bag.shares])
    _first(path, bag, ~is_steering & (values != 0.0))
    times_s = np.array([it.t_s for it in bag.shares])
    shares, brakes = np.clip(values, -1.0, 1.0), tuple(bag.brakes)
    return Commands(bag.file, bag.sha256, times_s, is_steering, shares, brakes=brakes)


def _first(path: Path, bag: Bag, is_moving: npt.NDArray[np.bool_]) -> int:
    """Return the place of the first command to move. Raises errors.DataFileFault without one."""
    moving = np.flatnonzero(is_moving)
    if not moving.size:
        raise run_fault(
            path, 0, "nobody drives in this bag", "a speed that is not 0", bag.drive_topic
        )
    return int(moving[0])


def _tell_clipped(path: Path, vehicle: Vehicle, shares: Floats) -> None:
    """Tell on stderr of commands beyond what the vehicle can do, which are taken as all it can."""
    beyond = int(np.count_nonzero((np.abs(shares) > _FULL).any(axis=1)))
    if beyond:
        print(
            f"tandem: {beyond} of {len(shares)} commands in {path.name} ask for more than "
            f"{vehicle.speed_max_mps:g} m/s or {vehicle.steer_max_rad:.3g} rad, the most of "
            f"{vehicle.name}; they are taken as that",
            file=sys.stderr,
        )
