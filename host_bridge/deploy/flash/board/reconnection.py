"""The opening of a car that restarts, because its board was reset after flashing or pairing."""

from __future__ import annotations

import asyncio

from host_bridge.core import KnownCar
from host_bridge.core.errors import AnotherCarFault, DeviceFault, ProtocolFault
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host

MEET_WITHIN_S = 30.0  # a reset, the mounting of a file system, an RP2040's second of imports
_AGAIN_S = 0.3  # between two tries: a port takes some tenths of a second to come back


async def reconnect(
    uri: str, host: Host, vehicle: str | None = None, expected_car: KnownCar | None = None
) -> OpenCar:
    """Open a car once it is there, in a session of its own.

    ``vehicle`` overrides its type, ``expected_car`` is the car that it has to be. Raises
    errors.TandemError if no car answers within half a minute, errors.AnotherCarFault.
    """
    loop = asyncio.get_running_loop()
    give_up_s = loop.time() + MEET_WITHIN_S
    while True:
        try:
            epoch = host.cars.new_epoch()
            return await host.cars.open(
                uri, epoch=epoch, vehicle=vehicle, expected_car=expected_car
            )
        except AnotherCarFault:
            raise
        except (DeviceFault, ProtocolFault):
            if loop.time() > give_up_s:
                raise
        await asyncio.sleep(_AGAIN_S)
