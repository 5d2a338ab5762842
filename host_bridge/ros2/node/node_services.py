"""The requests that services and adapters may make of the node: stop, arm, teleport."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from host_bridge.core import OperatorRequest, SeenCar
from host_bridge.logs.pose_lines import Place
from host_bridge.logs.sensor_lines import SensorPipe, TruePose
from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.node.set_pose import NOT_HERE, PoseRequest
from host_bridge.ros2.node.stops import PendingReplies, RunstopTopic, is_stopped
from host_bridge.ros2.node.vocabulary_adapter import Reply, VocabularyAdapter

BY_A_PERSON = (
    "A real car is armed by the person who sees where it stands: press R at the terminal of "
    "tandem ros, which clears and arms; SPACE held there lets ROS 2 drive."
)
_TRIGGER = "std_srvs/srv/Trigger"


class NodeServices:
    """The node's ``NodeApi`` and its services ~/stop, ~/clear and ~/arm.

    What is asked becomes a request to the session, and the caller is answered once the car reports
    the outcome. ``now_us`` is the session's time of the current step. ``pipe`` and
    ``pose_request`` are None where a car has no such pipe.
    """

    def __init__(
        self,
        adapter: VocabularyAdapter,
        runstop: RunstopTopic,
        now_us: Callable[[], int],
        is_driving: Callable[[], bool],
    ) -> None:
        self.is_virtual = False
        self.pipe: SensorPipe | None = None
        self.pose_request: PoseRequest | None = None
        self._adapter = adapter
        self._runstop = runstop
        self._now_us = now_us
        self._is_driving = is_driving
        self._requests: list[OperatorRequest] = []
        self._pending_replies = PendingReplies()

    def serve(self, bus: Bus) -> None:
        """Offer the services at the node's own names."""
        bus.serve("~/stop", _TRIGGER, self._stop)
        bus.serve("~/clear", _TRIGGER, self._clear)
        bus.serve("~/arm", "std_srvs/srv/SetBool", self._set_armed)

    def step(self, car: SeenCar, now_us: int) -> None:
        """Go on with a teleport, and answer the callers whose outcome the car reports."""
        if self.pose_request:
            self.pose_request.step(car, now_us)
        self._pending_replies.step(car, now_us)

    def take_requests(self) -> list[OperatorRequest]:
        """Return what was asked for since the last call."""
        requests, self._requests = self._requests, []
        return requests

    def stop(self) -> None:
        self._requests.append(OperatorRequest.STOP)

    def stop_for(self, reply: Reply) -> None:
        """Stop the cars and answer when they report it; this needs no permission."""
        self.stop()
        self._pending_replies.wait(reply, self._now_us(), is_stopped)

    def arm(self, reply: Reply) -> None:
        """Arm virtual cars and answer with the outcome; refuse a real car.

        Who calls a service has not seen where a real car stands.
        """
        if not self.is_virtual:
            reply(False, BY_A_PERSON)
        elif self._runstop.must_stop:
            reply(False, "The runstop topic says stop, or is silent.")
        elif why := self._adapter.arming_refusal():
            reply(False, why)
        elif self._is_driving():
            reply(True, "It is armed.")
        else:
            self._requests.append(OperatorRequest.ARM)
            self._pending_replies.wait(
                reply,
                self._now_us(),
                lambda car: car.status is not None and car.status.state.is_armed,
            )

    def set_pose(self, place: Place) -> str:
        """Begin to put a virtual car elsewhere; return why not, "" if it has begun."""
        if self.pose_request is None:
            return NOT_HERE
        self.pose_request.set_pose(place)
        return ""

    def truth(self) -> TruePose | None:
        return self.pipe.truth if self.pipe else None

    def hits(self) -> int:
        return self.pipe.hits if self.pipe else 0

    def _stop(self, request: Any, reply: Reply) -> None:
        self.stop_for(reply)

    def _clear(self, request: Any, reply: Reply) -> None:
        self.arm(reply)

    def _set_armed(self, request: Any, reply: Reply) -> None:
        if request.data:
            self.arm(reply)
        else:
            self.stop_for(reply)
