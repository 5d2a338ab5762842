"""The other address of this machine's loopback, taken so that no other login has it.

What the page frames is at ``localhost``, and a browser asks [::1] before it asks 127.0.0.1. Whoever
listened there could lay a Stop of their own over the page's. So the station has that address of
each of its ports, and listens there to nobody: a browser then goes on to 127.0.0.1.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from host_bridge.errors import DeviceFault

OTHER = "::1"
# Without IPv6, or with none on the loopback, nobody else can have it either
_IS_NOT_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT)


# Linux: one line for each socket; 127.0.0.1 as it lies in memory, the same on all that we run on
_LISTENERS, _HERE = "/proc/net/tcp", "0100007F"
_STATE, _UID, _LISTENS = 3, 7, "0A"


@contextmanager
def held(ports: Iterable[int]) -> Iterator[None]:
    """Keep [::1] of these ports from others. Raises errors.DeviceFault if somebody has one."""
    with ExitStack() as sockets:
        for port in ports:
            try:
                end = sockets.enter_context(socket.socket(socket.AF_INET6, socket.SOCK_STREAM))
                end.bind((OTHER, port))  # without SO_REUSEADDR: it is nobody else's at any time
            except OSError as error:
                if error.errno not in _IS_NOT_HERE:
                    raise _taken(port, error) from None
        yield


def is_ours(port: int) -> bool:
    """Say whether this login listens at 127.0.0.1 there; True where the system does not say."""
    rows = _rows()
    wanted = f"{_HERE}:{port:04X}"
    logins = {int(row[_UID]) for row in rows if row[1] == wanted and row[_STATE] == _LISTENS}
    return logins == {os.getuid()} or not rows


def logins_by_port() -> dict[int, int]:
    """Find whose each socket of 127.0.0.1 is, by its port; empty where the system does not say."""
    rows = [row for row in _rows() if row[1].startswith(_HERE)]
    return {int(row[1].rpartition(":")[2], 16): int(row[_UID]) for row in rows}


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
