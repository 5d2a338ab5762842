"""Poses as lines of JSON in a file or a named pipe: a localiser's, or a virtual car's truth.

A localiser's line is what ``tandem localise -o FILE`` writes, or any program: its pose is that of
the centre of gravity; ``odometry``, ``std_m`` and ``frame`` may be left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from host_bridge.core import CarMotion
from host_bridge.core.errors import DeviceFault
from host_bridge.core.files import flag, number, read_samples
from host_bridge.logs.sensor_lines import LinePipe
from host_bridge.mapping.poses.report import PoseReport

POSE_BEGINS, TRUTH_BEGINS = b'{"sensor": "pose"', b'{"sensor": "truth"'
_FRAME = "map"  # of a line that names none, as tandem localise's
_POSE_KEYS = (  # of a line of a whole file
    number("taken_s", 0.0, 1e10),
    *(number(name, -1e6, 1e6) for name in ("x_m", "y_m", "yaw_rad")),
    flag("is_lost", default=False),
)
_UNREADABLE = "wrote a pose that cannot be read"


class PoseLines:
    """The poses in the lines that begin so, as another program adds them."""

    def __init__(
        self, path: str, title: str, begins: bytes, parse: Callable[[dict[str, Any]], PoseReport]
    ) -> None:
        """Open the file or pipe. Raises errors.DeviceFault."""
        self.title = title
        self._begins, self._parse = begins, parse
        try:
            self._lines = LinePipe(path)
        except OSError as error:
            raise DeviceFault(
                f"the {title}'s poses cannot be read",
                where=path,
                expected="the file or pipe that tandem localise -o writes",
                got=error.strerror or str(error),
                remedy="start it first: mkfifo FILE; tandem localise MAP.yaml --car CAR -o FILE",
            ) from None

    def take(self, now_us: int, motion: CarMotion) -> Sequence[PoseReport | str]:
        """Return the poses that were written since the last call."""
        return [self._read(it) for it in self._lines.lines() if it.startswith(self._begins)]

    def _read(self, line: bytes) -> PoseReport | str:
        try:
            report = self._parse(json.loads(line))
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
            return _UNREADABLE
        return report if _is_finite(report) else _UNREADABLE

    def close(self) -> None:
        self._lines.close()


def localiser_lines(path: str) -> PoseLines:
    """Open the lines of a localiser. Raises errors.DeviceFault."""
    return PoseLines(path, "localiser", POSE_BEGINS, localised)


def true_lines(path: str) -> PoseLines:
    """Open the lines of a virtual car's sensors, for its truth. Raises errors.DeviceFault."""
    return PoseLines(path, "virtual car", TRUTH_BEGINS, _true)


def localised(row: dict[str, Any]) -> PoseReport:
    """Return a localiser's report. Raises ValueError, TypeError or KeyError if it is none."""
    odometry = None
    if row.get("odometry") is not None:
        x, y, yaw = map(float, row["odometry"])
        odometry = x, y, yaw
    std_m = row.get("std_m")
    return PoseReport(
        round(float(row["taken_s"]) * 1e6),
        (float(row["x_m"]), float(row["y_m"]), float(row["yaw_rad"])),
        None if std_m is None else float(std_m),
        str(row.get("frame", _FRAME)),
        is_lost=row.get("is_lost") is not False,
        odometry=odometry,
    )


def _true(row: dict[str, Any]) -> PoseReport:
    truth = row["truth"]
    pose = float(truth["x_m"]), float(truth["y_m"]), float(truth["yaw_rad"])
    return PoseReport(round(float(row["taken_s"]) * 1e6), pose, 0.0, _FRAME)


def _is_finite(report: PoseReport) -> bool:
    numbers = (*report.pose, report.std_m or 0.0, *(report.odometry or ()))
    return all(map(isfinite, numbers))


def read_poses(path: Path) -> Iterator[PoseReport]:
    """Yield the poses of a localiser's whole file, but those of a car that it had lost.

    Raises errors.DataFileFault for a line that is no pose.
    """
    for row in read_samples(path, "pose", _POSE_KEYS):
        if not row["is_lost"]:
            yield localised({**row, "std_m": None})
