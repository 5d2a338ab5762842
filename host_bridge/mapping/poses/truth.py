"""The true pose of a virtual car: of this process, or in the lines of its sensors."""

from __future__ import annotations

from collections.abc import Sequence

from host_bridge.core import CarMotion, VirtualSensors
from host_bridge.core.errors import UsageFault
from host_bridge.mapping.poses.lines import PoseLines, true_lines
from host_bridge.mapping.poses.report import PoseContext, PoseReport, heard

PERIOD_US = 50_000  # 20 a second, as a localiser says them
_FRAME = "map"  # the track's or the map's own axes


class TruePoses:
    """The truth of a virtual car of this process, 20 times a second of its own time."""

    title = "virtual car"

    def __init__(self, sensors: VirtualSensors) -> None:
        self._sensors = sensors
        self._due_us = sensors.now_us

    def take(self, now_us: int, motion: CarMotion) -> Sequence[PoseReport | str]:
        """Return the pose of this moment if one is due, as the car's faults let it pass."""
        sensors = self._sensors
        if sensors.now_us >= self._due_us:
            self._due_us = sensors.now_us + PERIOD_US
            x_m, y_m, yaw_rad, *_ = sensors.truth()
            pose = x_m, y_m, yaw_rad
            sensors.say_pose(pose, PoseReport(sensors.now_us, pose, 0.0, _FRAME))
        return heard(sensors)

    def close(self) -> None:
        """Do nothing: the sensors are the car's."""


def make(rest: str, context: PoseContext) -> TruePoses | PoseLines:
    """Make the source of ``pose=truth`` (in lockstep) or ``pose=truth:FILE``.

    Raises errors.UsageFault where nothing says the truth, errors.DeviceFault.
    """
    if rest:
        return true_lines(rest)
    if context.sensors is None:
        raise UsageFault(
            "the true pose of this car is not in this program",
            expected="a virtual car in lockstep, or the file that its sensors are written to",
            got="pose=truth",
            remedy="sim://...&sensors=run.jsonl, and pose=truth:run.jsonl; or --lockstep",
        )
    return TruePoses(context.sensors)
