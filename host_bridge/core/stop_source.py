"""The interface of a program that only stops: the stop source ``external`` of a car.

Kinds are found by the entry point ``tandem.stop_sources``. The entry's name is the NAME in
``tandem stop-source NAME:REST``; its value is a callable that makes the source from REST.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from host_bridge.core.inputs import SeenCar


class StopSource(ABC):
    """A program that lets a car run or stops it, and never moves it; only ``step`` is required.

    While it runs, the car hears "run" or "stop" from it 50 times a second. A car whose vehicle
    file requires ``external`` also stops when that stays away: the program ended, hangs or fails.
    """

    async def open(self) -> None:  # noqa: B027 - most have nothing to do
        """Begin. Raises errors.TandemError if it cannot watch."""

    @abstractmethod
    def step(self, now_us: int, car: SeenCar) -> str:
        """Return why the car has to stop at this moment, as a sentence; "" lets it run.

        Never blocks; called a hundred times a second. ``now_us`` is monotonic, ``car`` as it was
        last heard.
        """

    async def close(self) -> None:  # noqa: B027 - most have nothing to do
        """Release whatever ``open`` took."""
