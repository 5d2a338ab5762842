"""An open car that the page shows, and its last stops."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from host_bridge.core import CarStatus
from host_bridge.core.errors import DeviceFault
from host_bridge.core.system.clock import Clock
from host_bridge.link.protocol.events import LinkEvent
from host_bridge.sharing.endpoints.attached import attached
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.owner.black_box import BlackBox, KeptStop
from host_bridge.sharing.owner.recording import new_recorder
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
        car = opened.car
        self.black_box = BlackBox(car.why_stopped, lambda: car.connection.ask_for_all(now_us()))
        opened.events.subscribe(self._hear)

    async def listen(self) -> None:
        """Begin to keep what goes over its line; of a car whose owner lets nobody, nothing."""
        with suppress(DeviceFault):
            await self.opened.listen(self.black_box.hear)

    async def save(self, stop: KeptStop, path: Path, clock: Clock) -> None:
        """Write a kept stop to a new log. Raises errors.DataFileFault."""
        log = new_recorder(path, clock)
        self.opened.describe_in(log)
        await asyncio.to_thread(stop.write, log, self.opened.name)
        stop.file = path

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

    def stop_rows(self, time_words: Callable[[int], str]) -> list[dict[str, object]]:
        """Return its kept stops as the page shows them, the newest first."""
        return [
            {
                "at_us": it.at_us,
                "when": time_words(it.at_us),
                "words": it.words,
                "before_s": round(it.before_s, 1),
                "file": str(it.file or ""),
            }
            for it in reversed(self.black_box.stops)
        ]

    def _hear(self, events: list[LinkEvent]) -> None:
        now_us = self._now_us()
        self._view.hear(events, now_us)
        for event in events:
            if isinstance(event, CarStatus):
                self.black_box.watch(event, now_us)
        self._heard_unix_ms = time.time_ns() // 1_000_000
