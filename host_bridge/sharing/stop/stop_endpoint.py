"""The stop socket: the way into an owner that is open to every login of this machine.

By it a car can be stopped and asked who it is, and nothing else: of what comes, Stop and Identify
are read and made anew (``stop_filter.py``), and nothing but their answers goes back. What one
login does there takes little from the others: it has few connections, each is short, is read
slowly, and says one Stop every 10 ms. It has a share of those that are let in, too: all who wait
are taken off the queue at once, and who comes too often is sent away. Whoever finds the queue full
all the same is called back (``stop_calls.py``).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import time
from pathlib import Path

from host_bridge.core.errors import DeviceFault
from host_bridge.link.transports.descriptor import Stream
from host_bridge.sharing.endpoints.folders import is_safe_for_all, stop_folders
from host_bridge.sharing.owner.chunks import Chunker
from host_bridge.sharing.owner.owner import Owner
from host_bridge.sharing.owner.rights import ClientRight
from host_bridge.sharing.stop import stop_calls
from host_bridge.sharing.stop.acceptor import Acceptor, Rates
from host_bridge.sharing.stop.stop_callers import StopCallers
from host_bridge.sharing.stop.stop_filter import is_stop, stop_replies, stop_requests
from host_bridge.sharing.stop.stop_sockets import PREFIX, file_name, peer_of

CONNECTIONS = 4  # of one login; one more ends the oldest of them
LASTS_S = 5.0  # a connection; a stop is given up after one
ALL_CONNECTIONS = 48  # of all logins; one more ends the oldest of whoever has most
# Of one login. Who stops a car in each of 32 ways at once, and goes on so, is let in
COMES_PER_S, COMES_AT_ONCE = 50.0, 32
_BACKLOG = 64  # that may wait to be let in
_IN_TURN = 256  # taken off the queue before anything else of this program has its turn: some 5 ms
_CALL_EVERY_S = 0.02  # is looked for who wants to be called back, while it is crowded
# and a third of the time at most: another login may have laid thousands of names into the folder
_CALL_REST = 2
_CALLS_US = 2_000_000  # and for so long after: a stop is given up after one second
_READ_BYTES = 128  # at once, four Stops; then rest
_REST_S = 0.005
_YOUNG_S = 5.0  # a socket that is about to listen is not taken for one that was left behind
_IDENTIFY_EVERY_US = 50_000  # all logins together: each is answered to everybody


class StopEndpoint:
    """The endpoint by which any login stops a car.

    It is a socket in the first of ``folders.STOP_FOLDERS`` that will do.
    """

    def __init__(self, name: str, fleet: str, uri: str) -> None:
        self._car = (name, fleet, uri)
        self._clients: list[_StopClient] = []
        self._owner: Owner | None = None
        self._next_identify_us = 0
        self._path: Path  # this and the callers: once it is open
        self._callers: StopCallers
        self._crowded_until_us: int  # once it was crowded
        self._calling: asyncio.TimerHandle | None = None
        self.acceptor = Acceptor(
            Rates(COMES_PER_S, COMES_AT_ONCE, _IN_TURN),
            self._now_us,
            _login_of,
            lambda end, _, uid: self._join(end, uid),
            make_room=self._make_room,
            crowded=self._call_back,
        )

    def open(self, owner: Owner) -> None:
        """Open the socket in a folder that all logins share.

        Raises errors.DeviceFault where no login could find it: such a car is not served.
        """
        listening, self._path = _listen(*self._car)
        self._owner = owner
        self._callers = StopCallers(str(self._path))
        self.acceptor.open(listening)

    def close(self) -> None:
        if self._owner:
            self._owner = None
            self.acceptor.close()
            self._path.unlink(missing_ok=True)

    def may_identify(self, now_us: int) -> bool:
        """Return whether an Identify may be relayed now; one is, once in a while."""
        if now_us < self._next_identify_us:
            return False
        self._next_identify_us = now_us + _IDENTIFY_EVERY_US
        return True

    def _call_back(self) -> None:
        """Look for callers that could not get in, while it is crowded here and a while after."""
        self._crowded_until_us = self._now_us() + _CALLS_US
        if not self._calling:
            self._calling = asyncio.get_running_loop().call_later(_CALL_EVERY_S, self._look)

    def _look(self) -> None:
        self._calling = None
        if not self._owner:
            return
        begun_us = self._now_us()
        for end, uid in self._callers.connect_new(self.acceptor.may_come):
            self._join(end, uid)
        now_us = self._now_us()
        if now_us < self._crowded_until_us:
            rest_s = max(_CALL_EVERY_S, _CALL_REST * (now_us - begun_us) * 1e-6)
            self._calling = asyncio.get_running_loop().call_later(rest_s, self._look)

    def _join(self, end: socket.socket, uid: int) -> None:
        assert self._owner is not None, "it is open"
        self._clients = [it for it in self._clients if it.is_open]
        of_login = [it for it in self._clients if it.uid == uid]
        if len(of_login) >= CONNECTIONS:
            of_login[0].end()
        elif len(self._clients) >= ALL_CONNECTIONS:
            self._make_room()
        self._clients.append(_StopClient(end, uid, self._owner, self))

    def _now_us(self) -> int:
        assert self._owner is not None, "it is open"
        return self._owner.now_us()

    def _make_room(self) -> bool:
        """End the oldest connection of the login that has most; return False if there is none."""
        is_open = [it for it in self._clients if it.is_open]
        if not is_open:
            return False
        uids = [it.uid for it in is_open]
        most = max(uids, key=uids.count)
        next(it for it in is_open if it.uid == most).end()
        return True


class _StopClient:
    """The owner's end of one connection."""

    def __init__(self, end: socket.socket, uid: int, owner: Owner, endpoint: StopEndpoint) -> None:
        self.is_open = True
        self.uid = uid
        self._socket = end
        self._endpoint = endpoint
        self._owner = owner
        self._line = owner.join(self, ClientRight.STOP)
        self._chunker = Chunker()
        self._stream = Stream(end.fileno(), self._hear, self._lose, _READ_BYTES)
        self._over = asyncio.get_running_loop().call_later(LASTS_S, self.end)

    def deliver(self, data: bytes) -> int:
        """Send on what answers this caller; what is for somebody else counts as delivered."""
        needed = stop_replies(data)
        return len(data) if not needed or self._stream.send(needed) else 0

    def end(self) -> None:
        self._stream.end()
        self._lose(None)

    def _hear(self, data: bytes) -> None:
        frames = self._chunker.feed(data)
        self._chunker.take_noise()
        for frame in stop_requests(frames):
            if is_stop(frame) or self._endpoint.may_identify(self._owner.now_us()):
                self._line.feed(frame)
        self._stream.rest(_REST_S)

    def _lose(self, error: OSError | None) -> None:
        if self.is_open:
            self.is_open = False
            self._over.cancel()
            self._line.end()
            self._socket.close()


def _login_of(end: socket.socket) -> int:
    """Return the login of the far end; -1 where the system does not say."""
    peer = peer_of(end)
    return peer[1] if peer else -1


def _listen(name: str, fleet: str, uri: str) -> tuple[socket.socket, Path]:
    """Return a listening socket in the first folder that will do, and its path.

    Raises errors.DeviceFault if none will do.
    """
    why = []
    for folder in map(os.path.realpath, stop_folders()):
        if not is_safe_for_all(folder):
            why.append(f"{folder}: not there, or others could remove what is in it")
            continue
        _tidy(Path(folder))
        path = Path(folder, file_name(name, fleet, uri))
        try:
            return _bound(path), path
        except OSError as error:
            why.append(f"{folder}: {error.strerror or error}")
    raise DeviceFault(
        "nobody but this login could stop this car, so it is not served",
        expected=f"a folder that all logins share: one of {', '.join(stop_folders())}",
        got="; ".join(why),
        remedy="mkdir /run/tandem && chmod 1777 /run/tandem, as root",
    )


def _bound(path: Path) -> socket.socket:
    """Return a listening socket that everybody may connect to. Raises OSError."""
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        end.bind(str(path))
        path.chmod(0o666)  # the folder keeps it ours: nobody can have put another there
        end.listen(_BACKLOG)
        end.setblocking(False)
    except OSError:
        end.close()
        raise
    return end


def _tidy(folder: Path) -> None:
    """Remove what owners and stops of this login left behind that were killed."""
    for path in (*folder.glob(f"{PREFIX}.*"), *folder.glob(f"{stop_calls.PREFIX}.*")):
        with contextlib.suppress(OSError):
            status = path.lstat()
            is_old = time.time() - status.st_mtime > _YOUNG_S
            if is_old and status.st_uid == os.getuid() and path.is_socket() and _is_dead(path):
                path.unlink()


def _is_dead(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.setblocking(False)
        return end.connect_ex(str(path)) == errno.ECONNREFUSED
