"""A ring buffer of numbered events; a host that sees a gap in the numbers asks for them again."""

from firmware.compat import TYPE_CHECKING

if TYPE_CHECKING:
    from firmware.protocol.messages import Event

SIZE = 64  # as many as a second of trouble makes
_NUMBERS = 0xFFFF


class Events:
    def __init__(self) -> None:
        self.next_number = 0
        self.next_sent = 0
        self.lost_first = 0
        self.lost_count = 0  # to be said to the host
        self._held = 0
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
        self.next_number = self.next_number + 1 & _NUMBERS
        if self._held < SIZE:
            self._held += 1
        if self.next_number - self.next_sent & _NUMBERS > SIZE:
            self._give_up(self.next_sent)

    def request(self, first: int) -> None:
        """Send again from ``first``; what the ring no longer holds is reported as lost.

        A number that is still to come is from before a restart: all events held are sent. Events
        that another host asked for and has not got yet are sent all the same.
        """
        behind = self.next_number - first & _NUMBERS
        if behind <= self._held:
            if behind > self.next_number - self.next_sent & _NUMBERS:
                self.next_sent = first
        elif behind > _NUMBERS >> 1:
            self.next_sent = self._oldest()
        else:
            self._give_up(first)

    def _oldest(self) -> int:
        return self.next_number - self._held & _NUMBERS

    def _give_up(self, wanted: int) -> None:
        """Report all events from ``wanted`` to the oldest held as lost, and go on with that one."""
        if not self.lost_count:
            self.lost_first = wanted
        self.next_sent = self._oldest()
        self.lost_count = self.next_sent - self.lost_first & _NUMBERS

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
        self.next_sent = self.next_sent + 1 & _NUMBERS
