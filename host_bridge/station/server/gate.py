"""The socket at which a station listens: it lets in so many connections a second of each login.

To let one in costs this program a hundred times as much as to make one costs whoever makes it. So
each login has a share, as it has at a car's stop socket, and who comes too often is sent away
before they cost more than that.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from collections.abc import Callable
from typing import Any

from host_bridge.sharing.owner.admission import Allowance
from host_bridge.sharing.stop.stop_sockets import OUT_OF

# A page that is opened makes some twenty, and one whose Stop is pressed three a second
COMES_PER_S, COMES_AT_ONCE = 60.0, 100
_AT_ONCE = 64  # taken before anything else of this program has its turn: some 5 ms
_MOST_REST_S = 0.01
_BACKLOG = 1024  # of a full one the system drops who comes, and a browser tries again after 1 s
_LOGINS = 256  # whose shares are kept
GONE, NOBODY_SAYS = -2, -1
# Linux, sock_diag(7): of one socket, by its two addresses, whose it is
_PROTOCOL, _BY_FAMILY, _REQUEST = 4, 20, 1
_HEADER, _ASKED, _STATES = struct.Struct("=IHHII"), struct.Struct("=BBBBI"), 0xFFFF_FFFF
_SAID, _SAID_AT = struct.Struct("=IIIII"), 16 + 4 + 48  # behind two headers and the addresses


class Gate:
    """Listens at an address from ``open`` to ``close``; ``admitted`` is what a server is given for
    its listening socket.

    To send away is what a flood makes us do. As at a car's stop socket it gets a third of this
    program's time at most: the system lets a program wait that computes all the time.
    """

    def __init__(self, host: str, port: int, now_us: Callable[[], int]) -> None:
        """Raises OSError where the address is taken."""
        self._listening = socket.create_server((host, port), backlog=_BACKLOG)
        self._listening.setblocking(False)
        self.admitted = Admitted()
        self._now_us = now_us
        self._logins = Logins()
        self._shares: dict[int, Allowance] = {}
        self.sent_away = 0

    @property
    def address(self) -> tuple[str, int]:
        """Return the address and port that it listens at."""
        host, port = self._listening.getsockname()
        return host, port

    def open(self) -> None:
        """Let people in from now on, in the event loop that runs."""
        asyncio.get_running_loop().add_reader(self._listening, self._come)

    def close(self) -> None:
        """Let nobody in any more; those who are in stay."""
        if self._listening.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self._listening)
            self._listening.close()
            self.admitted.close()
            self._logins.close()

    def login_of(self, end: socket.socket) -> int:
        """Return the login of the far end; ``NOBODY_SAYS`` where the system does not say."""
        return self._logins.of(end)

    def _come(self) -> None:
        begun_us, sent_away = self._now_us(), self.sent_away
        has_files = self._let_in()
        took_s = (self._now_us() - begun_us) * 1e-6
        if not has_files:  # those who wait would wake this program again and again for nothing
            self._rest(_MOST_REST_S)
        elif self.sent_away > sent_away:
            self._rest(min(2 * took_s, _MOST_REST_S))

    def _let_in(self) -> bool:
        """Accept all that wait; return False where this program has no file for one more."""
        for _ in range(_AT_ONCE):
            try:
                end, address = self._listening.accept()
            except BlockingIOError:
                return True
            except OSError as error:  # who knocked went away again; or no file is left
                if error.errno in OUT_OF:
                    return False
                continue
            if self._may_come(self._logins.of(end)):
                self.admitted.put(end, address)
            else:
                self.sent_away += 1
                end.close()
        return True

    def _rest(self, for_s: float) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listening)
        loop.call_later(for_s, self._listen_again)

    def _listen_again(self) -> None:
        if self._listening.fileno() >= 0:
            self.open()

    def _may_come(self, uid: int) -> bool:
        if uid == GONE:
            return False
        if uid not in self._shares:
            if len(self._shares) >= _LOGINS:  # the first is forgotten: it has all anew
                del self._shares[next(iter(self._shares))]
            self._shares[uid] = Allowance(COMES_PER_S, COMES_AT_ONCE)
        share = self._shares[uid]
        if not share.has(1, self._now_us()):
            return False
        share.take(1)
        return True


class Admitted(socket.socket):
    """A socket that stands in for a server's listening one.

    It is readable, and has a connection to accept, while one that was let in waits.
    """

    def __init__(self) -> None:
        mine, self._wake = socket.socketpair()
        self._came: deque[tuple[socket.socket, Any]] = deque()
        super().__init__(fileno=mine.detach())
        self.setblocking(False)
        self._wake.setblocking(False)

    def put(self, end: socket.socket, address: Any) -> None:
        """Let this one be accepted; sent away where too many wait for that."""
        try:
            self._wake.send(b".")
        except OSError:
            end.close()
        else:
            self._came.append((end, address))

    def accept(self) -> tuple[socket.socket, Any]:
        """Raises BlockingIOError where nobody waits."""
        self.recv(1)
        return self._came.popleft()

    def listen(self, backlog: int = 0, /) -> None:
        """It does already."""

    def close(self) -> None:
        """Send those away who were not accepted."""
        super().close()
        self._wake.close()
        while self._came:
            self._came.pop()[0].close()


class Logins:
    """Asks Linux whose a connection on this machine is; elsewhere all are one login's."""

    def __init__(self) -> None:
        self._asks: socket.socket | None = None
        try:
            self._asks = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _PROTOCOL)
            self._asks.settimeout(0.1)  # the system answers within the call
        except (AttributeError, OSError):  # another system, or one that forbids it
            pass

    def of(self, end: socket.socket) -> int:
        """The login of the far end; ``GONE`` if nobody has it any more, ``NOBODY_SAYS``."""
        if self._asks is None:
            return NOBODY_SAYS
        try:
            self._asks.send(_question(end.getpeername(), end.getsockname()))
            said = self._asks.recv(4096)
        except OSError:
            return NOBODY_SAYS
        if _HEADER.unpack_from(said)[1] != _BY_FAMILY:  # there is no such socket any more
            return GONE
        *_, uid, inode = _SAID.unpack_from(said, _SAID_AT)
        return uid if inode else GONE  # closed at its end, and so the login of nobody

    def close(self) -> None:
        if self._asks:
            self._asks.close()


def _question(here: tuple[str, int], there: tuple[str, int]) -> bytes:
    """Make the request for the socket that has this address and is connected to that one."""
    ports = struct.pack("!HH", here[1], there[1])
    addresses = b"".join(socket.inet_aton(it[0]) + bytes(12) for it in (here, there))
    cookie = struct.pack("=III", 0, _STATES, _STATES)  # any interface, and no cookie
    asked = _ASKED.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0, _STATES)
    size = _HEADER.size + len(asked) + len(ports + addresses + cookie)
    return _HEADER.pack(size, _BY_FAMILY, _REQUEST, 0, 0) + asked + ports + addresses + cookie
