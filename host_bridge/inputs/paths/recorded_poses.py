"""Reads the drive of which a path is made: of a log of Tandem, of a ROS bag, of poses.

A log has a car's dead reckoning. In a bag a lab's particle filter, a motion capture or odometry
says where the car was, at its own rate and in its own frame. How fast it was is said by the bag's
odometry, or follows from the poses.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, sin
from pathlib import Path
from typing import NamedTuple

import numpy as np

from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.inputs.paths.path import Floats
from host_bridge.inputs.paths.recorded_drive import RecordedDrive
from host_bridge.logs.bags.bag import is_bag
from host_bridge.logs.bags.reading import ODOM, read_bag
from host_bridge.logs.reading import is_log, read
from host_bridge.logs.sensor_lines import read_true_poses
from host_bridge.mapping.poses.lines import read_poses
from host_bridge.mapping.poses.sources import ODOMETRY

_WINDOW_S = 0.2  # over which a speed is taken of poses: several of them at 40 Hz
_TRUTH = "truth"
_LEAST = 3  # poses, of which a path can be made


def is_foreign(path: Path) -> bool:
    """Return whether this is a ROS bag, and no log of Tandem."""
    return is_bag(path) and not is_log(path)


def drives_of_log(path: Path) -> dict[str, RecordedDrive]:
    """Return the drive of each car of a log, as it reckoned. Raises errors.DataFileFault."""
    places: dict[str, list[tuple[float, float]]] = {}
    speeds: dict[str, list[float]] = {}
    speed_mps: dict[str, float] = {}
    for it in read(path):
        if isinstance(it.value, dict) and it.topic == "status":
            speed_mps[it.car] = float(it.value["speed_mps"])
        elif isinstance(it.value, dict) and it.topic == "motion":
            place = float(it.value["x_m"]), float(it.value["y_m"])
            places.setdefault(it.car, []).append(place)
            speeds.setdefault(it.car, []).append(speed_mps.get(it.car, 0.0))
    return {car: RecordedDrive(np.array(places[car]), np.array(speeds[car])) for car in places}


def drive_of_bag(path: Path, topic: str) -> RecordedDrive:
    """Return the drive whose poses are on this topic; "" is /odom, or the only one of its type.

    Raises errors.DataFileFault for a bag that has no such poses.
    """
    bag = read_bag(path, {"places": topic} if topic else {})
    rows = bag.places if topic else [(it.t_s, it.x_m, it.y_m) for it in bag.odometry]
    if len(rows) < _LEAST:
        raise DataFileFault(
            "no path in this bag",
            where=str(path),
            expected=f"poses on {topic or ODOM}",
            got=f"{len(rows)} of them",
            remedy="name the topic of the poses by --topic",
        )
    speeds = np.array([(it.t_s, it.speed_mps) for it in bag.odometry])
    return drive_of_poses(rows, speeds if len(speeds) >= _LEAST else None)


def drive_of_poses(rows: Sequence[tuple[float, ...]], speeds: Floats | None) -> RecordedDrive:
    """Return the drive of these poses: rows of time in s, x and y in m.

    ``speeds`` are rows of time and forward speed in m/s; without them the poses themselves say it,
    and a drive backward looks like one forward.
    """
    poses = np.array([row[:3] for row in rows])
    poses = poses[np.argsort(poses[:, 0], kind="stable")]
    times_s, places_m = poses[:, 0], poses[:, 1:]
    if speeds is not None:
        return RecordedDrive(places_m, np.interp(times_s, speeds[:, 0], speeds[:, 1]))
    begin = np.searchsorted(times_s, times_s - _WINDOW_S / 2)
    end = np.minimum(np.searchsorted(times_s, times_s + _WINDOW_S / 2), len(times_s) - 1)
    lasted_s = times_s[end] - times_s[begin]
    moved_m = np.hypot(*(places_m[end] - places_m[begin]).T)
    still = np.zeros_like(moved_m)
    return RecordedDrive(places_m, np.divide(moved_m, lasted_s, out=still, where=lasted_s > 0))


class TimedPlace(NamedTuple):
    """A place of the point that the car turns about, at a time of the car: s, m, m."""

    taken_s: float
    x_m: float
    y_m: float


def places_of(source: str, behind_m: float) -> list[TimedPlace]:
    """Return the places that a pose source wrote: a file of poses, or ``truth:FILE``.

    ``behind_m`` is from the centre of gravity, of which they are, back to the point that the car
    turns about. Poses of a car that was lost are left out. Raises errors.DataFileFault, and
    errors.UsageFault for a source that is no file.
    """
    name, _, rest = source.partition(":")
    if name == _TRUTH and rest:
        poses = [it[:4] for it in read_true_poses(Path(rest))]
    elif source in (ODOMETRY, _TRUTH) or (rest and not Path(source).exists()):
        raise UsageFault(
            "of a drive that is over, a pose is in a file",
            expected="the poses that tandem localise MAP.yaml LOG -o FILE wrote, or truth:FILE",
            got=source,
        )
    else:
        poses = [(it.taken_us * 1e-6, *it.pose) for it in read_poses(Path(source))]
    if not poses:
        raise DataFileFault(
            "there are no poses in it",
            where=source,
            expected="a line for each pose, as tandem localise MAP.yaml LOG -o FILE writes them",
            remedy="is it the file that was meant?",
        )
    return [
        TimedPlace(taken_s, x_m - behind_m * cos(yaw_rad), y_m - behind_m * sin(yaw_rad))
        for taken_s, x_m, y_m, yaw_rad in poses
    ]
