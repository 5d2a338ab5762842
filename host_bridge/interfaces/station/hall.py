"""Bounds those who connected to the station and said nothing yet: so many, a share per login.

One that says nothing costs a file of this program all the same, and files are what each Stop needs.
So of too many the oldest go, of the login that has most. Whose a connection is Linux says, in a
list of all: it is read when there are too many, and never for one alone.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from websockets.asyncio.server import ServerConnection

from host_bridge.interfaces.station.loopback import logins_by_port
from host_bridge.transports.reserve import is_in_reserve

MOST = 64  # a browser's request is there within some ms of its connection


class Hall:
    """The hall of one server; ``connection`` makes what it serves."""

    def __init__(self) -> None:
        self._waiting: dict[Any, None] = {}  # in the order in which they came

    def connection(self) -> type[ServerConnection]:
        """Return the kind of connection that comes in by here, and leaves with its request or when
        it is lost."""
        hall = self

        class Guest(ServerConnection):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                super().connection_made(transport)
                hall.enter(self)

            def connection_lost(self, exc: Exception | None) -> None:
                hall.leave(self)
                super().connection_lost(exc)

        return Guest

    def enter(self, guest: ServerConnection) -> None:
        """Half of the login that has most go where there are too many, or this one has a file that
        is kept for Stop."""
        self._waiting[guest] = None
        end = guest.transport.get_extra_info("socket")
        is_last_file = end is not None and is_in_reserve(end.fileno())
        if len(self._waiting) > MOST or is_last_file:
            logins = self._logins()
            by_login = [
                it for it in self._waiting if logins(it) == most(map(logins, self._waiting))
            ]
            for it in by_login[: len(by_login) // 2 + 1]:
                self._send_away(it)

    def _logins(self) -> Callable[[Any], int]:
        """Return whose each connection is; -1 where the system does not say."""
        by_port = logins_by_port()
        return lambda it: by_port.get((it.transport.get_extra_info("peername") or ("", 0))[1], -1)

    def leave(self, guest: object) -> None:
        """It has said what it wants, or is gone."""
        self._waiting.pop(guest, None)

    def _send_away(self, guest: Any) -> None:
        self.leave(guest)
        guest.transport.abort()


def most(logins: Iterable[int]) -> int:
    """Return the one that is there most often."""
    return Counter(logins).most_common(1)[0][0]
