"""The stop socket: the way into an owner that is open to every login of this machine.

By it a car can be stopped and asked who it is, and nothing else: of what comes, Stop and Identify
are read and made anew (``link/stop_filter.py``), and nothing but their answers goes back. What one
login does there takes little from the others: it has few connections, each is short, is read
slowly, and says one Stop every 10 ms.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import time
from pathlib import Path

from host_bridge.errors import DeviceFault
from host_bridge.link.rights import Right
from host_bridge.link.stop_filter import answers, asked, is_stop
from host_bridge.serve.chunks import Chunker
from host_bridge.serve.owner import Owner
from host_bridge.transports.descriptor import Stream
from host_bridge.transports.folders import is_safe_for_all, stop_folders
from host_bridge.transports.stop_sockets import PREFIX, file_name, peer_of

CONNECTIONS = 4  # of one login; one more ends the oldest of them
LASTS_S = 5.0  # a connection; a stop is given up after one
_BACKLOG = 64  # that may wait to be let in
_READ_BYTES = 128  # at once, four Stops; then rest
_REST_S = 0.005
_YOUNG_S = 5.0  # a socket that is about to listen is not taken for one that was left behind
_IDENTIFY_EVERY_US = 50_000  # all logins together: each is answered to everybody


class StopRim:
    """A ``rims.Rim``: a socket for this car in the first of ``folders.STOP_FOLDERS`` that does."""

    def __init__(self, name: str, fleet: str, uri: str) -> None:
        self._car = (name, fleet, uri)
        self._clients: list[_StopClient] = []
        self._owner: Owner | None = None
        self._socket: socket.socket | None = None
        self._path = Path()
        self._next_identify_us = 0

    def open(self, owner: Owner) -> None:
        """Raises errors.DeviceFault where no login could find it: such a car is not served."""
        self._owner = owner
        self._socket, self._path = _listen(*self._car)
        asyncio.get_running_loop().add_reader(self._socket, self._answer)

    def close(self) -> None:
        if self._socket:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
            self._socket = None
            self._path.unlink(missing_ok=True)

    def may_identify(self, now_us: int) -> bool:
        """Once in a while."""
        if now_us < self._next_identify_us:
            return False
        self._next_identify_us = now_us + _IDENTIFY_EVERY_US
        return True

    def _answer(self) -> None:
        with contextlib.suppress(OSError):  # who knocked and went away again
            if self._socket and self._owner:
                self._let_in(self._socket.accept()[0], self._owner)

    def _let_in(self, end: socket.socket, owner: Owner) -> None:
        client = _StopClient(end, owner, self)
        self._clients = [it for it in self._clients if it.is_open]
        of_login = [it for it in self._clients if it.uid == client.uid]
        self._clients.append(client)
        if len(of_login) >= CONNECTIONS:
            of_login[0].end()


class _StopClient:
    """The owner's end of one connection."""

    def __init__(self, end: socket.socket, owner: Owner, rim: StopRim) -> None:
        self.is_open = True
        peer = peer_of(end)
        self.uid = peer[1] if peer else -1
        self._socket = end
        self._rim = rim
        self._owner = owner
        self._line = owner.join(self, Right.STOP)
        self._chunker = Chunker()
        self._stream = Stream(end.fileno(), self._hear, self._lose, _READ_BYTES)
        self._over = asyncio.get_running_loop().call_later(LASTS_S, self.end)

    def deliver(self, data: bytes) -> int:
        """What is for somebody else counts as delivered."""
        needed = answers(data)
        return len(data) if not needed or self._stream.send(needed) else 0

    def end(self) -> None:
        self._stream.end()
        self._lose(None)

    def _hear(self, data: bytes) -> None:
        frames = self._chunker.feed(data)
        self._chunker.take_noise()
        for frame in asked(frames):
            if is_stop(frame) or self._rim.may_identify(self._owner.now_us()):
                self._line.feed(frame)
        self._stream.rest(_REST_S)

    def _lose(self, error: OSError | None) -> None:
        if self.is_open:
            self.is_open = False
            self._over.cancel()
            self._line.end()
            self._socket.close()


def _listen(name: str, fleet: str, uri: str) -> tuple[socket.socket, Path]:
    """Raises errors.DeviceFault."""
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
    """A listening socket that everybody may connect to. Raises OSError."""
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
    """Remove what owners of this login left behind that were killed."""
    for path in folder.glob(f"{PREFIX}.*"):
        with contextlib.suppress(OSError):
            status = path.lstat()
            is_old = time.time() - status.st_mtime > _YOUNG_S
            if is_old and status.st_uid == os.getuid() and path.is_socket() and _is_dead(path):
                path.unlink()


def _is_dead(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.setblocking(False)
        return end.connect_ex(str(path)) == errno.ECONNREFUSED
