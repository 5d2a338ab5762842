"""The sockets that hear the stop of a fleet, and the interfaces to which it goes."""

from __future__ import annotations

import fcntl
import ipaddress
import socket
import struct
from dataclasses import dataclass

from host_bridge.sharing.network.stops.fleet_messages import GROUP_IPV4, GROUP_IPV6, PORT

_SIOCGIFFLAGS, _SIOCGIFADDR, _SIOCGIFBRDADDR = 0x8913, 0x8915, 0x8919  # netdevice(7)
_IFF_UP, _IFF_BROADCAST, _IFF_LOOPBACK = 0x1, 0x2, 0x8  # netdevice(7)


@dataclass(frozen=True)
class Interface:
    """An interface that is up, of another network than this machine itself; "" for no address."""

    name: str
    index: int
    ipv4: str
    broadcast: str


def interfaces() -> list[Interface]:
    """Return the interfaces of this machine, without loopback."""
    found: list[Interface] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        for index, name in socket.if_nameindex():
            flags = _asked(end, _SIOCGIFFLAGS, name)
            bits = int.from_bytes(flags[:2], "little") if flags else 0
            if bits & _IFF_UP and not bits & _IFF_LOOPBACK:
                broadcast = _address(end, _SIOCGIFBRDADDR, name) if bits & _IFF_BROADCAST else ""
                found.append(Interface(name, index, _address(end, _SIOCGIFADDR, name), broadcast))
    return found


def own_addresses() -> list[str]:
    """Return the IPv4 addresses of this machine's interfaces."""
    return [it.ipv4 for it in interfaces() if it.ipv4]


def fleet_sockets(address: str) -> list[socket.socket]:
    """Return the sockets that hear stops of fleets at an address of this machine, bound.

    Broadcasts and groups of its interface, or of all of them. None for loopback, where there is no
    network, and none where the system gives none: then the car's own port hears them all the same.
    """
    host = ipaddress.ip_address(address.partition("%")[0])
    if host.is_loopback:
        return []
    its = [it for it in interfaces() if host.is_unspecified or it.ipv4 == address]
    found: list[socket.socket] = []
    if host.version == 4 or host.is_unspecified:
        found += _heard_by(_ipv4_socket, its)
    if host.version == 6:  # of the Internet Protocol
        found += _heard_by(_ipv6_socket, interfaces())
    return found


def _heard_by(make: object, its: list[Interface]) -> list[socket.socket]:
    try:
        return [make(its)]  # type: ignore[operator]
    except OSError:
        return []


def _ipv4_socket(its: list[Interface]) -> socket.socket:
    end = _shared(socket.AF_INET)
    end.bind(("", PORT))  # broadcasts reach no socket that is bound to an address
    for it in its:
        if it.ipv4:
            group = socket.inet_aton(GROUP_IPV4) + socket.inet_aton(it.ipv4)
            _joined(end, socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
    return end


def _ipv6_socket(its: list[Interface]) -> socket.socket:
    end = _shared(socket.AF_INET6)
    end.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    end.bind(("::", PORT))
    for it in its:
        group = socket.inet_pton(socket.AF_INET6, GROUP_IPV6) + struct.pack("@I", it.index)
        _joined(end, socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group)
    return end


def _shared(family: socket.AddressFamily) -> socket.socket:
    """Return a socket whose port every car of this machine may have too: each hears all."""
    end = socket.socket(family, socket.SOCK_DGRAM)
    end.setblocking(False)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return end


def _joined(end: socket.socket, level: int, option: int, group: bytes) -> None:
    try:  # noqa: SIM105 - contextlib takes 2 ms to import, which tandem stop has not
        end.setsockopt(level, option, group)
    except OSError:  # an interface without groups, or which has just gone
        pass


def _asked(end: socket.socket, request: int, name: str) -> bytes:
    """Return what an interface answers to a request, after its name; b"" for nothing."""
    try:
        return fcntl.ioctl(end, request, struct.pack("256s", name.encode()[:15]))[16:]
    except OSError:
        return b""


def _address(end: socket.socket, request: int, name: str) -> str:
    found = _asked(end, request, name)
    return socket.inet_ntoa(found[4:8]) if found else ""
