"""A guest who only stays: ``session.py URI`` prints "in", and "over" with the date when it ends."""

import asyncio
import sys
import time

from host_bridge.link.transports.uri import Uri
from host_bridge.sharing.endpoints.naming import parts_of
from host_bridge.sharing.network.invitations import invitations_to
from host_bridge.sharing.network.network_car import NetworkCar


async def stay(uri: str) -> None:
    over = asyncio.get_running_loop().create_future()
    tokens = invitations_to(parts_of(uri)[2], uri)
    car = NetworkCar(Uri.parse(uri), tokens, lambda: time.monotonic_ns() // 1000)
    await car.open(lambda data: None, lambda fault: over.set_result(time.time()))
    print("in", flush=True)
    print("over", await over, flush=True)


if __name__ == "__main__":
    asyncio.run(stay(sys.argv[1]))
