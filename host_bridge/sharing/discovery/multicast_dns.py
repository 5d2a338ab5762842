"""The library of multicast DNS, which a machine may lack, and its sockets while they are needed."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from host_bridge.core.errors import DeviceFault

if TYPE_CHECKING:
    from zeroconf.asyncio import AsyncZeroconf

_PYTHON = (3, 11)  # the oldest for which the newest library is made
_BY_ADDRESS = "name cars by their address: tandem://ADDRESS/NAME"


def _refuse_without() -> None:
    if sys.version_info < _PYTHON:
        raise DeviceFault(
            "cars are found by themselves from Python 3.11 on",
            got=sys.version.split()[0],
            remedy=_BY_ADDRESS,
        )
    if find_spec("zeroconf") is None:
        raise DeviceFault(
            "zeroconf is not installed",
            remedy=f"pip install 'tandem-cars[discovery]'; or {_BY_ADDRESS}",
        )


@asynccontextmanager
async def opened(address: str | None, has_ipv6: bool) -> AsyncIterator[AsyncZeroconf]:
    """Speak multicast DNS at an address of this machine, or at all of them, in the block.

    Raises errors.DeviceFault.
    """
    _refuse_without()
    from zeroconf import InterfaceChoice, IPVersion
    from zeroconf.asyncio import AsyncZeroconf

    try:
        speaker = AsyncZeroconf(
            interfaces=InterfaceChoice.All if address is None else [address],
            ip_version=IPVersion.All if has_ipv6 else IPVersion.V4Only,
        )
    except (OSError, RuntimeError) as error:  # no such address, no multicast, no interface
        raise DeviceFault(
            "multicast DNS cannot be spoken here",
            where=address or "any address",
            got=str(error),
            remedy=_BY_ADDRESS,
        ) from None
    try:
        yield speaker
    finally:
        await speaker.async_close()
