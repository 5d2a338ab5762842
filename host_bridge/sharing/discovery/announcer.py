"""The announcing of a served car while it listens, and its farewell."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from host_bridge.core.errors import DeviceFault
from host_bridge.sharing.discovery.announcement import SERVICE, Announcement, parse_records
from host_bridge.sharing.discovery.multicast_dns import opened
from host_bridge.sharing.network.sealed.handshake import Address
from host_bridge.sharing.network.stops.fleet_sockets import own_addresses

if TYPE_CHECKING:
    from zeroconf.asyncio import AsyncServiceInfo

_PLAIN = "serve it by a --name of at most 32 letters, digits, dots, dashes and underscores"


@asynccontextmanager
async def announced(
    car: Announcement, address: Address, tell: Callable[[str], None]
) -> AsyncIterator[None]:
    """Announce a car that listens at this address of the machine, until the block ends.

    What keeps it from being announced is told, and the car is served all the same. A car that
    listens at loopback is announced nowhere.
    """
    async with AsyncExitStack() as stack:
        try:
            await _announce(stack, car, address)
        except DeviceFault as fault:
            tell(f"not announced on the network: {fault.what}; {fault.remedy}")
        yield


async def _announce(stack: AsyncExitStack, car: Announcement, address: Address) -> None:
    host = ipaddress.ip_address(address[0].partition("%")[0])
    if host.is_loopback:
        return
    its = None if host.is_unspecified else address[0]
    # Its end takes the announcement back
    speaker = await stack.enter_async_context(opened(its, has_ipv6=":" in address[0]))
    if parse_records(car.records()) != car:
        raise DeviceFault("nobody would list a car of this name", got=car.name, remedy=_PLAIN)
    # Another may have announced that board already, truly or not: both are listed then
    await speaker.async_register_service(_service(car, address), allow_name_change=True)


def _service(car: Announcement, address: Address) -> AsyncServiceInfo:
    from zeroconf.asyncio import AsyncServiceInfo

    host = ipaddress.ip_address(address[0].partition("%")[0])
    at = own_addresses() if host.is_unspecified else [str(host)]
    return AsyncServiceInfo(
        SERVICE,
        car.instance,
        port=address[1],
        properties=car.records(),
        # One that nobody else has: the machine's own name stays private
        server=f"tandem-{secrets.token_hex(4)}.local.",
        parsed_addresses=at,
    )
