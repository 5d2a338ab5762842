"""An open car that the page shows, and its last stops."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from host_bridge.core import CarStatus
from host_bridge.core.errors import DeviceFault
from host_bridge.link.protocol.events import LinkEvent
from host_bridge.sharing.endpoints.attached import attached
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.owner.black_box import BlackBox, KeptStop
from host_bridge.station import TelemetryView

_STATIONS_EVERY_US = 1_000_000  # it reads a folder, which takes 84 us; gateways tell twice a second


class WatchedCar:
    """An open car that the page shows, and the process that serves it."""

    def __init__(
        self,
        opened: OpenCar,
        pid: int,
        view: TelemetryView,
        now_us: Callable[[], int],
        stops: deque[KeptStop],
    ) -> None:
        """``stops``: where the last stops of this car are kept."""
        self.opened = opened
        self.pid = pid
        self._view = view
        self._now_us = now_us
        self._heard_unix_ms = 0  # for measurements of the page's latency
        self._stations: list[str] = []
        self._stations_due_us = 0
        car = opened.car
        self._black_box = BlackBox(
            car.why_stopped,
            lambda: car.connection.ask_for_all(now_us()),
            opened.describe_in,
            stops,
        )
        opened.events.subscribe(self._hear)

    async def listen(self) -> None:
        """Begin to keep what goes over its line; of a car whose owner lets nobody, nothing."""
        with suppress(DeviceFault):
            await self.opened.listen(self._black_box.hear)

    async def close(self) -> None:
        """Close it; what its line carried of a stop is kept."""
        self._black_box.lose_line(self._now_us())
        await self.opened.close()

    @property
    def heard_us(self) -> int | None:
        """The time of its newest report, on the host's clock; None before the first."""
        return self._view.heard_us

    def car_row(self, now_us: int) -> dict[str, object]:
        row = self._view.car_row(now_us, self.opened.offline_sentences)
        if now_us >= self._stations_due_us:
            self._stations_due_us = now_us + _STATIONS_EVERY_US
            self._stations = [str(it) for it in attached(self.opened.name)]
        return {**row, "heard_unix_ms": self._heard_unix_ms, "stations": self._stations}

    def _hear(self, events: list[LinkEvent]) -> None:
        now_us = self._now_us()
        self._view.hear(events, now_us)
        for event in events:
            if isinstance(event, CarStatus):
                self._black_box.watch(event, now_us)
        self._heard_unix_ms = time.time_ns() // 1_000_000


def stop_rows(
    stops: Sequence[KeptStop], time_words: Callable[[int], str]
) -> list[dict[str, object]]:
    """Return a car's kept stops, the oldest of which is the first, as the page shows them.

    ``time_words`` gives a time of the host's clock as the local time of day.
    """
    return [
        {
            "at_us": it.at_us,
            "when": time_words(it.at_us),
            "words": it.words,
            "before_s": round(it.before_s, 1),
            "file": str(it.file or ""),
        }
        for it in reversed(stops)
    ]
