"""Callback for a stop that a full queue keeps out: a socket of its own beside the stop socket.

A stop socket has one queue for all logins, and one of them may keep it full. A program that finds
it full therefore listens at ``tandem-call.KEY.RANDOM`` in the same folder; KEY is the end of the
stop socket's own name. The owner of the car, which notices that its queue is full, looks for such
names and connects to them, up to a limit per login. So no login can keep another one out.

Imports as little as ``tandem stop`` needs.
"""

from __future__ import annotations

import errno
import os
import socket

from host_bridge.sharing.stop.stop_sockets import LoginQuota, StopSocket, peer_of

PREFIX = "tandem-call"
MOST = 64  # sockets that one stop listens at, of each login's cars a share
_BACKLOG = 16  # connections that wait between two looks, which are some ms apart
_OFTEN = 8  # cars of one login that are each tried as often as it goes; of more each less often
_AT_ONCE = 32  # strangers that are sent away before somebody else is heard


class CallbackSocket:
    """A socket of this program to which one car's owner can connect; ``end`` removes it."""

    def __init__(self, it: StopSocket) -> None:
        self.path = f"{prefix_of(it.path)}{os.urandom(4).hex()}"
        self._it = it
        self._listening: socket.socket | None = None

    def open(self) -> bool:
        """Listen. Return False if that fails; then only the stop socket itself is left to try."""
        listening = None
        try:
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listening.bind(self.path)
            os.chmod(self.path, 0o666)  # ``answered`` checks who connects
            listening.listen(_BACKLOG)
            listening.setblocking(False)
        except OSError:
            if listening:
                listening.close()
            return False
        self._listening = listening
        return True

    def answered(self) -> bool:
        """Return True once the car's owner has connected; ``StopSocket.end`` is that connection."""
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


class PendingStopSockets:
    """The stop sockets that have not accepted a connection: each is retried, and may call back."""

    def __init__(self, again_s: float) -> None:
        self._again_s = again_s
        self._next_s: dict[StopSocket, float] = {}
        self._calls: dict[StopSocket, CallbackSocket] = {}
        self._share = LoginQuota(MOST)
        # The login of each as it was added: another file may lie at its path by now
        self._login: dict[StopSocket, int] = {}
        self._of_login: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._next_s)

    def add(self, it: StopSocket, from_s: float) -> None:
        """Retry this socket from ``from_s`` on, in monotonic s; its owner may call back."""
        if it not in self._next_s:
            self._login[it] = it.uid
            self._of_login[it.uid] = self._of_login.get(it.uid, 0) + 1
        self._next_s[it] = from_s
        if it.fault == errno.EAGAIN and it not in self._calls and self._share.take(it.uid):
            call = CallbackSocket(it)
            if call.open():
                self._calls[it] = call

    def entered(self, now_s: float) -> list[StopSocket]:
        """Return the sockets that accepted us or called back; drop those that have gone."""
        found = []
        for it, next_s in list(self._next_s.items()):
            call = self._calls.get(it)
            is_in = call is not None and call.answered()
            if not is_in and now_s >= next_s:
                if not it.connect():
                    self._drop(it)
                    continue
                is_in = it.end is not None
                crowd = max(self._of_login[self._login[it]] / _OFTEN, 1.0)
                self._next_s[it] = now_s + self._again_s * crowd
            if is_in:
                self._drop(it)
                found.append(it)
        return found

    def end(self) -> None:
        """Remove all callback sockets."""
        for it in list(self._next_s):
            self._drop(it)

    def _drop(self, it: StopSocket) -> None:
        del self._next_s[it]
        self._of_login[self._login.pop(it)] -= 1
        call = self._calls.pop(it, None)
        if call:
            call.end()


def prefix_of(path: str) -> str:
    """Return the path prefix of the callback sockets for the owner of this stop socket."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/{PREFIX}.{name.rpartition('.')[2]}."
