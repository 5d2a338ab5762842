"""The car's numbered events, each passed on once and in order, whatever is lost or sent again."""

from __future__ import annotations

from collections import deque

from host_bridge.domain.reports import CarEvent, EventsLost

_NUMBERS = 0xFFFF
_HALF = 1 << 15
_REMEMBERED = 128  # twice the car's ring: all that it can send again


class Chronicle:
    """``wanted`` is the number from which the car has to send again: the first not yet heard.

    Of what is ``past``, a log, nothing can be sent again: it begins with the first that is heard,
    and anew with an older one, for then somebody asked for all; what was heard is told again.
    """

    def __init__(self, *, is_past: bool = False) -> None:
        self._is_past = is_past
        self.wanted = 0  # of a car met for the first time: all that its ring still holds
        self.has_gap = False
        self._is_fresh = True
        self._heard: deque[CarEvent] = deque(maxlen=_REMEMBERED)

    def hear(self, event: CarEvent) -> CarEvent | None:
        """The event, if it is news; what lies beyond a gap waits until the gap is filled."""
        if self._is_past and self._is_fresh:
            self.wanted = event.number
        ahead = event.number - self.wanted & _NUMBERS
        if self._is_past and ahead >= _HALF and event not in self._heard:
            self._heard.clear()
            ahead = 0
        self.has_gap = 0 < ahead < _HALF
        if self.has_gap:
            return None
        self._is_fresh = False
        self.wanted = event.number + 1 & _NUMBERS
        if event in self._heard:
            return None  # sent again, for us or for another client of this car
        self._heard.append(event)
        return event

    def hear_lost(self, lost: EventsLost) -> EventsLost | None:
        """The car's ring overran; None if what is gone was heard, or was before our time."""
        ahead = self.wanted - lost.first & _NUMBERS
        missed = lost.count - ahead
        first = self.wanted
        if ahead >= _HALF or missed <= 0:
            return None
        self.wanted = lost.first + lost.count & _NUMBERS
        was_fresh, self._is_fresh, self.has_gap = self._is_fresh, False, False
        return None if was_fresh else EventsLost(first, missed)
