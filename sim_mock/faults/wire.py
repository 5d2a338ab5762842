"""What is said to a car, on its way there: where the faults of lines and of hosts get in."""

import heapq
from collections.abc import Callable, Iterable

# From one frame to what arrives of it, each piece so many microseconds later
Line = Callable[[bytes], Iterable[tuple[int, bytes]]]


def clean(frame: bytes) -> list[tuple[int, bytes]]:
    """The line without a fault."""
    return [(0, frame)]


class Wire:
    """``deliver`` takes what has arrived at the car; ``now_us`` is the car's world's time."""

    def __init__(self, deliver: Callable[[bytes], None], now_us: Callable[[], int]) -> None:
        self.line: Line = clean
        self.runs = True  # else the host is stopped: it says nothing, hears nothing
        self.hears = True
        self._deliver = deliver
        self._now_us = now_us
        self._pieces = 0
        self._on_the_way: list[tuple[int, int, bytes]] = []

    def send(self, frame: bytes) -> None:
        """Any bytes, over the line."""
        for delay_us, data in self.line(frame):
            if not delay_us:
                self._deliver(data)
                continue
            self._pieces += 1
            heapq.heappush(self._on_the_way, (self._now_us() + delay_us, self._pieces, data))

    def bring(self) -> None:
        """Deliver what is due by now."""
        while self._on_the_way and self._on_the_way[0][0] <= self._now_us():
            self._deliver(heapq.heappop(self._on_the_way)[2])
