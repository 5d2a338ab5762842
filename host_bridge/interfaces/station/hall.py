"""Limits the connections to the station that have sent no request yet, per login.

Such a connection occupies a file of this program, and each Stop needs files. If there are too many,
the oldest of the login with the most are closed. Linux tells the login of a connection in a list of
all, so that list is read only when there are too many, and never for a single one.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from websockets.asyncio.server import ServerConnection

from host_bridge.interfaces.station.loopback import logins_by_port
from host_bridge.transports.reserve import is_in_reserve

MOST = 64  # a browser sends its request within some ms of connecting, so few wait at a time


class Hall:
    """The waiting connections of one server; ``connection`` makes the class that it serves."""

    def __init__(self) -> None:
        self._waiting: dict[Any, None] = {}  # in order of arrival

    def connection(self) -> type[ServerConnection]:
        """Return the connection class, which registers here until its request or its loss."""
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
        """Add a connection; if there are too many, close half of those of the login with the most.

        The same happens if it took one of the files that are reserved for Stop.
        """
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
        """Return a function that gives a connection's user id.

        -1 where the system does not tell.
        """
        by_port = logins_by_port()
        return lambda it: by_port.get((it.transport.get_extra_info("peername") or ("", 0))[1], -1)

    def leave(self, guest: object) -> None:
        """Remove a connection that has sent its request, or is gone."""
        self._waiting.pop(guest, None)

    def _send_away(self, guest: Any) -> None:
        self.leave(guest)
        guest.transport.abort()


def most(logins: Iterable[int]) -> int:
    """Return the login that occurs most often."""
    return Counter(logins).most_common(1)[0][0]
