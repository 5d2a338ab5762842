"""The last stops of each car that was seen, those of cars that are gone among them."""

from __future__ import annotations

import asyncio
from collections import deque
from pathlib import Path

from host_bridge.core.system.clock import Clock
from host_bridge.sharing.owner.black_box import KeptStop, new_stops
from host_bridge.sharing.owner.recording import new_recorder

CARS_MAX = 16  # as many as a page shows, and their tombstones; the one that came first goes


class KeptStops:
    """The last stops by car; a car that comes back finds its own."""

    def __init__(self) -> None:
        self._by_name: dict[str, tuple[str, deque[KeptStop]]] = {}

    def of(self, name: str, board: str) -> deque[KeptStop]:
        """Return the stops of a car that comes, by its name and its board's id in hexadecimal.

        Another board under a name is another car, and begins without any.
        """
        board_before, stops = self._by_name.pop(name, ("", new_stops()))
        if board != board_before:
            stops = new_stops()
        self._by_name[name] = board, stops
        while len(self._by_name) > CARS_MAX:
            del self._by_name[next(iter(self._by_name))]
        return stops

    def all(self) -> dict[str, tuple[KeptStop, ...]]:
        """Return the stops of each car by its name, the oldest first."""
        return {name: tuple(stops) for name, (_, stops) in self._by_name.items()}

    def at(self, name: str, at_us: object) -> KeptStop | None:
        """Return a car's stop of this moment; None if it is kept no longer."""
        _, stops = self._by_name.get(name, ("", ()))
        return next((it for it in stops if it.at_us == at_us), None)


async def save_stop(stop: KeptStop, car: str, path: Path, clock: Clock) -> None:
    """Write a stop to a new log. Raises errors.DataFileFault."""
    await asyncio.to_thread(stop.write, new_recorder(path, clock), car)
    stop.file = path
