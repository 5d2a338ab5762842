"""Occupies the station's ports on the other loopback address, so that no other login can have them.

The frames of the page are at ``localhost``, and a browser tries [::1] before 127.0.0.1. A program
that listened there could lay its own Stop over the page's. So the station binds that address of
each of its ports without listening: a browser then goes on to 127.0.0.1.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from host_bridge.core.errors import DeviceFault

OTHER = "::1"
# Without IPv6 on the loopback nobody else can bind the address either
_IS_NOT_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT)


# Linux: one line for each socket; 127.0.0.1 in the byte order of all machines that we run on
_LISTENERS, _HERE = "/proc/net/tcp", "0100007F"
_STATE, _UID, _LISTENS = 3, 7, "0A"


@contextmanager
def reserved_ports(ports: Iterable[int]) -> Iterator[None]:
    """Keep [::1] of these ports bound.

    Raises errors.DeviceFault if another program has one.
    """
    with ExitStack() as sockets:
        for port in ports:
            try:
                end = sockets.enter_context(socket.socket(socket.AF_INET6, socket.SOCK_STREAM))
                end.bind((OTHER, port))  # without SO_REUSEADDR: no other program can bind it too
            except OSError as error:
                if error.errno not in _IS_NOT_HERE:
                    raise _taken(port, error) from None
        yield


def is_own_listener(port: int) -> bool:
    """Return whether this login listens at 127.0.0.1:port; True where the system does not tell."""
    rows = _rows()
    wanted = f"{_HERE}:{port:04X}"
    logins = {int(row[_UID]) for row in rows if row[1] == wanted and row[_STATE] == _LISTENS}
    return logins == {os.getuid()} or not rows


def _rows() -> list[list[str]]:
    try:
        lines = Path(_LISTENERS).read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return []
    return [line.split() for line in lines]


def _taken(port: int, error: OSError) -> DeviceFault:
    return DeviceFault(
        "another program has an address by which a browser would find a part of this page",
        where=f"[{OTHER}]:{port}",
        expected="that nobody listens there: it could lay a Stop of its own over the page's",
        got=error.strerror or str(error),
        remedy=f"ss -tlpn 'sport = :{port}' says which it is; else: tandem station --port N",
    )
