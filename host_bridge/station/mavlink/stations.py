"""The stations that are heard, each for 5 s after its last message, and what it may do."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Flag, auto

from host_bridge.core.system.printable import printable
from host_bridge.sharing.endpoints.attached import Attached
from host_bridge.station.mavlink.keys import StationKey
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


def rights(key: StationKey | None, *, is_local: bool, is_virtual: bool) -> Right:
    """Return what a message lets its station do; ``key`` is the one that it is signed with.

    Any program of this machine may send to a loopback port, so that alone drives no real car: it
    takes the key of an invitation to drive. Who is elsewhere needs a key for everything, and writes
    no parameter.
    """
    if not (is_local or key):
        return NONE
    is_driver = (key is not None and key.may_drive) or (is_local and is_virtual)
    driving = Right.DRIVE if is_driver else NONE
    writing = Right.CONFIGURE if is_driver and is_local else NONE
    return Right.WATCH | driving | writing


def is_loopback(host: str) -> bool:
    """Return whether an address in numbers is this machine's own."""
    return ipaddress.ip_address(host.partition("%")[0]).is_loopback


@dataclass(eq=False)  # one object each: who holds the car is told by it
class Station:
    """A system and component that was heard from an address.

    ``key`` is the one with which it signed within the last 5 s.
    """

    address: Address
    system: int
    component: int
    is_local: bool
    heard_us: int
    key: StationKey | None = None
    signed_us: int = 0

    @property
    def is_signed(self) -> bool:
        return self.key is not None

    @property
    def place(self) -> str:
        """Its own word for itself, and whence it comes: both can be invented."""
        host, port = self.address
        return f"{self.system}/{self.component} at {host}:{port}"

    def __str__(self) -> str:
        return f"{printable(self.key.label)}, {self.place}" if self.key else self.place


class Stations:
    """The stations by address, system and component."""

    def __init__(self) -> None:
        self._all: dict[tuple[Address, int, int], Station] = {}

    def hear(self, address: Address, heard: HeardMessage, now_us: int) -> tuple[Station, bool]:
        """Take a message; return its station, and whether who that is is news.

        Who is elsewhere and signs nothing is not kept: such addresses cost nothing to invent.
        """
        key = (address, heard.system, heard.component)
        known = self._all.get(key)
        station = known or Station(
            address, heard.system, heard.component, is_loopback(address[0]), now_us
        )
        station.heard_us = now_us
        is_new = known is None or (heard.key is not None and heard.key != station.key)
        if heard.key:
            station.key, station.signed_us = heard.key, now_us
        elif now_us - station.signed_us >= HEARD_US:
            station.key = None
        is_new = is_new and (station.is_local or station.is_signed)
        if is_new and len(self._all) < _MOST:
            self._all[key] = station
        return station, is_new

    def forget_silent(self, now_us: int) -> list[Station]:
        """Forget those that were not heard for 5 s, and return them."""
        gone = [key for key, it in self._all.items() if now_us - it.heard_us >= HEARD_US]
        return [self._all.pop(key) for key in gone]

    def without_key(self, keys: Sequence[StationKey]) -> list[Station]:
        """Return those who signed with a key that is none any more."""
        return [it for it in self._all.values() if it.key is not None and it.key not in keys]

    def key_at(self, address: Address) -> StationKey | None:
        """Return the key of the station that signed last at an address."""
        signed = [it for it in self._all.values() if it.key and it.address == address]
        return max(signed, key=lambda it: it.signed_us).key if signed else None

    def watching(self) -> list[Address]:
        """Return where reports go: to each address of which a station may watch."""
        may = [it.address for it in self._all.values() if it.is_local or it.is_signed]
        return list(dict.fromkeys(may))

    def attached(self, drives: Callable[[Station], bool]) -> list[Attached]:
        """Return who is connected, for whoever shows it; ``drives`` tells who has the armed car."""
        return [
            Attached(
                "MAVLink",
                f"{it.system}/{it.component}",
                f"{it.address[0]}:{it.address[1]}",
                it.is_signed,
                drives(it),
                it.key.label if it.key else "",
            )
            for it in self._all.values()
        ]
