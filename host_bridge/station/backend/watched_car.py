"""An open car that the page shows."""

from __future__ import annotations

import time
from collections.abc import Callable

from host_bridge.link.protocol.events import LinkEvent
from host_bridge.sharing.endpoints.attached import attached
from host_bridge.sharing.open_car import OpenCar
from host_bridge.station import TelemetryView

_STATIONS_EVERY_US = 1_000_000  # it reads a folder, which takes 84 us; gateways tell twice a second


class WatchedCar:
    """An open car that the page shows, and the process that serves it."""

    def __init__(
        self, opened: OpenCar, pid: int, view: TelemetryView, now_us: Callable[[], int]
    ) -> None:
        self.opened = opened
        self.pid = pid
        self._view = view
        self._now_us = now_us
        self._heard_unix_ms = 0  # for measurements of the page's latency
        self._stations: list[str] = []
        self._stations_due_us = 0
        opened.events.subscribe(self._hear)

    @property
    def heard_us(self) -> int | None:
        """The time of its newest report, on the host's clock; None before the first."""
        return self._view.heard_us

    def car_row(self, now_us: int) -> dict[str, object]:
        row = self._view.car_row(now_us, self.opened.why_offline)
        if now_us >= self._stations_due_us:
            self._stations_due_us = now_us + _STATIONS_EVERY_US
            self._stations = [str(it) for it in attached(self.opened.name)]
        return {**row, "heard_unix_ms": self._heard_unix_ms, "stations": self._stations}

    def _hear(self, events: list[LinkEvent]) -> None:
        self._view.hear(events, self._now_us())
        self._heard_unix_ms = time.time_ns() // 1_000_000
