"""Numbered events in a ring: the host sees a gap in the numbers and asks again."""

from firmware.compat import TYPE_CHECKING

if TYPE_CHECKING:
    from firmware.protocol.messages import Event

SIZE = 64  # as many as a second of trouble makes


class Events:
    def __init__(self) -> None:
        self.next_number = 0
        self.next_sent = 0
        self.lost_first = 0
        self.lost_count = 0  # to be said to the host
        self._times = [0] * SIZE
        self._codes = [0] * SIZE
        self._a = [0] * SIZE
        self._b = [0] * SIZE

    def add(self, time_us: int, code: int, a: int, b: int) -> None:
        at = self.next_number % SIZE
        self._times[at] = time_us
        self._codes[at] = code
        self._a[at] = a
        self._b[at] = b
        self.next_number = self.next_number + 1 & 0xFFFF
        if self.next_number - self.next_sent & 0xFFFF > SIZE:
            self._rewind_to_oldest(self.next_sent)

    def request(self, first: int) -> None:
        """Send again from ``first``; what the ring no longer holds is reported as lost."""
        behind = self.next_number - first & 0xFFFF
        if behind > SIZE:
            self._rewind_to_oldest(first)
        else:
            self.next_sent = first

    def _rewind_to_oldest(self, wanted: int) -> None:
        oldest = self.next_number - SIZE & 0xFFFF
        if not self.lost_count:
            self.lost_first = wanted
        self.lost_count = oldest - self.lost_first & 0xFFFF
        self.next_sent = oldest

    def has_unsent(self) -> bool:
        return self.next_sent != self.next_number

    def fill(self, event: "Event") -> None:
        """Put the next unsent event into ``event``."""
        at = self.next_sent % SIZE
        event.number = self.next_sent
        event.time_us = self._times[at]
        event.code = self._codes[at]
        event.a = self._a[at]
        event.b = self._b[at]

    def sent(self) -> None:
        self.next_sent = self.next_sent + 1 & 0xFFFF
