"""The acceptor of a socket that is open to every login: so many connections a second of each.

All who wait are taken at once, for one at a time a login that connects without end would fill the
queue. To send connections away is what a flood makes us do. It gets a third of this program's time
at most: the system lets a program wait that computes all the time, and a Stop with it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any, NamedTuple

from host_bridge.sharing.owner.admission import TokenBucket
from host_bridge.sharing.stop.stop_sockets import OUT_OF

GONE = -2  # the login of a connection whose far end nobody has any more
_LOGINS = 256  # whose shares are kept
_MOST_REST_S = 0.01  # a step of a car: a Stop that waits for it comes one step later


class Rates(NamedTuple):
    """The rates at which connections are accepted.

    ``per_s`` is of one login, in connections a second; ``at_once`` of them may come together.
    ``in_turn`` is how many are accepted before anything else has its turn.
    """

    per_s: float
    at_once: int
    in_turn: int


class Acceptor:
    """Listens from ``open`` to ``close``, and counts in ``sent_away`` who came too often.

    ``login_of`` tells a connection's login, or ``GONE``. ``enter`` gets a connection that is let
    in, the address of its far end and its login. ``make_room`` frees a file where this
    program has none left, and returns whether it could; ``crowded`` is called after a flood.
    """

    def __init__(
        self,
        rates: Rates,
        now_us: Callable[[], int],
        login_of: Callable[[socket.socket], int],
        enter: Callable[[socket.socket, Any, int], object],
        *,
        make_room: Callable[[], bool] = lambda: False,
        crowded: Callable[[], object] = lambda: None,
    ) -> None:
        self.sent_away = 0
        self._rates = rates
        self._now_us = now_us
        self._login_of = login_of
        self._enter = enter
        self._make_room = make_room
        self._crowded = crowded
        self._shares: dict[int, TokenBucket] = {}  # of each login
        self._listening: socket.socket | None = None

    def open(self, listening: socket.socket) -> None:
        """Accept at this socket, which does not block, in the event loop that runs."""
        self._listening = listening
        asyncio.get_running_loop().add_reader(listening, self.accept_all)

    def close(self) -> None:
        """Close the socket, if it is open; those who were let in stay."""
        if self._listening:
            asyncio.get_running_loop().remove_reader(self._listening)
            self._listening.close()
            self._listening = None

    def accept_all(self) -> None:
        """Let all in who wait and may come; then rest, if there were too many."""
        if not self._listening:
            return
        begun_us, sent_away = self._now_us(), self.sent_away
        has_files = self._take(self._listening)
        took_s = (self._now_us() - begun_us) * 1e-6
        if not has_files:  # those who wait would wake this program again and again for nothing
            self._rest(_MOST_REST_S)
        elif self.sent_away > sent_away:
            self._rest(min(2 * took_s, _MOST_REST_S))
            self._crowded()

    def may_come(self, login: int) -> bool:
        """Count one connection of this login; return False if it has come too often."""
        if login not in self._shares:
            if len(self._shares) >= _LOGINS:  # the first one is forgotten: it has all anew
                del self._shares[next(iter(self._shares))]
            self._shares[login] = TokenBucket(self._rates.per_s, self._rates.at_once)
        share = self._shares[login]
        if not share.has(1, self._now_us()):
            return False
        share.take(1)
        return True

    def _take(self, listening: socket.socket) -> bool:
        """Accept those who wait; return False where this program has no file for one more."""
        for _ in range(self._rates.in_turn):
            try:
                end, address = listening.accept()
            except BlockingIOError:
                return True
            except OSError as error:  # who knocked went away again; or no file is left
                if error.errno in OUT_OF and not self._make_room():
                    return False
                continue
            login = self._login_of(end)
            if login != GONE and self.may_come(login):
                self._enter(end, address, login)
            else:
                self.sent_away += 1
                end.close()
        return True

    def _rest(self, for_s: float) -> None:
        loop = asyncio.get_running_loop()
        if self._listening:
            loop.remove_reader(self._listening)
            loop.call_later(for_s, self._listen_again)

    def _listen_again(self) -> None:
        if self._listening:
            self.open(self._listening)
