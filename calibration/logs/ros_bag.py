"""Reader of a bag of ROS 1 or 2: as a run, or as a trace.

It is a bag of an F1TENTH's, Autoware's, AutoDRIVE's or AutoRally's stack, or one with Tandem's own
topics. A run needs its commands and poses; a trace takes what there is.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from calibration.arrays import Floats
from calibration.logs.run import Commands, PoseTrack, Run, require_start_pose, run_fault
from calibration.logs.trace import DriveTrace, Series, series
from host_bridge.config import vehicle_word
from host_bridge.core import Vehicle
from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bags.bag import Bag
from host_bridge.logs.bags.reading import read_bag

BAG = "bag of ROS"  # the kind of such a trace
# Electrical rpm at 1 m/s per (count per metre): a VESC counts six steps a turn of the field, so
# 60 / 6.
ERPM_COUNTS = 10.0
# Commands are a stream: after a pause so long no car drives on. It is the timeout of the mux of
# f1tenth_system, and twice the lease that Tandem's cars have; a slow one may miss a few messages.
_SILENT_S, _SILENT_PERIODS = 0.2, 5.0
_MOVED_M = 0.002  # a wheel that rolled so far moves: two counts of a fine encoder are less
_LEAST_AT_REST = 50  # samples of a gyro, of which a bias is a mean: half a second of most
_FULL = 1.0 + 1e-6  # a share of the most, give or take the rounding of float32


def read_run_bag(path: Path, vehicle: Vehicle, drive_topic: str = "", odom_topic: str = "") -> Run:
    """Read a bag's odometry and commands, as shares of this vehicle's top speed and full lock.

    Where it has no poses they are reckoned from how far its wheels rolled and how the car turned.
    AutoDRIVE's and AutoRally's commands are such shares as they are: of a car with a speed
    controller they count as shares of its top speed, as its board takes them. Of others, commands
    before the first that asks for a speed are left out, as the car stands until then. Raises
    errors.DataFileFault as ``read_run_csv`` and ``read_bag`` do, DeviceFault without rosbags.
    """
    named = {"commands": drive_topic, "odometry": odom_topic}
    bag = read_bag(path, {k: topic for k, topic in named.items() if topic}, for_replay=True)
    for note in bag.notes:
        print(f"tandem: {path.name}: {note}", file=sys.stderr)
    places = [(it.t_s, it.x_m, it.y_m, it.yaw_rad) for it in bag.odometry]
    times_s, x_m, y_m, yaw_rad = np.array(places).T if places else _reckoned(path, bag, vehicle)
    end_s = float(times_s[-1])
    commands = _of_shares(path, bag) if bag.shares else _of_speeds(path, bag, vehicle, end_s)
    odometry = PoseTrack(bag.file, bag.sha256, times_s, x_m, y_m, np.unwrap(yaw_rad))
    return require_start_pose(Run(commands, odometry), path)


def _reckoned(path: Path, bag: Bag, vehicle: Vehicle) -> Floats:
    """Return times in s, x and y in m and yaw in rad, (4, n), and tell on stderr of what they are.

    The gyro's bias is what it tells before the wheels first roll.
    """
    _, target = _asked(bag, vehicle)
    (times_s, (rolled_m, *_)), notes = _travel(bag, vehicle, target)
    turned, topic = bag.inertial, bag.topics.get("inertial", "")
    if not turned:
        turned, topic = [(row[0], row[2]) for row in bag.speeds], bag.topics["speeds"]
    sampled_s, yaw_radps = np.array([row[:2] for row in turned]).T
    moving_s = times_s[np.abs(rolled_m - rolled_m[0]) > _MOVED_M]
    at_rest = sampled_s < (moving_s[0] if len(moving_s) else times_s[-1])
    if bag.inertial and np.count_nonzero(at_rest) >= _LEAST_AT_REST:
        yaw_radps = yaw_radps - np.mean(yaw_radps[at_rest])
    steps = np.diff(times_s, prepend=times_s[0])
    turns = steps * np.interp(times_s, sampled_s, yaw_radps)
    yaw_rad = np.cumsum(turns)
    along = np.diff(rolled_m, prepend=rolled_m[0]) * np.exp(1j * (yaw_rad - turns / 2))
    place = np.cumsum(along)
    for note in (*notes, f"it has no poses: they are reckoned, turning by {topic}"):
        print(f"tandem: {path.name}: {note}", file=sys.stderr)
    return np.array([times_s, place.real, place.imag, yaw_rad])


def _of_speeds(path: Path, bag: Bag, vehicle: Vehicle, end_s: float) -> Commands:
    rows = np.array([(it.t_s, it.speed_mps, it.steer_rad) for it in bag.commands])
    rows = rows[_first(path, bag, rows[:, 1] != 0.0) :]
    shares = rows[:, 1:] / (vehicle.speed_max_mps, vehicle.steer_max_rad)
    _tell_clipped(path, vehicle, shares)
    stops = _silences(rows[:, 0], end_s)
    _tell_stops(path, bag.topics["commands"], stops)
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
            path, 0, "nobody drives in this bag", "a speed that is not 0", bag.topics["commands"]
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


def read_trace_bag(path: Path, vehicle: Vehicle, topics: Mapping[str, str]) -> DriveTrace:
    """Read a bag. Raises errors.DataFileFault if it has neither commands nor motion of a car."""
    bag = read_bag(path, topics)
    told = (bag.commands, bag.shares, bag.odometry, bag.motor, bag.speeds, bag.wheels)
    if not any(told):
        raise DataFileFault(
            "nothing in this bag tells of a car",
            where=str(path),
            expected="commands (/drive), odometry (/odom), a VESC's state (/sensors/core), or how "
            "far the wheels rolled",
            got="; ".join((*bag.topics.values(), *bag.notes)) or "none of them",
            remedy="name the topics: --drive-topic, --odom-topic, --core-topic, --imu-topic",
        )
    steering, target = _asked(bag, vehicle)
    travel, notes = _travel(bag, vehicle, target)
    return DriveTrace(
        path.name,
        bag.sha256,
        BAG,
        vehicle_word(vehicle),
        steering=steering,
        target=target,
        effort=_effort(bag, vehicle),
        travel=travel,
        inertial=series(bag.inertial),
        places=series(bag.places),
        battery=series([(row[0], row[3]) for row in bag.motor if row[3] > 0.0]),
        counts_per_m=_counts_per_m(vehicle),
        notes=(*bag.notes, *notes),
    )


def _counts_per_m(vehicle: Vehicle) -> float:
    return 1e9 / vehicle.parameters["nm_per_count"][0]


def _asked(bag: Bag, vehicle: Vehicle) -> tuple[Series, Series]:
    """Return the steering in rad and the speed in m/s that were asked for; nan: none.

    Shares of AutoDRIVE's and AutoRally's actuators are of the vehicle's full lock and top speed.
    """
    steered = [(it.t_s, it.steer_rad) for it in bag.commands]
    driven = [(it.t_s, it.speed_mps) for it in bag.commands]
    for share in bag.shares:
        if share.is_steering:
            steered.append((share.t_s, share.value_norm * vehicle.steer_max_rad))
        else:
            driven.append((share.t_s, share.value_norm * vehicle.speed_max_mps))
    return series(steered), series([(t_s, speed or np.nan) for t_s, speed in driven])


def _travel(bag: Bag, vehicle: Vehicle, target: Series) -> tuple[Series, list[str]]:
    """Return the travel by what tells it best, and notes: by which metre it is.

    That is the motor's turns, the speed of the odometry, the angle of the wheels, or a speed that
    the car reports.
    """
    if bag.motor:
        per_m = ERPM_COUNTS * _counts_per_m(vehicle)
        rate = np.array([row[1] for row in bag.motor]) / per_m
        times_s = np.array([row[0] for row in bag.motor])
        rate *= _sign(times_s, rate, target)
        return _summed(times_s, rate), []
    if bag.odometry:
        note = f"speed is that of {bag.topics['odometry']}: metres are its own"
        columns = np.array([(it.t_s, it.speed_mps) for it in bag.odometry])
        return _summed(*columns.T), [note]
    if bag.wheels:
        drive: Mapping[str, Any] = vehicle.plant["drive"]  # type: ignore[assignment]
        times_s, angle_rad = np.array(bag.wheels).T
        note = f"metres are by the wheels' radius of the vehicle file and {bag.topics['wheels']}"
        return series([*zip(times_s, drive["wheel_radius_m"] * angle_rad, strict=True)]), [note]
    if bag.speeds:
        note = f"speed is that of {bag.topics['speeds']}: metres are its own"
        return _summed(*np.array([row[:2] for row in bag.speeds]).T), [note]
    return Series(), []


def _sign(times_s: Floats, rate: Floats, target: Series) -> float:
    """Return -1 if the motor's speed opposes the commands, else 1.

    F1TENTH's driver reports forward as negative; the commands show which way the car drove.
    """
    if not target.is_present:
        return 1.0
    place = np.maximum(np.searchsorted(target.t_s, times_s, side="right") - 1, 0)
    return -1.0 if float(np.nansum(target.values[0][place] * rate)) < 0.0 else 1.0


def _summed(times_s: Floats, speed_mps: Floats) -> Series:
    steps = np.diff(times_s, prepend=times_s[0])
    middle = (speed_mps + np.concatenate([speed_mps[:1], speed_mps[:-1]])) / 2
    return series(np.column_stack([times_s, np.cumsum(steps * middle)]).tolist())


def _effort(bag: Bag, vehicle: Vehicle) -> Series:
    """Return what the drive was given: AutoDRIVE's or AutoRally's throttle, or a VESC's duty.

    A duty is a share of the maximum in the vehicle file. One that is 0 throughout counts as
    missing: a driver that does not know it reports 0.
    """
    if bag.shares:
        throttle = [(it.t_s, it.value_norm) for it in bag.shares if not it.is_steering]
        return series([(t_s, share or np.nan) for t_s, share in throttle])
    if not any(row[2] for row in bag.motor):
        return Series()
    vesc = vehicle.plant.get("vesc")
    most = float(vesc["duty_max"]) if isinstance(vesc, dict) else 1.0
    rows = [(row[0], row[2] / most) for row in bag.motor]
    total = sum(row[1] for row in rows)
    way = -1.0 if total < 0.0 else 1.0
    return series([(time_s, way * effort) for time_s, effort in rows])
