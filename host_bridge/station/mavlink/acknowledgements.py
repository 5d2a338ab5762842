"""The commands that take time: each is acknowledged once its outcome is known."""

from __future__ import annotations

from collections.abc import Callable

from host_bridge.station.mavlink.commands import IN_PROGRESS, Command, is_stop

_MOST_WAITING = 64  # beyond it a command is obeyed all the same, and not acknowledged
Outcome = tuple[int, str]  # MAV_RESULT, and why in words


class Acknowledgements:
    """The commands under way. ``acknowledge(command, result, why)`` sends one's outcome."""

    def __init__(self, acknowledge: Callable[[Command, int, str], None]) -> None:
        self._acknowledge = acknowledge
        self._waiting: list[tuple[Command, Callable[[int], Outcome | None]]] = []

    def wait(self, command: Command, poll: Callable[[int], Outcome | None]) -> None:
        """Acknowledge the command once ``poll(now_us)`` returns its outcome."""
        if len(self._waiting) < _MOST_WAITING:
            self._waiting.append((command, poll))

    def is_pending(self, command: Command) -> bool:
        """Return whether the same is under way for this station; tell it so if it is.

        A station repeats a command that is not acknowledged at once. A stop is never taken for the
        arming of the same number.
        """
        key = _key(command)
        is_under_way = any(_key(waiting) == key for waiting, _ in self._waiting)
        if is_under_way:
            self._acknowledge(command, IN_PROGRESS, "")
        return is_under_way

    def step(self, now_us: int) -> None:
        waiting, self._waiting = self._waiting, []
        for command, poll in waiting:
            outcome = poll(now_us)
            if outcome is None:
                self._waiting.append((command, poll))
            else:
                self._acknowledge(command, *outcome)


def _key(command: Command) -> tuple[object, ...]:
    station = command.station
    return station.address, station.system, command.number, is_stop(command)
