"""The socket at which a station listens: it lets in so many connections a second of each login.

To let one in costs this program a hundred times as much as to make one costs whoever makes it. So
each login has a share, as it has at a car's stop socket, and who comes too often is sent away
before they cost more than that.
"""

from __future__ import annotations

import socket
import struct
from collections import deque
from collections.abc import Callable
from typing import Any

from host_bridge.sharing.stop.acceptor import GONE, Acceptor, Rates

# A page that is opened makes some twenty, and one whose Stop is pressed three a second
COMES_PER_S, COMES_AT_ONCE = 60.0, 100
_IN_TURN = 64  # taken before anything else of this program has its turn: some 5 ms
_BACKLOG = 1024  # of a full one the system drops who comes, and a browser tries again after 1 s
UNKNOWN_LOGIN = -1
# Linux, sock_diag(7): of one socket, by its two addresses, whose it is
_PROTOCOL, _BY_FAMILY, _REQUEST = 4, 20, 1
_HEADER = struct.Struct("=IHH8x")  # size, kind, flags
_ASKED = struct.Struct("=BB6x")  # family, protocol
_PORTS, _ADDRESSES = struct.Struct("!HH"), struct.Struct("=4s12x4s12x")
_ANY_INTERFACE_NO_COOKIE = bytes.fromhex("00000000 ffffffff ffffffff")
_ANSWER = struct.Struct("=4xH10x 4x48x 12xII")  # kind; behind two headers and addresses uid, inode


class RateLimitedListener:
    """Listens at an address from ``open`` to ``close``; ``admitted`` is what a server is given for
    its listening socket."""

    def __init__(self, host: str, port: int, now_us: Callable[[], int]) -> None:
        """Raises OSError where the address is taken."""
        self._listening = socket.create_server((host, port), backlog=_BACKLOG)
        self._listening.setblocking(False)
        self.admitted = AdmittedSocket()
        self._logins = PeerLogins()
        self.acceptor = Acceptor(
            Rates(COMES_PER_S, COMES_AT_ONCE, _IN_TURN),
            now_us,
            self.login_of,
            lambda end, address, _: self.admitted.put(end, address),
        )

    @property
    def address(self) -> tuple[str, int]:
        """Return the address and port that it listens at."""
        host, port = self._listening.getsockname()
        return host, port

    def open(self) -> None:
        """Let people in from now on, in the event loop that runs."""
        self.acceptor.open(self._listening)

    def close(self) -> None:
        """Let nobody in any more; those who are in stay."""
        self.acceptor.close()
        self._listening.close()
        self.admitted.close()
        self._logins.close()

    def login_of(self, end: socket.socket) -> int:
        """Return the login of the far end; ``UNKNOWN_LOGIN`` where the system does not say."""
        return self._logins.of(end)


class AdmittedSocket(socket.socket):
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

    def listen(self, backlog: int | None = None, /) -> None:
        """It does already."""

    def close(self) -> None:
        """Send those away who were not accepted."""
        super().close()
        self._wake.close()
        while self._came:
            self._came.pop()[0].close()


class PeerLogins:
    """Asks Linux whose a connection on this machine is; elsewhere all are one login's."""

    def __init__(self) -> None:
        self._asks: socket.socket | None = None
        try:
            self._asks = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _PROTOCOL)
            self._asks.settimeout(0.1)  # the system answers within the call
        except (AttributeError, OSError):  # another system, or one that forbids it
            pass

    def of(self, end: socket.socket) -> int:
        """The login of the far end; ``GONE`` if nobody has it any more, ``UNKNOWN_LOGIN``."""
        if self._asks is None:
            return UNKNOWN_LOGIN
        try:
            self._asks.send(_question(end.getpeername(), end.getsockname()))
            answer = self._asks.recv(_ANSWER.size)  # what is longer is cut there
        except OSError:
            return UNKNOWN_LOGIN
        kind, uid, inode = _ANSWER.unpack(answer.ljust(_ANSWER.size, b"\0"))
        # else there is no such socket any more, or it is closed at its end and so nobody's
        return uid if kind == _BY_FAMILY and inode else GONE

    def close(self) -> None:
        if self._asks:
            self._asks.close()


def _question(here: tuple[str, int], there: tuple[str, int]) -> bytes:
    """Make the request for the socket that has this address and is connected to that one."""
    addresses = [socket.inet_aton(address) for address, _ in (here, there)]
    socket_id = (
        _PORTS.pack(here[1], there[1]) + _ADDRESSES.pack(*addresses) + _ANY_INTERFACE_NO_COOKIE
    )
    asked = _ASKED.pack(socket.AF_INET, socket.IPPROTO_TCP) + socket_id
    return _HEADER.pack(_HEADER.size + len(asked), _BY_FAMILY, _REQUEST) + asked
