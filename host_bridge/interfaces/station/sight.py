"""A car that is looked at: its picture, when it was heard last, and how much of it is lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from host_bridge.cars.car import Car
from host_bridge.interfaces.station.comparing import Reports
from host_bridge.interfaces.station.picture import picture

_SPAN_US = 5_000_000  # over which a loss is told
_EVERY_US = 250_000


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


class Sight:
    """Live and out of a log alike: what its link tells goes to ``hear``."""

    def __init__(self, car: Car, reports: Reports) -> None:
        self.car = car
        self.heard_us: int | None = None
        self._reports = reports
        self._loss = Loss()

    def hear(self, events: Iterable[object], now_us: int) -> None:
        """Something came of it."""
        self.heard_us = now_us
        self._reports.hear(events, now_us)
        statistics = self.car.connection.statistics
        self._loss.add(now_us, statistics.missed_statuses, statistics.heard["Status"])

    def picture(self, now_us: int, why_unknown: str) -> dict[str, object]:
        """As the page shows it. ``why_unknown``: why nothing comes any more."""
        row = picture(self.car, self.heard_us, now_us, why_unknown)
        return {**row, "loss_percent": self._loss.percent()}
