"""Stops by a topic or a service, and the service callers that wait for the car's answer."""

from __future__ import annotations

from collections.abc import Callable

from host_bridge.core import SeenCar
from host_bridge.ros2.node.diagnostics import why_standing
from host_bridge.ros2.node.vocabulary_adapter import Reply

_ANSWER_US = 1_500_000  # the time that a car has for an action
STOP_QUEUE_DEPTH = 10  # one publisher's message must not displace another's stop
# Chosen: as long as a claim of any source may count at most (0.3 s)
_SILENT_US = 300_000
_STOP_US = 300_000


def is_stopped(car: SeenCar) -> bool:
    """Return whether the car reports that it stops; one that is not armed has only the cause."""
    status = car.status
    return status is not None and status.shown_state.is_halted


class RunstopState:
    """The newest run/stop message of a runstop.

    A stop counts for 0.3 s whatever message follows, since several publishers of the topic cannot
    be told apart.
    """

    def __init__(self, silent_us: int = _SILENT_US) -> None:
        self._silent_us = silent_us
        self._heard_us: int | None = None
        self._stop_us: int | None = None
        self._runs: bool  # as it was heard last

    def hear(self, runs: bool, received_us: int) -> None:
        self._runs, self._heard_us = runs, received_us
        if not runs:
            self._stop_us = received_us

    def stop_reason(self, now_us: int) -> str:
        """Return why nothing may run: "says stop" or "is silent"; "" if it may.

        A runstop that was never heard does not stop anything here.
        """
        if self._heard_us is None:
            return ""
        if not self._runs or (self._stop_us is not None and now_us - self._stop_us <= _STOP_US):
            return "says stop"
        return "is silent" if now_us - self._heard_us > self._silent_us else ""


class RunstopTopic:
    """A topic with run or stop; once it was heard, its silence is a stop as well."""

    def __init__(self) -> None:
        self._word = RunstopState()
        self.must_stop = False

    def hear(self, runs: bool, received_us: int) -> None:
        self._word.hear(runs, received_us)

    def step(self, now_us: int) -> bool:
        """Return True when a stop has to be sent now: once each time the topic begins to stop."""
        had_to, self.must_stop = self.must_stop, bool(self._word.stop_reason(now_us))
        return self.must_stop and not had_to


class PendingReplies:
    """The service callers that get their answer when what they asked for has happened."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Reply, int, Callable[[SeenCar], bool]]] = []

    def wait(self, reply: Reply, now_us: int, is_so: Callable[[SeenCar], bool]) -> None:
        self._waiting.append((reply, now_us + _ANSWER_US, is_so))

    def step(self, car: SeenCar, now_us: int) -> None:
        """Answer the callers whose car has done it, and those that waited 1.5 s."""
        for it in list(self._waiting):
            reply, until_us, is_so = it
            if is_so(car):
                reply(True, why_standing(car) or "Done.")
            elif now_us >= until_us:
                reply(False, why_standing(car) or "The car did not answer.")
            else:
                continue
            self._waiting.remove(it)
