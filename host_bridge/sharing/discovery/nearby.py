"""The list of cars that are announced on the networks of this machine."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from host_bridge.sharing.discovery.announcement import SERVICE, Announcement, parse_records
from host_bridge.sharing.discovery.multicast_dns import opened

if TYPE_CHECKING:
    from zeroconf import ServiceStateChange, Zeroconf
    from zeroconf.asyncio import AsyncServiceBrowser, AsyncZeroconf

_MOST = 64  # announcements that are looked at: more than a hall has cars
_ASKED_MS = 500  # for what an announcement lacks; an answer comes within 120 ms


@dataclass(frozen=True)
class NearbyCar:
    """A car that somebody announced. ``host`` is where, and neither is proven."""

    car: Announcement
    host: str
    port: int


async def nearby_cars(for_s: float) -> list[NearbyCar]:
    """Listen for so long; return the cars that are announced, by name. Raises errors.DeviceFault.

    What is announced is no more than a hint: a session with a car needs its token.
    """
    async with opened(None, has_ipv6=True) as speaker:
        names: dict[str, None] = {}
        browser = _browse(speaker, names)
        await asyncio.sleep(for_s)
        found = await asyncio.gather(*(_resolved(speaker, it) for it in names))
        await browser.async_cancel()
    cars = {it for it in found if it is not None}
    return sorted(cars, key=lambda it: (it.car.name, it.car.board_id, it.host))


def _browse(speaker: AsyncZeroconf, names: dict[str, None]) -> AsyncServiceBrowser:
    from zeroconf import ServiceStateChange
    from zeroconf.asyncio import AsyncServiceBrowser

    def heard(
        zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange
    ) -> None:
        if state_change is ServiceStateChange.Removed:
            names.pop(name, None)
        elif len(names) < _MOST:
            names[name] = None

    return AsyncServiceBrowser(speaker.zeroconf, SERVICE, handlers=[heard])


async def _resolved(speaker: AsyncZeroconf, name: str) -> NearbyCar | None:
    from zeroconf import BadTypeInNameException
    from zeroconf.asyncio import AsyncServiceInfo

    try:
        info = AsyncServiceInfo(SERVICE, name)
    except BadTypeInNameException:
        return None
    await info.async_request(speaker.zeroconf, _ASKED_MS)
    addresses = info.parsed_scoped_addresses()
    car = parse_records(info.properties)
    if car is None or not addresses or not info.port:
        return None
    return NearbyCar(car, addresses[0], info.port)
