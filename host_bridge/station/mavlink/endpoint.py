"""The UDP socket to stations, and which addresses it may have.

Loopback unless an address beyond it is named; then only once a station was invited, for a network
authenticates nobody. Whoever is heard may stop the car all the same.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.station.mavlink.stations import Address, is_loopback

LOOPBACK = "127.0.0.1"
_HIGHEST_PORT = 65_535


def parse_address(text: str, option: str) -> Address:
    """Return HOST:PORT, looked up; the host in numbers. Raises errors.UsageFault."""
    host, _, port = text.rpartition(":")
    number = int(port) if port.isascii() and port.isdigit() else -1
    if not host or not 0 <= number <= _HIGHEST_PORT:
        raise UsageFault(
            "no address of a station",
            where=f"{option} {text}",
            expected="HOST:PORT",
            remedy=f"such as {option} {LOOPBACK}:14550",
        )
    try:
        found = socket.getaddrinfo(
            host.strip("[]"), number, type=socket.SOCK_DGRAM, family=socket.AF_UNSPEC
        )
    except OSError as error:
        raise UsageFault(
            "this host is not known", where=f"{option} {text}", got=str(error)
        ) from None
    return str(found[0][4][0]), number


def bind_address(to: Address | None, listen: Address | None, *, has_guests: bool) -> Address:
    """Return where to bind. Raises errors.UsageFault for a network of which nobody is invited."""
    for option, address in (("--to", to), ("--listen", listen)):
        if address and not has_guests and not is_loopback(address[0]):
            raise UsageFault(
                "an address beyond this machine needs a station that was invited: a network "
                "authenticates nobody, and an open port must not drive a car",
                where=f"{option} {address[0]}:{address[1]}",
                expected="the passphrase of an invitation in each station",
                got="nobody is invited to this car by MAVLink",
                remedy="tandem invite CAR --mavlink --role drive --label NAME prints one; without "
                f"it stay on {LOOPBACK}",
            )
    if listen:
        return listen
    if to is None or is_loopback(to[0]):
        return ("::1" if to and ":" in to[0] else LOOPBACK), 0
    return ("::" if ":" in to[0] else "0.0.0.0"), 0


class UdpEndpoint(asyncio.DatagramProtocol):
    """The socket: hands each datagram on as it comes, and sends without waiting."""

    def __init__(self, hear: Callable[[bytes, Address], None]) -> None:
        self._hear = hear
        self._transport: asyncio.DatagramTransport | None = None

    async def open(self, address: Address) -> Address:
        """Bind; return the address that it has. Raises errors.DeviceFault."""
        loop = asyncio.get_running_loop()
        try:
            made = await loop.create_datagram_endpoint(lambda: self, local_addr=address)
        except OSError as error:
            raise DeviceFault(
                "no UDP port for stations",
                where=f"{address[0]}:{address[1]}",
                got=error.strerror or str(error),
                remedy="another port with --listen; a ground station listens on 14550 itself",
            ) from None
        self._transport = made[0]
        name = self._transport.get_extra_info("sockname")
        return str(name[0]), int(name[1])

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._hear(data, (addr[0], addr[1]))

    def error_received(self, exc: Exception) -> None:
        """Do nothing: nobody listens there yet, and it is sent again in a moment."""

    def send(self, frame: bytes, address: Address) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.sendto(frame, address)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()
