"""A car that is looked at: its picture, when what happened to it, and how much of it is lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from host_bridge.cars.car import Car
from host_bridge.domain import CarEvent, event_words
from host_bridge.interfaces.station.comparing import Reports, ahead_us
from host_bridge.interfaces.station.picture import picture

_SPAN_US = 5_000_000  # over which a loss is told
_EVERY_US = 250_000
_EVENTS = 12
_EARLIER = "earlier"
_SOON_US = 1_000_000  # an event may be told a moment before the status of its step


class Loss:
    """Statuses that did not come, as a part of those that the car sent in the last seconds."""

    def __init__(self) -> None:
        self._rows: deque[tuple[int, int, int]] = deque()  # when, missed, heard

    def add(self, now_us: int, missed: int, heard: int) -> None:
        """Counts since the link was opened."""
        if self._rows and now_us - self._rows[-1][0] < _EVERY_US:
            return
        self._rows.append((now_us, missed, heard))
        while now_us - self._rows[0][0] > _SPAN_US:
            self._rows.popleft()

    def percent(self) -> float | None:
        """None before anything was sent."""
        if len(self._rows) < 2:
            return None
        (_, missed, heard), (_, missed_now, heard_now) = self._rows[0], self._rows[-1]
        lost, sent = missed_now - missed, missed_now - missed + heard_now - heard
        return round(100.0 * lost / sent, 1) if sent > 0 else None


class Times:
    """When each event was, on the clock of whoever looks on. ``words`` says such a time.

    A board's clock wraps after 18 minutes: of what came before it was looked at, nobody knows when.
    """

    def __init__(self, words: Callable[[int], str]) -> None:
        self._words = words
        self._since_us: int | None = None
        self._told: dict[CarEvent, str] = {}

    def hear(self, event: CarEvent, board_us: int | None, now_us: int) -> None:
        """``board_us``: the newest that is known of the board's time."""
        if board_us is None:
            return
        self._since_us = now_us if self._since_us is None else self._since_us
        ago_us = ahead_us(board_us, event.time_us)
        if -_SOON_US < ago_us <= now_us - self._since_us:
            self._told[event] = self._words(now_us - max(ago_us, 0))

    def of(self, events: Iterable[CarEvent]) -> list[str]:
        """Of these; what is none of them is forgotten."""
        self._told = {it: self._told[it] for it in events if it in self._told}
        return [self._told.get(it, _EARLIER) for it in events]


class Sight:
    """Live and out of a log alike: what its link tells goes to ``hear``. ``words`` says a time."""

    def __init__(self, car: Car, reports: Reports, words: Callable[[int], str]) -> None:
        self.car = car
        self.heard_us: int | None = None
        self._reports = reports
        self._loss = Loss()
        self._times = Times(words)

    def hear(self, events: Iterable[object], now_us: int) -> None:
        """Something came of it."""
        self.heard_us = now_us
        self._reports.hear(events, now_us)
        board_us = self.car.status.time_us if self.car.status else None
        for event in events:
            if isinstance(event, CarEvent):
                self._times.hear(event, board_us, now_us)
        statistics = self.car.connection.statistics
        self._loss.add(now_us, statistics.missed_statuses, statistics.heard["Status"])

    def picture(self, now_us: int, why_unknown: str) -> dict[str, object]:
        """As the page shows it. ``why_unknown``: why nothing comes any more."""
        row = picture(self.car, self.heard_us, now_us, why_unknown)
        newest = [*dict.fromkeys(reversed(self.car.events))][:_EVENTS]  # a log may tell one twice
        events = [
            {"when": when, "text": event_words(it, self.car.vehicle)}
            for it, when in zip(newest, self._times.of(newest), strict=True)
        ][::-1]
        return {
            **row,
            "events": events,
            "loss_percent": self._loss.percent(),
            "is_line_lossy": self.car.is_line_lossy,
        }
