"""A stop that was not let in is called back: its own socket, beside the stop socket that is full.

The queue of a stop socket is one for all logins, and one of them may keep it full. So whoever finds
it full listens at ``tandem-call.KEY.RANDOM``, in the same folder; KEY is the end of the stop
socket's own name. The owner of the car, which sees that it is crowded, looks for such names and
connects to them, so many of each login. What no login can take from another is not waited for.

Imports as little as a stop in a hurry needs.
"""

from __future__ import annotations

import errno
import os
import socket

from host_bridge.transports.stop_sockets import StopSocket, peer_of

PREFIX = "tandem-call"
MOST = 64  # sockets that one stop listens at: of each login's cars the first before any second
_BACKLOG = 16
_AT_ONCE = 32  # strangers that are sent away before somebody else is heard


class Call:
    """This program's socket for one car's owner to connect to. ``end`` removes it."""

    def __init__(self, it: StopSocket) -> None:
        self.path = f"{prefix_of(it.path)}{os.urandom(4).hex()}"
        self._it = it
        self._listening: socket.socket | None = None

    def open(self) -> bool:
        """False where it cannot be: the stop socket itself is left to try."""
        listening = None
        try:
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listening.bind(self.path)
            os.chmod(self.path, 0o666)  # who connects is looked at
            listening.listen(_BACKLOG)
            listening.setblocking(False)
        except OSError:
            if listening:
                listening.close()
            return False
        self._listening = listening
        return True

    def answered(self) -> bool:
        """Say whether the car's owner has connected; then it is what ``StopSocket.end`` is."""
        for _ in range(_AT_ONCE):
            if self._listening is None:
                return False
            try:
                end = self._listening.accept()[0]
            except OSError:
                return False
            peer = peer_of(end)
            if peer is None or peer[1] != self._it.uid:
                end.close()
                continue
            end.setblocking(False)
            self._it.end, self._it.fault = end, 0
            self._it.pid = peer[0]
            return True
        return False

    def end(self) -> None:
        if self._listening:
            self._listening.close()
            self._listening = None
            try:  # noqa: SIM105 - contextlib takes 2 ms to import
                os.unlink(self.path)
            except OSError:
                pass


class Outside:
    """Stop sockets that have let nobody in yet. Each is tried again now and then, and calls."""

    def __init__(self, again_s: float) -> None:
        self._again_s = again_s
        self._next_s: dict[StopSocket, float] = {}
        self._calls: dict[StopSocket, Call] = {}

    def __bool__(self) -> bool:
        return bool(self._next_s)

    def add(self, it: StopSocket, from_s: float) -> None:
        """Let it be tried from then on."""
        self._next_s[it] = from_s
        if it.fault == errno.EAGAIN and it not in self._calls and len(self._calls) < MOST:
            call = Call(it)
            if call.open():
                self._calls[it] = call

    def entered(self, now_s: float) -> list[StopSocket]:
        """Return who was let in or called back; a socket that nobody has any more is dropped."""
        found = []
        for it, next_s in list(self._next_s.items()):
            call = self._calls.get(it)
            is_in = call is not None and call.answered()
            if not is_in and now_s >= next_s:
                if not it.connect():
                    self._drop(it)
                    continue
                is_in = it.end is not None
                self._next_s[it] = now_s + self._again_s
            if is_in:
                self._drop(it)
                found.append(it)
        return found

    def end(self) -> None:
        """Leave no socket behind."""
        for it in list(self._next_s):
            self._drop(it)

    def _drop(self, it: StopSocket) -> None:
        del self._next_s[it]
        call = self._calls.pop(it, None)
        if call:
            call.end()


def prefix_of(path: str) -> str:
    """Make the beginning of the names that call for the owner of this stop socket."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/{PREFIX}.{name.rpartition('.')[2]}."
