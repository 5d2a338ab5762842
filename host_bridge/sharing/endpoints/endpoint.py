"""The endpoints of an owner: the ways in which clients of other programs reach it.

An owner has a list of them: the local socket, by which its login drives, and the stop socket, by
which every login stops (``stop_endpoint.py``). Guests on other machines come in by another
(``sharing/network/network_endpoint.py``), which is off unless asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from host_bridge.core.errors import DeviceFault
from host_bridge.link.transports.descriptor import Stream
from host_bridge.sharing.endpoints.local_socket import SEND_BUFFER_BYTES
from host_bridge.sharing.endpoints.served import served, socket_path
from host_bridge.sharing.owner.owner import Owner
from host_bridge.sharing.stop.reserve import is_in_reserve

LetIn = Callable[[socket.socket, Owner], object]
_BACKLOG = 16  # clients that may wait to be let in
_TOO_MUCH_S = 0.01  # for which a client is not read that said more than a car can take


class OwnerEndpoint(Protocol):
    """One way in to an owner."""

    def open(self, owner: Owner) -> None:
        """Let clients in from now on. Raises errors.TandemError."""

    def close(self) -> None:
        """Let nobody in any more. Whoever is in stays until the owner ends."""


class SocketEndpoint:
    """A Unix socket. Who may open it is up to its folder; ``let_in`` takes each who comes."""

    def __init__(self, path: Path, name: str, let_in: LetIn) -> None:
        self._path = path
        self._name = name
        self._let_in = let_in
        self._owner: Owner | None = None
        self._socket: socket.socket | None = None

    def open(self, owner: Owner) -> None:
        """Listen, and let clients in.

        Raises errors.DeviceFault if a car of this name is served already.
        """
        self._socket = listen(self._path, self._name)
        self._owner = owner
        asyncio.get_running_loop().add_reader(self._socket, self._answer)

    def close(self) -> None:
        if self._socket:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
            self._socket = None
            with contextlib.suppress(OSError):  # a folder that was made read-only meanwhile
                self._path.unlink(missing_ok=True)

    def _answer(self) -> None:
        with contextlib.suppress(OSError):  # who knocked and went away again
            if self._socket and self._owner:
                end = self._socket.accept()[0]
                if is_in_reserve(end.fileno()):
                    end.close()  # clients that were left behind have the rest: Stop has these
                else:
                    self._let_in(end, self._owner)


def local_endpoint(name: str) -> SocketEndpoint:
    """Return the endpoint ``<runtime dir>/NAME.sock``, for clients of other programs."""
    return SocketEndpoint(socket_path(name), name, SocketClient)


class SocketClient:
    """The owner's end of one connection."""

    def __init__(self, end: socket.socket, owner: Owner) -> None:
        # Small, so that a client that does not read loses news instead of getting old ones.
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        self._socket = end
        self._line = owner.join(self)
        self._stream = Stream(end.fileno(), self._hear, self._lose)

    def _hear(self, data: bytes) -> None:
        if not self._line.feed(data):
            self._stream.rest(_TOO_MUCH_S)

    def deliver(self, data: bytes) -> int:
        return self._stream.send(data)

    def end(self) -> None:
        self._stream.end()
        self._lose(None)

    def _lose(self, error: OSError | None) -> None:
        self._line.end()
        self._socket.close()


def listen(path: Path, name: str) -> socket.socket:
    """Return a listening socket at the path. Raises errors.DeviceFault.

    One that a dead owner left behind is replaced, a live one's is not.
    """
    if _is_answered(path):
        raise _taken(name)
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.unlink(missing_ok=True)
        end.bind(str(path))
        end.listen(_BACKLOG)
        end.setblocking(False)
    except OSError as error:
        end.close()
        raise _listen_fault(path, error) from None
    return end


def _is_answered(path: Path) -> bool:
    """Return whether a program listens there, even one that hangs and accepts nobody."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.setblocking(False)
        try:
            return end.connect_ex(str(path)) in (0, errno.EAGAIN)
        except OSError:  # a path too long for a socket: whoever binds it is told so
            return False


def _taken(name: str) -> DeviceFault:
    pids = [f"process {car.pid}, {car.uri}" for car in served() if car.name == name]
    return DeviceFault(
        f"a car is served by the name of {name} already",
        got=", ".join(pids),
        remedy=f"use it as tandem:///{name}, end that process, or give another --name",
    )


def _listen_fault(path: Path, error: OSError) -> DeviceFault:
    return DeviceFault(
        "no client could reach this car",
        where=str(path),
        got=error.strerror or str(error),
        remedy="set TANDEM_RUNTIME_DIR to a folder of your own that can be written to, with a "
        "short path (80 letters)",
    )
