"""Bounds those who are connected to the station: a share per login, and of those who said nothing
yet so many.

Each costs a file of this program, and files are what each Stop needs. So of too many who say
nothing the oldest go, of the login that has most; and where a file was had that is kept for Stop,
that login's oldest, whatever they said. A page of another origin has the login of the browser that
it is in, and so of whoever has the seat: such strangers have a small share of their login's, and go
before the station's own page does.
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
KEPT = 16  # of the station's own login: three pages, which stay whatever files others hold
STRANGERS = 32  # of one login's, those of foreign pages that stay: each may stop, and nothing else


class ConnectionLimit:
    """The open connections of one server; ``login_of`` returns the login of a far end."""

    def __init__(self, login_of: Callable[[socket.socket], int]) -> None:
        self._login_of = login_of
        # In the order in which they came
        self._all: dict[ServerConnection, int] = {}
        self._waiting: dict[ServerConnection, None] = {}
        self._strangers: dict[ServerConnection, None] = {}

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
            self._make_room(connection)
        elif self._count(login) > SHARE:
            self._send_half_away(login)
        elif len(self._waiting) > MOST:
            self._send_half_away(most_frequent(self._all[it] for it in self._waiting))

    def leave(self, connection: ServerConnection, *, is_stranger: bool = False) -> None:
        """Count a connection as one that has said what it wants, and waits no more.

        ``is_stranger``: a page of another origin opened it.
        """
        self._waiting.pop(connection, None)
        if not is_stranger or connection not in self._all:
            return
        self._strangers[connection] = None
        login = self._all[connection]
        theirs = [it for it in self._strangers if self._all[it] == login]
        if len(theirs) > STRANGERS:
            self._send_away(theirs[: len(theirs) // 2 + 1])

    def lose(self, connection: ServerConnection) -> None:
        """Forget a connection that is gone."""
        self._waiting.pop(connection, None)
        self._strangers.pop(connection, None)
        self._all.pop(connection, None)

    def is_own(self, connection: ServerConnection) -> bool:
        """Return whether it is of the station's own login, as far as the system says."""
        return self._all.get(connection) in (os.getuid(), UNKNOWN_LOGIN)

    def _count(self, login: int) -> int:
        return sum(it == login for it in self._all.values())

    def _make_room(self, connection: ServerConnection) -> None:
        """One came by a file that is kept for Stop: others go, or it goes itself. What comes of the
        station's own login may be a page's Stop, and goes only where there are many of it."""
        others = [it for it in self._all.values() if it not in (os.getuid(), UNKNOWN_LOGIN)]
        is_own = self.is_own(connection)
        if is_own and not others and self._count(self._all[connection]) <= KEPT:
            return
        most = most_frequent(others if is_own and others else self._all.values())
        if not self._send_half_away(most):
            self._send_away([connection])

    def _send_half_away(self, login: int) -> bool:
        """The older half of this login's that wait; of one of which nobody waits, of its strangers;
        and where there are none, of all. False where nobody went: the station's own pages stay.

        Others may hold all files while they wait to be let in. They are not known here yet, so that
        the login that has most here may be the page's.
        """
        for kind in (self._waiting, self._strangers, self._all):
            old = [it for it in kind if self._all[it] == login]
            if old and kind is self._all and self.is_own(old[0]) and len(old) <= KEPT:
                return False
            if old:
                self._send_away(old[: len(old) // 2 + 1])
                return True
        return False

    def _send_away(self, connections: Iterable[ServerConnection]) -> None:
        for it in connections:
            self.lose(it)
            it.transport.abort()


def most_frequent(logins: Iterable[int]) -> int:
    """Return the login that occurs most often."""
    return Counter(logins).most_common(1)[0][0]
