"""The stations that are heard, each for 5 s after its last message, and what it may do."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from enum import Flag, auto

from host_bridge.station.mavlink.messages.dialect import HeardMessage

Address = tuple[str, int]  # host in numbers, port

HEARD_US = 5_000_000  # five of a station's heartbeats
_MOST = 16  # more than a lab has screens; beyond it nobody new is told anything


class Right(Flag):
    """The rights of a station besides stopping, which everybody may."""

    WATCH = auto()
    DRIVE = auto()
    CONFIGURE = auto()


NONE = Right(0)


def rights(*, is_local: bool, is_signed: bool, is_virtual: bool) -> Right:
    """Return what a message lets its station do.

    Any program of this machine may send to a loopback port, so that alone drives no real car: it
    takes the key. Who is elsewhere needs the key for everything, and writes no parameter.
    """
    if not (is_local or is_signed):
        return NONE
    driving = Right.DRIVE if is_signed or is_virtual else NONE
    writing = Right.CONFIGURE if is_local and (is_signed or is_virtual) else NONE
    return Right.WATCH | driving | writing


def is_loopback(host: str) -> bool:
    """Return whether an address in numbers is this machine's own."""
    return ipaddress.ip_address(host.partition("%")[0]).is_loopback


@dataclass(eq=False)  # one object each: who holds the car is told by it
class Station:
    """A system and component that was heard from an address; ``is_signed`` within the last 5 s."""

    address: Address
    system: int
    component: int
    is_local: bool
    heard_us: int
    is_signed: bool = False
    signed_us: int | None = None

    def __str__(self) -> str:
        host, port = self.address
        return f"{self.system}/{self.component} at {host}:{port}"


class Stations:
    """The stations by address, system and component."""

    def __init__(self) -> None:
        self._all: dict[tuple[Address, int, int], Station] = {}

    def hear(self, address: Address, heard: HeardMessage, now_us: int) -> tuple[Station, bool]:
        """Take a message; return its station, and whether it is new among those that are kept.

        Who is elsewhere and signs nothing is not kept: such addresses cost nothing to invent.
        """
        key = (address, heard.system, heard.component)
        known = self._all.get(key)
        station = known or Station(
            address, heard.system, heard.component, is_loopback(address[0]), now_us
        )
        station.heard_us = now_us
        station.signed_us = now_us if heard.is_signed else station.signed_us
        signed_us = station.signed_us
        station.is_signed = signed_us is not None and now_us - signed_us < HEARD_US
        is_new = known is None and (station.is_local or station.is_signed)
        if is_new and len(self._all) < _MOST:
            self._all[key] = station
        return station, is_new

    def forget_silent(self, now_us: int) -> list[Station]:
        """Forget those that were not heard for 5 s, and return them."""
        gone = [key for key, it in self._all.items() if now_us - it.heard_us >= HEARD_US]
        return [self._all.pop(key) for key in gone]

    def watching(self) -> list[Address]:
        """Return where reports go: to each address of which a station may watch."""
        may = [it.address for it in self._all.values() if it.is_local or it.is_signed]
        return list(dict.fromkeys(may))

    def all(self) -> list[Station]:
        return list(self._all.values())
