"""The age of packets that come from a station beyond this machine, by TIMESYNC.

MANUAL_CONTROL has no time. So whoever has the car is asked fifty times a second for its time, with
ours in the question; what it sends after an answer was sent after our question. Signed frames of a
stream come in order or not at all, so that holds for the packets that arrive after the answer.
"""

from __future__ import annotations

from collections import deque

from host_bridge.station.mavlink.stations import Station

# With a round trip of 20 ms and a packet each 40 ms a hold is 80 ms old at most, of a lease of 120
_EVERY_US = 20_000
_ANSWERED_US = 1_000_000  # a station that has not answered for so long does not tell
_ASKED_KEPT = 32  # questions: those of the last 0.64 s


class HoldAges:
    """The questions to one station at a time, and the newest that it answered."""

    def __init__(self) -> None:
        self._station: Station | None = None
        self._due_us = 0
        self._asked: deque[int] = deque(maxlen=_ASKED_KEPT)
        self._answered: tuple[int, int] | None = None  # when it was asked and when it answered

    def is_due(self, station: Station, now_us: int) -> bool:
        """Return whether to ask this station now; one of this machine is never asked."""
        return not station.is_local and now_us >= self._due_us

    def ask(self, station: Station, now_us: int) -> int:
        """Return what to ask with: our time in ns."""
        if station is not self._station:
            self._station, self._answered = station, None
            self._asked.clear()
        self._due_us = now_us + _EVERY_US
        self._asked.append(now_us * 1000)
        return now_us * 1000

    def hear_answer(self, station: Station, asked_ns: int, now_us: int) -> None:
        """Take an answer; one to no question of ours counts for nothing."""
        if station is not self._station or asked_ns not in self._asked:
            return
        asked_us = asked_ns // 1000
        if self._answered is None or asked_us > self._answered[0]:
            self._answered = asked_us, now_us

    def age(self, station: Station, now_us: int) -> tuple[int, bool]:
        """Return when a packet that arrives now was sent at the earliest.

        Also whether that is known; what is not known is told as now.
        """
        if station.is_local:
            return now_us, True
        answered = self._answered if station is self._station else None
        if answered is None or now_us - answered[1] >= _ANSWERED_US:
            return now_us, False
        return answered[0], True
