"""One watched car: its picture, the times of its events, and the loss of its link."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from host_bridge.cars.car import ConnectedCar
from host_bridge.core import CarEvent, event_text
from host_bridge.station.views.car_row import car_row
from host_bridge.station.views.comparison import SessionReports, ahead_us

_SPAN_US = 5_000_000  # the window over which a loss is computed
_EVERY_US = 250_000  # four rows a second, as an eye can follow figures
_EVENTS = 12  # lines of the newest events
_EARLIER = "earlier"
_SOON_US = 1_000_000  # an event may arrive a moment before the status of its step


class StatusLoss:
    """The missed statuses as a share of all that the car sent in the last 5 s."""

    def __init__(self) -> None:
        self._rows: deque[tuple[int, int, int]] = deque()  # when, missed, heard

    def add(self, now_us: int, missed: int, heard: int) -> None:
        """Add the counts of missed and received statuses since the link was opened."""
        if self._rows and now_us - self._rows[-1][0] < _EVERY_US:
            return
        self._rows.append((now_us, missed, heard))
        while now_us - self._rows[0][0] > _SPAN_US:
            self._rows.popleft()

    def percent(self) -> float | None:
        """Return the loss in percent; None before anything was sent."""
        if len(self._rows) < 2:
            return None
        (_, missed, heard), (_, missed_now, heard_now) = self._rows[0], self._rows[-1]
        lost, sent = missed_now - missed, missed_now - missed + heard_now - heard
        return round(100.0 * lost / sent, 1) if sent > 0 else None


class EventTimes:
    """The time of each event on the viewer's clock; ``words`` formats such a time.

    A board's clock wraps after 18 minutes, so the times of events before the car was watched are
    not known.
    """

    def __init__(self, words: Callable[[int], str]) -> None:
        self._words = words
        self._since_us: int | None = None
        self._told: dict[CarEvent, str] = {}

    def hear(self, event: CarEvent, board_us: int | None, now_us: int) -> None:
        """Take an event; ``board_us`` is the newest known time of the board."""
        if board_us is None:
            return
        self._since_us = now_us if self._since_us is None else self._since_us
        ago_us = ahead_us(board_us, event.time_us)
        if -_SOON_US < ago_us <= now_us - self._since_us:
            self._told[event] = self._words(now_us - max(ago_us, 0))

    def of(self, events: Iterable[CarEvent]) -> list[str]:
        """Return the times of these events; all others are forgotten."""
        self._told = {it: self._told[it] for it in events if it in self._told}
        return [self._told.get(it, _EARLIER) for it in events]


class TelemetryView:
    """The view of one car, live or from a log; ``words`` formats a time.

    Give the events of its link to ``hear``.
    """

    def __init__(
        self, car: ConnectedCar, reports: SessionReports, words: Callable[[int], str]
    ) -> None:
        self.car = car
        self.heard_us: int | None = None
        self._reports = reports
        self._loss = StatusLoss()
        self._times = EventTimes(words)

    def hear(self, events: Iterable[object], now_us: int) -> None:
        """Take the events that came from the car."""
        self.heard_us = now_us
        self._reports.hear(events, now_us)
        board_us = self.car.status.time_us if self.car.status else None
        for event in events:
            if isinstance(event, CarEvent):
                self._times.hear(event, board_us, now_us)
        statistics = self.car.connection.statistics
        self._loss.add(now_us, statistics.missed_statuses, statistics.heard["Status"])

    def car_row(self, now_us: int, why_offline: str) -> dict[str, object]:
        """Return the row for the page; ``why_offline`` is the reason why nothing comes any more."""
        row = car_row(self.car, self.heard_us, now_us, why_offline)
        newest = [*dict.fromkeys(reversed(self.car.events))][:_EVENTS]  # a log may hold one twice
        events = [
            {"when": when, "text": event_text(it, self.car.vehicle)}
            for it, when in zip(newest, self._times.of(newest), strict=True)
        ][::-1]
        return {
            **row,
            "events": events,
            "loss_percent": self._loss.percent(),
            "is_line_lossy": self.car.is_line_lossy,
            "clock_bound_ms": self._reports.clock_bound_ms(),
        }
