"""Bounds those who are connected to the station: a share per login, and of those who said nothing
yet so many.

Each costs a file of this program, and files are what each Stop needs. So of too many who say
nothing the oldest go, of the login that has most; and where a file was had that is kept for Stop,
that login's oldest, whatever they said.
"""

from __future__ import annotations

import os
import socket
from collections import Counter
from collections.abc import Callable, Iterable

from websockets.asyncio.server import ServerConnection

from host_bridge.sharing.stop.reserve import is_in_reserve
from host_bridge.station.server.rate_limited_listener import UNKNOWN_LOGIN

MOST = 64  # who say nothing: a browser's request is there within some ms of its connection
SHARE = 128  # of one login; a page has five


class ConnectionLimit:
    """The open connections of one server; ``login_of`` returns the login of a far end."""

    def __init__(self, login_of: Callable[[socket.socket], int]) -> None:
        self._login_of = login_of
        # In the order in which they came
        self._all: dict[ServerConnection, int] = {}
        self._waiting: dict[ServerConnection, None] = {}

    def connection_class(self) -> type[ServerConnection]:
        """Return the kind of connection that comes in by here, waits until its request is there,
        and is gone when it is lost."""
        limit = self

        class LimitedConnection(ServerConnection):
            def connection_made(self, transport: object) -> None:
                super().connection_made(transport)  # type: ignore[arg-type]
                limit.enter(self)

            def connection_lost(self, exc: Exception | None) -> None:
                limit.lose(self)
                super().connection_lost(exc)

        return LimitedConnection

    def enter(self, connection: ServerConnection) -> None:
        """Count a new connection; where there are too many, end the older half of one login's."""
        end = connection.transport.get_extra_info("socket")
        login = self._login_of(end)
        self._all[connection] = login
        self._waiting[connection] = None
        if is_in_reserve(end.fileno()):
            self._send_half_away(most_frequent(self._all.values()))
        elif self._count(login) > SHARE:
            self._send_half_away(login)
        elif len(self._waiting) > MOST:
            self._send_half_away(most_frequent(self._all[it] for it in self._waiting))

    def leave(self, connection: ServerConnection) -> None:
        """Count a connection as one that has said what it wants, and waits no more."""
        self._waiting.pop(connection, None)

    def lose(self, connection: ServerConnection) -> None:
        """Forget a connection that is gone."""
        self.leave(connection)
        self._all.pop(connection, None)

    def is_own(self, connection: ServerConnection) -> bool:
        """Return whether it is of the station's own login, as far as the system says."""
        return self._all.get(connection) in (os.getuid(), UNKNOWN_LOGIN)

    def _count(self, login: int) -> int:
        return sum(it == login for it in self._all.values())

    def _send_half_away(self, login: int) -> None:
        """The older half of this login's that wait; of one of which nobody waits, of all."""
        waiting = [it for it in self._waiting if self._all[it] == login]
        old = waiting or [it for it in self._all if self._all[it] == login]
        for it in old[: len(old) // 2 + 1]:
            self.lose(it)
            it.transport.abort()


def most_frequent(logins: Iterable[int]) -> int:
    """Return the login that occurs most often."""
    return Counter(logins).most_common(1)[0][0]
