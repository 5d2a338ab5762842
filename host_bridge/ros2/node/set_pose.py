"""Teleports a virtual car: it is stopped, set down when it stands, and armed again.

Only a virtual car of this command has the pipe for it; nothing moves a real car but its wheels.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, sin

from host_bridge.core import SeenCar, State
from host_bridge.logs import pose_lines
from host_bridge.logs.pose_lines import Place
from host_bridge.logs.sensor_lines import SensorPipe
from host_bridge.ros2.node.vocabulary_adapter import Reply

NOT_HERE = "only a virtual car that this command began (sim://) is put elsewhere"
_PATIENCE_US = 2_000_000
_MOVES = (State.ACTIVE, State.HOLD)


class PoseRequest:
    """The state of one teleport request.

    ``rear_m`` is how far the car's base_link, which poses refer to, is behind its centre of
    gravity.
    """

    words = ""  # why it failed, as a sentence

    def __init__(
        self,
        pipe: str,
        sensors: SensorPipe,
        rear_m: float,
        stop: Callable[[], None],
        arm: Callable[[Reply], None],
    ) -> None:
        self._pipe, self._sensors, self._rear_m = pipe, sensors, rear_m
        self._stop, self._arm = stop, arm
        self._wanted: Place | None = None
        self._since_us: int | None = None  # when the pose was written to the pipe
        self._is_asked = False  # the car was told to stop

    def set_pose(self, place: Place) -> None:
        """Begin with a new place, which replaces an earlier one; a repeated one changes nothing."""
        x_m, y_m, yaw_rad = place
        wanted = (
            x_m + self._rear_m * cos(yaw_rad),
            y_m + self._rear_m * sin(yaw_rad),
            yaw_rad,
        )
        if wanted == self._wanted:
            return
        self._wanted = wanted
        self._since_us, self._is_asked, self.words = None, False, ""

    def step(self, car: SeenCar, now_us: int) -> None:
        """Do the next action that the car's state allows; give up 2 s after the pose was sent."""
        if self._wanted is None or not car.is_online or car.status is None:
            return
        if self._since_us is None:
            self._take_up(car, self._wanted, now_us)
        elif pose_lines.is_there(self._sensors.truth, self._wanted):
            self._wanted = None
            self._arm(self._armed)
        elif now_us - self._since_us > _PATIENCE_US:
            self._wanted = None
            self.words = "It was not put elsewhere: a wall, or another car, is in the way there."

    def _take_up(self, car: SeenCar, wanted: Place, now_us: int) -> None:
        assert car.status is not None, "asked of cars that have said their status"
        if car.status.state in _MOVES:
            if not self._is_asked:
                self._stop()
                self._is_asked = True
        elif pose_lines.stands(self._sensors.truth, car.status.speed_mps):
            pose_lines.put(self._pipe, wanted)
            self._since_us = now_us

    def _armed(self, is_done: bool, words: str) -> None:
        self.words = "" if is_done else f"It was put elsewhere, and not armed: {words}"
