"""A localiser's poses as a correction of the car's own dead reckoning, and when they stop a car.

The localiser is a program of its own (``tandem localise -o FILE``, or anything that writes such
lines). A line has the pose of the centre of gravity in the path's frame, and where dead reckoning
was at that moment. Until the next line dead reckoning goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from math import cos, hypot, isfinite, remainder, sin, tau
from typing import Any, NamedTuple

from host_bridge.core.board_time import elapsed_us
from host_bridge.core.errors import DeviceFault
from host_bridge.inputs.paths.path import Pose, frame_transform
from host_bridge.logs.sensor_lines import LinePipe

# At 2 m/s a car reckons a metre on from a pose that is so old, 1 % of it wrong
STALE_S = 0.5
# A localiser that follows the car corrects by centimetres; what is more is another place
JUMP_M, JUMP_RAD = 0.25, 0.2
APART_M = 0.25  # standard deviation of the place, as the localiser itself has it
_BEGINS = b'{"sensor": "pose"'
_NUMBERS = ("taken_s", "x_m", "y_m", "yaw_rad", "std_m")

Frame = Callable[[Pose], Pose]


class PoseReport(NamedTuple):
    """A localiser's line. ``taken_s`` is in the car's own time."""

    taken_s: float
    pose: Pose  # of the centre of gravity, in the path's frame
    std_m: float
    is_lost: bool
    odometry: Pose  # of the point that the car turns about, as the car reckoned it then


class PoseCorrection:
    """The reader of a localiser's poses; ``behind_m`` is the distance from the centre of gravity
    back to the point that the car turns about."""

    def __init__(self, path: str, behind_m: float) -> None:
        """Open the file or pipe. Raises errors.DeviceFault."""
        try:
            self._lines = LinePipe(path)
        except OSError as error:
            raise DeviceFault(
                "the localiser's poses cannot be read",
                where=path,
                expected="the file or pipe that tandem localise -o writes",
                got=error.strerror or str(error),
                remedy="start it first: mkfifo FILE; tandem localise MAP.yaml --car CAR -o FILE",
            ) from None
        self._behind_m = behind_m
        self._report: PoseReport | None = None
        self._frame: Frame | None = None

    def frame(self, reckoned: Pose, captured_us: int) -> tuple[Frame | None, str]:
        """Return the transform of dead reckoning to the path's frame, and why the car must stop.

        None without a reason means that no pose has come yet. ``captured_us`` is the car's own time
        of ``reckoned``.
        """
        for line in self._lines.lines():
            if not line.startswith(_BEGINS):
                continue
            report = _parsed(line)
            if report is None:
                return self._frame, "The localiser wrote a pose that cannot be read"
            why = self._take(report, reckoned)
            if why:
                return self._frame, why
        return self._frame, self._age_fault(captured_us)

    def begin_anew(self) -> None:
        """Forget the last pose: a person who arms again has seen where the car is."""
        self._lines.lines()
        self._report = self._frame = None

    def close(self) -> None:
        self._lines.close()

    def _take(self, report: PoseReport, reckoned: Pose) -> str:
        if report.is_lost or report.std_m > APART_M:
            if self._frame is None:
                return ""  # it looks for the car, which stands
            lost = "has lost the car" if report.is_lost else f"is unsure by {report.std_m:.2f} m"
            return f"The localiser {lost}"
        x, y, yaw = report.pose
        turns = x - self._behind_m * cos(yaw), y - self._behind_m * sin(yaw), yaw
        frame = frame_transform(report.odometry, turns)
        if self._frame is not None:
            before, now = self._frame(reckoned), frame(reckoned)
            apart_m = hypot(now[0] - before[0], now[1] - before[1])
            turned_rad = abs(remainder(now[2] - before[2], tau))
            if apart_m > JUMP_M or turned_rad > JUMP_RAD:
                return f"The pose jumped by {apart_m:.2f} m and {turned_rad:.2f} rad"
        self._report, self._frame = report, frame
        return ""

    def _age_fault(self, captured_us: int) -> str:
        if self._report is None:
            return ""
        age_s = elapsed_us(captured_us, round(self._report.taken_s * 1e6)) * 1e-6
        if age_s > STALE_S:
            return f"The localiser's pose is {age_s:.2f} s old, at most {STALE_S:g} s"
        return ""


def _parsed(line: bytes) -> PoseReport | None:
    """Return the report; None if it is none, or a number in it is not finite."""
    try:
        row: dict[str, Any] = json.loads(line)
        taken_s, x, y, yaw, std_m = (float(row[key]) for key in _NUMBERS)
        odometry = tuple(map(float, row["odometry"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if len(odometry) != 3 or not all(map(isfinite, (taken_s, x, y, yaw, std_m, *odometry))):
        return None
    return PoseReport(taken_s, (x, y, yaw), std_m, row.get("is_lost") is not False, odometry)
