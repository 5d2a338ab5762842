"""Stops that come as a topic or by a service, and those who wait for the car's answer."""

from __future__ import annotations

from collections.abc import Callable

from host_bridge.domain import SeenCar
from host_bridge.interfaces.ros2.health import sentence
from host_bridge.interfaces.ros2.manner import Reply

_ANSWER_US = 1_500_000  # as long as a car has for an action
_SILENT_US = 300_000


class RunstopTopic:
    """A topic that says run or stop. Once it was heard, its silence is a stop as well."""

    def __init__(self) -> None:
        self._heard: tuple[bool, int] | None = None
        self.must_stop = False

    def hear(self, runs: bool, received_us: int) -> None:
        self._heard = runs, received_us

    def step(self, now_us: int) -> bool:
        """True where a stop has to be said now, once for each time that it came to that."""
        if self._heard is None:
            return False
        runs, heard_us = self._heard
        had_to, self.must_stop = self.must_stop, not runs or now_us - heard_us > _SILENT_US
        return self.must_stop and not had_to


class Callers:
    """Whoever called a service and is told when what they asked for has happened."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Reply, int, Callable[[SeenCar], bool]]] = []

    def wait(self, reply: Reply, now_us: int, is_so: Callable[[SeenCar], bool]) -> None:
        self._waiting.append((reply, now_us + _ANSWER_US, is_so))

    def step(self, car: SeenCar, now_us: int) -> None:
        """Answer those whose car has done it, and those who have waited long enough."""
        for it in list(self._waiting):
            reply, until_us, is_so = it
            if is_so(car):
                reply(True, sentence(car) or "Done.")
            elif now_us >= until_us:
                reply(False, sentence(car) or "The car did not answer.")
            else:
                continue
            self._waiting.remove(it)
