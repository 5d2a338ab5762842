"""Announces a car that is not here, until it is ended: ``forger NAME BOARD ADDRESS PORT``."""

import asyncio
import socket
import sys

from host_bridge.link.protocol.wire import own_protocol_hash
from host_bridge.sharing.discovery.announcement import announcement_of
from host_bridge.sharing.discovery.announcer import announced

NAME, BOARD, ADDRESS, PORT = sys.argv[1:]


async def main() -> None:
    """It hears whoever follows the announcement, and tells how much they said."""
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.bind((ADDRESS, int(PORT)))
    end.setblocking(False)
    car = announcement_of(NAME, BOARD, own_protocol_hash(), "nigel", 0)
    async with announced(car, (ADDRESS, int(PORT)), print):
        print("announced", flush=True)
        while True:
            data, address = await asyncio.get_running_loop().sock_recvfrom(end, 65_536)
            print(f"heard {data[0]:#04x} of {len(data)} bytes", flush=True)
            end.sendto(data, address)


asyncio.run(main())
