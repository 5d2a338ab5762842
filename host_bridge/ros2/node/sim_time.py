"""``/clock``, and the services that pause a virtual car's time or advance it by single steps.

Only a car whose time this program computes has them. A request made while its time is paused takes
effect at its next step, a stop too: until then nothing moves.
"""

from __future__ import annotations

from typing import Any, Protocol

from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.bus.message_types import message_class
from host_bridge.ros2.node.vocabulary_adapter import Reply

_CLOCK = "rosgraph_msgs/msg/Clock"
_REPEATED_AFTER = 20  # calls of _listen, about 10 Hz: for nodes that start while time is paused


class SteppableTime(Protocol):
    """A virtual time that can be paused and stepped; ``meanwhile`` is called while it waits."""

    meanwhile: Any

    @property
    def is_paused(self) -> bool: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def advance(self, seconds: float) -> None: ...


class SimTimeServices:
    """The publisher of ``/clock``, and the services ``~/pause`` and ``~/step``."""

    def __init__(self, bus: Bus, steps: SteppableTime, step_s: float) -> None:
        """Publish /clock and offer the services; ``step_s`` is the car's own step.

        Raises errors.DeviceFault for missing messages.
        """
        self._bus = bus
        self._steps = steps
        self._step_s = step_s
        self._waiting: list[Reply] = []
        self._listened = 0
        self._clock = bus.publisher("/clock", _CLOCK, depth=1)
        bus.serve("~/pause", "std_srvs/srv/SetBool", self._pause)
        bus.serve("~/step", "std_srvs/srv/Trigger", self._step)
        steps.meanwhile = self._listen

    def step(self) -> None:
        """Publish the time."""
        message = message_class(_CLOCK)()
        message.clock = self._bus.stamp()
        self._clock.publish(message)

    def _listen(self) -> None:
        self._bus.step()
        if self._steps.is_paused:
            for reply in self._waiting:
                reply(True, "It made one step.")
            self._waiting.clear()
        self._listened += 1
        if self._listened % _REPEATED_AFTER == 0:
            self.step()

    def _pause(self, request: Any, reply: Reply) -> None:
        if request.data and not self._steps.is_paused:
            self._steps.pause()
        elif not request.data:
            self._steps.resume()
        reply(True, "Its time stands still." if request.data else "Its time goes on.")

    def _step(self, request: Any, reply: Reply) -> None:
        if self._steps.is_paused:
            self._steps.advance(self._step_s)
            self._waiting.append(reply)
        else:
            reply(False, "Its time goes on: call ~/pause first.")
