"""Finds the programs that ask the owner of a car to call them back, as its stop socket was full.

How they ask is in ``stop_calls.py``: by a socket with a name of its own in the folder. Any login
may create such files. Each file is looked at once only, so a login that floods the folder spends as
much work as it causes.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator

from host_bridge.sharing.stop.stop_calls import prefix_of
from host_bridge.sharing.stop.stop_sockets import StopSocket, owner_of

_LOOKED = 2000  # names that are looked at in one go: some 10 ms


class StopCallers:
    """The callers of a car: sockets of programs that its full queue did not let in.

    ``path`` is that of the car's stop socket; callers' files lie beside it.
    """

    def __init__(self, path: str) -> None:
        self._folder = os.path.dirname(path)
        self._prefix = os.path.basename(prefix_of(path))
        self._known: set[str] = set()

    def connect_new(self, may_come: Callable[[int], bool]) -> Iterator[tuple[socket.socket, int]]:
        """Connect to each new caller whose login ``may_come``; yield its socket and the login.

        A login is the user id that owns the caller's file. The receiver closes the socket. A caller
        that cannot be connected to, or may not come, is left out and not tried again.
        """
        for caller in self._new():
            login = owner_of(caller.path)
            if login >= 0 and may_come(login) and caller.connect() and caller.end is not None:
                yield caller.end, caller.uid

    def _new(self) -> list[StopSocket]:
        try:
            names = {it for it in os.listdir(self._folder) if it.startswith(self._prefix)}
        except OSError:  # no file is left for it, or the folder is gone
            return []
        self._known &= names
        new = sorted(names - self._known)[:_LOOKED]
        self._known.update(new)
        return [StopSocket(os.path.join(self._folder, name), "") for name in new]
