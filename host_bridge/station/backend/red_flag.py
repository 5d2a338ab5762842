"""The red flag: every served car is stopped, and none can be armed until it is lifted.

It speaks as the stop source ``fleet`` to each board, which holds the stop itself: a terminal's
``tandem arm`` is refused as a page's is. If the station ends, its word ends too, 0.3 s later; what
was stopped stays so until a person clears it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from host_bridge.cars.stop_source_heartbeat import FLEET, StopSourceHeartbeat
from host_bridge.core.errors import TandemError
from host_bridge.sharing.open_car import OpenCar


@dataclass
class _Held:
    """A car that is held: its connection for this alone, and the heartbeat that says stop."""

    opened: OpenCar
    heartbeat: StopSourceHeartbeat


class RedFlag:
    """The flag over all cars. ``open_car`` opens one by name, with a session of its own."""

    def __init__(
        self, open_car: Callable[[str], Awaitable[OpenCar]], now_us: Callable[[], int]
    ) -> None:
        self.by = ""  # who raised it; "" while it is down
        self._open_car = open_car
        self._now_us = now_us
        self._since_us = 0
        self._held: dict[str, _Held] = {}
        self._missing: dict[str, str] = {}  # by name, why it is not held
        self._turn = asyncio.Lock()

    def raise_by(self, by: str) -> None:
        """Raise it. ``follow`` then brings it to the cars."""
        if not self.by:
            self._since_us = self._now_us()
        self.by = self.by or by

    def lift(self) -> None:
        self.by = ""

    def row(self) -> dict[str, object] | None:
        """Return what every page shows of it; None while it is down."""
        if not self.by:
            return None
        now_us = self._now_us()
        return {
            "by": self.by,
            "since_s": round((now_us - self._since_us) * 1e-6, 1),
            "held": sorted(
                it for it, held in self._held.items() if held.heartbeat.is_heard(now_us)
            ),
            "missing": self._missing,
        }

    async def follow(self, names: Iterable[str]) -> None:
        """Hold these cars while it is up, and let go of all others."""
        async with self._turn:
            wanted = set(names) if self.by else set()
            self._missing = {name: why for name, why in self._missing.items() if name in wanted}
            for name in self._held.keys() - wanted:
                await self._let_go(name)
            for name in wanted - self._held.keys():
                await self._hold(name)

    async def _hold(self, name: str) -> None:
        try:
            opened = await self._open_car(name)
        except TandemError as fault:
            self._missing[name] = fault.what
            return
        facts = opened.car.vehicle.stop_sources if opened.car.vehicle else ()
        if not any(one.name == FLEET for one in facts):
            self._missing[name] = f"its vehicle file has no [stop.sources.{FLEET}]"
            await opened.close()
            return
        self._missing.pop(name, None)
        heartbeat = StopSourceHeartbeat(opened.car, FLEET)
        heartbeat.set_state(runs=False)
        opened.car.heartbeats.append(heartbeat)
        self._held[name] = _Held(opened, heartbeat)

    async def _let_go(self, name: str) -> None:
        """Fall silent: the stop is a person's to clear, and a word that it may run is nobody's."""
        await self._held.pop(name).opened.close()
