"""The places of a drive that is compared with a path: the true ones, or the dead-reckoned ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import cos, sin
from pathlib import Path as FilePath
from typing import Any

from host_bridge.inputs.paths.path import Path
from host_bridge.inputs.paths.tracking_error import PositionSample
from host_bridge.logs.sensor_lines import read_true_poses
from host_bridge.mapping.poses.report import Frame, frame_transform


def true_places(
    file: FilePath, behind_m: float = 0.0
) -> Iterator[tuple[PositionSample, int | None]]:
    """Yield the true places of a virtual car, and how often it hit a wall by then.

    ``file`` has the samples of its sensors; ``behind_m`` is the distance from its centre of gravity
    back to the point whose places are wanted. Raises errors.DataFileFault.
    """
    for it in read_true_poses(file):
        place = it.x_m - behind_m * cos(it.yaw_rad), it.y_m - behind_m * sin(it.yaw_rad)
        yield PositionSample(it.taken_s, *place), it.hits


def reckoned_places(
    rows: Iterable[tuple[int, Mapping[str, Any]]], path: Path
) -> Iterator[PositionSample]:
    """Yield the dead-reckoned places, moved so that the first one is the path's first point.

    ``rows`` are times in us and a log's rows of the topic motion, of one car.
    """
    frame: Frame | None = None
    for time_us, row in rows:
        reckoned = row["x_m"], row["y_m"], row["yaw_rad"]
        frame = frame or frame_transform(reckoned, (*path.at(0.0), path.yaw_at(0.0)))
        x_m, y_m, _ = frame(reckoned)
        yield PositionSample(time_us * 1e-6, x_m, y_m)
