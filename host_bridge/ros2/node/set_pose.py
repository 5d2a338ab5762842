"""Teleports a virtual car: it is stopped, set down when it stands, and armed again.

Only a virtual car of this command has the pipe for it; nothing moves a real car but its wheels.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, sin

from host_bridge.core import SeenCar
from host_bridge.logs import pose_lines
from host_bridge.logs.pose_lines import Place
from host_bridge.logs.sensor_lines import SensorPipe
from host_bridge.ros2.node.vocabulary_adapter import Reply

NOT_HERE = "only a virtual car that this command began (sim://) is put elsewhere"
# a virtual car is put elsewhere within a step, if it stands and there is room
_PATIENCE_US = 2_000_000
# Twice as long as any vehicle file lets a car brake: a later jump would surprise whoever watches
_RESTS_US = 10_000_000
_IN_THE_WAY = "It was not put elsewhere: a wall, or another car, is in the way there."
_UNHEARD = "It was not put elsewhere: it did not read its pipe of poses."
_NOT_AT_REST = (
    f"It was not put elsewhere: it did not come to rest within {_RESTS_US // 1_000_000} s."
)
_NOT_SEEN = "It was not put elsewhere: nothing is heard of it, or of where it is."


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
        self._begun_us: int | None = None  # when the request was first looked at
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
        self._begun_us = self._since_us = None
        self._is_asked, self.words = False, ""

    def step(self, car: SeenCar, now_us: int) -> None:
        """Do the next action that the car's state allows.

        Give up if the car does not stand within 10 s, or is not there 2 s after the pose was sent.
        """
        if self._wanted is None:
            return
        if self._begun_us is None:
            self._begun_us = now_us
        if self._since_us is None:
            self._take_up(car, self._wanted, now_us, now_us - self._begun_us > _RESTS_US)
        elif pose_lines.is_there(self._sensors.truth, self._wanted):
            self._wanted = None
            self._arm(self._armed)
        elif now_us - self._since_us > _PATIENCE_US:
            self._give_up(_IN_THE_WAY if car.is_online else _NOT_SEEN)

    def _take_up(self, car: SeenCar, wanted: Place, now_us: int, is_late: bool) -> None:
        truth = self._sensors.truth
        if not car.is_online or car.status is None or truth is None:
            if is_late:
                self._give_up(_NOT_SEEN)
        elif not car.status.state.is_armed and pose_lines.stands(truth, car.status.speed_mps):
            self._put(wanted, now_us)
        elif is_late:
            self._give_up(_NOT_AT_REST)
        elif car.status.state.is_armed and not self._is_asked:
            self._stop()
            self._is_asked = True

    def _put(self, wanted: Place, now_us: int) -> None:
        try:
            pose_lines.put(self._pipe, wanted)
        except OSError:  # its pipe is full or gone
            self._give_up(_UNHEARD)
        else:
            self._since_us = now_us

    def _give_up(self, words: str) -> None:
        self._wanted, self.words = None, words

    def _armed(self, is_done: bool, words: str) -> None:
        self.words = "" if is_done else f"It was put elsewhere, and not armed: {words}"
