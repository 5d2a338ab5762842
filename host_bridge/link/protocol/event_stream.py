"""The stream of a car's numbered events: each is passed on once and in order, despite losses."""

from __future__ import annotations

from collections import deque

from host_bridge.core.reports import CarEvent, EventsLost

_NUMBERS = 0xFFFF
_HALF = 1 << 15
_REMEMBERED = 128  # twice the car's ring buffer: more than it can send again


class EventStream:
    """The event stream of one car.

    ``next_number`` is the number from which the car has to send again: the first not yet heard.
    From a log (``is_past``) nothing can be sent again: the stream begins with the first event that
    is heard, and begins anew with an older one, because then somebody asked for all events; those
    heard before are passed on again.
    """

    def __init__(self, *, is_past: bool = False) -> None:
        self._is_past = is_past
        self.next_number = 0  # at first: everything that the car's ring buffer still holds
        self.has_gap = False
        self._is_fresh = True
        self._heard: deque[CarEvent] = deque(maxlen=_REMEMBERED)

    def hear(self, event: CarEvent) -> CarEvent | None:
        """Return the event if it is new.

        One beyond a gap is dropped: it comes again once the gap is filled.
        """
        if self._is_past and self._is_fresh:
            self.next_number = event.number
        ahead = event.number - self.next_number & _NUMBERS
        if self._is_past and ahead >= _HALF and event not in self._heard:
            self._heard.clear()
            ahead = 0
        self.has_gap = 0 < ahead < _HALF
        if self.has_gap:
            return None
        self._is_fresh = False
        self.next_number = event.number + 1 & _NUMBERS
        if event in self._heard:
            return None  # a repetition, for us or for another client of this car
        self._heard.append(event)
        return event

    def hear_lost(self, lost: EventsLost) -> EventsLost | None:
        """Take the report that the car's ring buffer overran; return the events that we missed.

        None if those events were heard, or precede this connection.
        """
        ahead = self.next_number - lost.first & _NUMBERS
        missed = lost.count - ahead
        first = self.next_number
        if ahead >= _HALF or missed <= 0:
            return None
        self.next_number = lost.first + lost.count & _NUMBERS
        was_fresh, self._is_fresh, self.has_gap = self._is_fresh, False, False
        return None if was_fresh else EventsLost(first, missed)
