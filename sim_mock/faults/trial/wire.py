"""The path of a driver's messages to the car, where faults of lines and hosts are injected."""

import heapq
from collections.abc import Callable, Iterable

# A line maps one frame to the pieces that arrive, each with its delay in microseconds.
Line = Callable[[bytes], Iterable[tuple[int, bytes]]]


def clean(frame: bytes) -> list[tuple[int, bytes]]:
    """Return the frame unchanged and undelayed: the line without a fault."""
    return [(0, frame)]


class FaultyWire:
    """A path for frames with a fault and a delay.

    ``deliver`` takes what has arrived at the car; ``now_us`` returns the world's time.
    """

    def __init__(self, deliver: Callable[[bytes], None], now_us: Callable[[], int]) -> None:
        self.line: Line = clean
        self.runs = True  # else the host is stopped: it says nothing, hears nothing
        self.hears = True
        self._deliver = deliver
        self._now_us = now_us
        self._pieces = 0
        self._on_the_way: list[tuple[int, int, bytes]] = []

    def send(self, frame: bytes) -> None:
        """Send bytes over the line."""
        for delay_us, data in self.line(frame):
            if not delay_us:
                self._deliver(data)
                continue
            self._pieces += 1
            heapq.heappush(self._on_the_way, (self._now_us() + delay_us, self._pieces, data))

    def deliver_due(self) -> None:
        """Deliver what is due by now."""
        while self._on_the_way and self._on_the_way[0][0] <= self._now_us():
            self._deliver(heapq.heappop(self._on_the_way)[2])
