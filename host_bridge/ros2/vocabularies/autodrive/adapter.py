"""The adapter for AutoDRIVE's ROS 2 API: lights, laps, collisions and reset."""

from __future__ import annotations

from collections.abc import Mapping
from math import hypot
from typing import Any

from host_bridge.core import SeenCar, Vehicle
from host_bridge.core.laps import Laps
from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.messages.conversions import true_pose
from host_bridge.ros2.node.mux import MuxSource
from host_bridge.ros2.node.vocabulary_adapter import MessageFiller, NodeApi, VocabularyAdapter
from host_bridge.ros2.vocabularies.topics import Content, Publication, Subscription

_BACK_M = 0.05  # nearer than this it has been put back at its start
# The lights' byte of a claim (firmware/boards/physical/signals.py): beam, left, right
_BEAM, _INDICATORS_AT = 3, 2
_LIGHTS_MOST = {Content.HEADLIGHTS: 2, Content.INDICATORS: 3}


class AutodriveAdapter(VocabularyAdapter):
    """The adapter for AutoDRIVE's simulator topics: lights, laps, collisions and reset."""

    def __init__(self) -> None:
        self._node: NodeApi
        self._rear_m = 0.0
        self._wheelbase_m = 0.0
        self._lights = {Content.HEADLIGHTS: 0, Content.INDICATORS: 0}
        self._is_reset = False
        self._is_on_its_way = False  # it was put back to its start, and is not there yet
        self._laps: Laps | None = None
        self._start: tuple[float, float, float] | None = None

    def begin(self, bus: Bus, node: NodeApi, vehicle: Vehicle) -> None:
        self._node = node
        self._rear_m = vehicle.turns_behind_centre_m
        self._wheelbase_m = vehicle.wheelbase_m

    @property
    def lights(self) -> int:  # type: ignore[override]
        """The lights byte of a claim: the beam in bits 0 and 1, the indicators in bits 2 and 3."""
        beam, sides = self._lights[Content.HEADLIGHTS], self._lights[Content.INDICATORS]
        return beam & _BEAM | sides << _INDICATORS_AT

    def on_message(
        self,
        subscription: Subscription,
        source: MuxSource,
        message: Any,
        heard_us: int,
        now_us: int,
    ) -> bool:
        if subscription.content in _LIGHTS_MOST:
            if 0 <= message.data <= _LIGHTS_MOST[subscription.content]:
                self._lights[subscription.content] = int(message.data)
            else:
                source.refuse(f"{subscription.topic} has no {message.data}")
        elif subscription.content is Content.RESET:
            self._reset(source, bool(message.data))
        else:
            return False
        return True

    def step(self, car: SeenCar, is_driving: bool, now_us: int) -> None:
        """Follow the true pose; the first one seen is the car's start and its lap line."""
        truth = self._node.truth()
        if truth is None:
            return
        pose = true_pose(truth, self._rear_m)
        if self._laps is None:
            self._start = pose.x_m, pose.y_m, pose.yaw_rad
            self._laps = Laps(*self._start, self._wheelbase_m)
        if self._is_on_its_way and self._start:
            off_m = hypot(pose.x_m - self._start[0], pose.y_m - self._start[1])
            self._is_on_its_way = off_m > _BACK_M
        if not self._is_on_its_way:
            self._laps.step(pose.x_m, pose.y_m, now_us)

    def _reset(self, source: MuxSource, is_asked: bool) -> None:
        """Put the car back to its start on each change of the message from false to true.

        AutoDRIVE's simulator resets for as long as the value is true.
        """
        was, self._is_reset = self._is_reset, is_asked
        if is_asked and not was:
            why = self._node.set_pose(self._start) if self._start else "it has not begun"
            if why:
                source.refuse(why)
            elif self._start:
                self._laps = Laps(*self._start, self._wheelbase_m)
                self._is_on_its_way = True

    # --- publications

    def fillers(self) -> Mapping[Content, MessageFiller]:
        return {
            Content.LAP_COUNT: self._of_laps(lambda laps: laps.count),
            Content.LAP_TIME: self._of_laps(lambda laps: laps.time_s),
            Content.LAST_LAP_TIME: self._of_laps(lambda laps: laps.last_s),
            Content.BEST_LAP_TIME: self._of_laps(lambda laps: laps.best_s),
            Content.COLLISIONS: self._collisions,
        }

    def _of_laps(self, of: Any) -> MessageFiller:
        def fill(publication: Publication, message: Any, stamp: Any, car: SeenCar) -> bool:
            if self._laps is not None:
                message.data = of(self._laps)
            return self._laps is not None

        return fill

    def _collisions(self, publication: Publication, message: Any, stamp: Any, car: SeenCar) -> bool:
        if self._node.truth() is None:
            return False
        message.data = self._node.hits()
        return True
