"""The request to stop, sent to cars until each has acknowledged it. Imports little.

It goes through the process that serves a car. A process that does not accept the connection at once
is asked again until the second is over, and may call back (``stop_calls.py``): it may hang, and
other connections may fill its queue.
"""

from __future__ import annotations

import functools
import os
import pwd
import select
import time

from host_bridge.core.errors import DeviceFault
from host_bridge.core.texts.table import locked_state_word
from host_bridge.sharing.endpoints.folders import stop_folders
from host_bridge.sharing.stop.frozen_stop import SENDER_COMMAND, StopAckReader, stop_frame
from host_bridge.sharing.stop.stop_calls import PendingStopSockets
from host_bridge.sharing.stop.stop_sockets import StopSocket
from host_bridge.sharing.stop.stop_words import why_unheard

TYPE_CHECKING = False  # typing takes 3 ms to import
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterable

    from host_bridge.link.transports.base import Transport

AGAIN_S = 0.02  # two steps of the car
LOOK_S = 0.002  # how often pending connections are looked at
GIVE_UP_S = 1.0
LOOK_FOR_S = 5.0  # cars, while those that were found are stopped: a folder may be crowded
_READ_BYTES = 4096  # at once: 0.1 ms of work if they are noise, and a login may have 100 sockets


class StopCall:
    """One stop request to one car: the frame to send, and whether the car acknowledged it.

    ``through`` is the stop socket that it goes through, or the id of a process, 0 for none here.
    """

    def __init__(self, name: str, through: StopSocket | int, sender: int = SENDER_COMMAND) -> None:
        token = int.from_bytes(os.urandom(2), "little")
        self.name = name
        self.frame = stop_frame(token, _user(os.getuid()), sender)
        self.took_ms: float | None = None  # until it was acknowledged
        self.through = through
        self._watch = StopAckReader(token)
        self._begun_s = time.monotonic()

    @property
    def is_seen(self) -> bool:
        return self.took_ms is not None

    @property
    def state(self) -> str:
        """The car's state in its acknowledgement; empty before."""
        return self._watch.state

    def hear(self, data: bytes) -> None:
        self._watch.feed(data)
        if self._watch.is_seen and self.took_ms is None:
            self.took_ms = (time.monotonic() - self._begun_s) * 1e3

    def row(self) -> dict[str, object]:
        took_ms = None if self.took_ms is None else round(self.took_ms, 1)
        return {
            "name": self.name,
            "pid": self.through if isinstance(self.through, int) else self.through.pid,
            "is_seen": self.is_seen,
            "state": self.state or None,
            "took_ms": took_ms,
        }

    def __str__(self) -> str:
        if isinstance(self.through, int):
            called, pid, fault = self.name, self.through, 0
        else:
            called = self.name + login_of(self.through)
            pid, fault = self.through.pid, self.through.fault
        if self.took_ms is not None:
            state = locked_state_word(self.state)
            return f"{called}: {state}, acknowledged after {self.took_ms:.0f} ms"
        return (
            f"{called}: NOT ACKNOWLEDGED within {GIVE_UP_S:g} s. Use its runstop, or cut its "
            f"power.\n  {why_unheard(pid, fault)}"
        )


def stop_served(
    sockets: Iterable[StopSocket | None],
    sender: int = SENDER_COMMAND,
    tell: Callable[[StopCall], object] = lambda call: None,
) -> list[StopCall]:
    """Stop cars through their owners, each as soon as ``sockets`` yields it, and close the sockets.
    ``tell`` gets each call as it is acknowledged, and in the end those that are not.

    Raises errors.DeviceFault where not all could be looked for, in the end.
    """
    talk = _Talk(sockets, sender, tell)
    talk.run()
    calls = sorted(talk.calls.items(), key=lambda row: by_name(row[0]))
    for it, call in calls:
        it.close()
        if not call.is_seen:
            tell(call)
    if talk.is_looking:
        raise _crowded()
    if talk.fault:
        raise talk.fault
    return [call for _, call in calls]


def _crowded() -> DeviceFault:
    return DeviceFault(
        f"not all cars could be looked for within {LOOK_FOR_S:g} s",
        where=", ".join(stop_folders()),
        expected="names of stop sockets, one for each car that is served",
        got="more names than could be looked at: another login crowds the folder",
        remedy="use the runstop, or cut the power; then remove what is called tandem-stop.*",
    )


def by_name(it: StopSocket) -> tuple[bool, str]:
    """Return the key by which cars are sorted: this login's own first, then by name."""
    return it.is_foreign, it.name


def stop_directly(uri: str) -> StopCall:
    """Stop a car that nobody serves. Raises errors.TandemError."""
    import asyncio  # these imports take 100 ms, too long for the usual path

    from host_bridge.sharing.services import make_host

    transport = make_host().cars.transport(uri)
    if transport.is_virtual:
        raise DeviceFault(
            "nobody serves this virtual car, so there is none", where=uri, remedy="tandem cars"
        )
    # the plain cable of a hardware-in-the-loop board: it need not be set up for its plant first
    return asyncio.run(_stop_over(getattr(transport, "cable", transport)))


async def _stop_over(transport: Transport) -> StopCall:
    import asyncio

    call = StopCall(transport.label, os.getpid())
    await transport.open(call.hear, lambda fault: None)
    try:
        for _ in range(round(GIVE_UP_S / AGAIN_S)):
            transport.send(call.frame)
            await asyncio.sleep(AGAIN_S)
            if call.is_seen:
                break
    finally:
        transport.close()
    return call


class _Talk:
    """The loop that repeats the stop to all connected processes until each car has acknowledged it.

    A process that disconnects us or does not accept us is asked again until the second is over,
    and may call back.
    """

    def __init__(
        self,
        sockets: Iterable[StopSocket | None],
        sender: int,
        tell: Callable[[StopCall], object],
    ) -> None:
        self.calls: dict[StopSocket, StopCall] = {}
        self.is_looking = True
        self.fault: DeviceFault | None = None  # why not all could be looked for
        self._sockets = iter(sockets)
        self._sender = sender
        self._tell = tell
        self._poll = select.poll()
        self._inside: dict[int, StopSocket] = {}
        self._outside = PendingStopSockets(AGAIN_S)

    def run(self) -> None:
        """Repeat the stop until all have acknowledged it, or a second after the last was found."""
        now_s = time.monotonic()
        look_until_s = give_up_s = now_s + LOOK_FOR_S
        again_s = now_s + AGAIN_S
        while self._is_going_on() and now_s < give_up_s:
            is_early = now_s < look_until_s
            if self.is_looking and is_early:
                self._look()
                give_up_s = time.monotonic() + GIVE_UP_S
            if now_s >= again_s:
                again_s = now_s + AGAIN_S
                for it in self._inside.values():
                    self._say(it)
            for it in self._outside.entered(now_s):
                self._enter(it)
            until_s = min(again_s, now_s + LOOK_S) if self._outside else again_s
            self._wait(now_s if self.is_looking and is_early else until_s)
            now_s = time.monotonic()
        self._outside.end()

    def _look(self) -> None:
        """Send the stop to each socket that is found, until there is something else to do."""
        try:
            for it in self._sockets:
                if it is None:
                    return
                self._begin(it)
        except DeviceFault as fault:  # those that were found are stopped all the same
            self.fault = fault
        self.is_looking = False

    def _begin(self, it: StopSocket) -> None:
        self.calls[it] = StopCall(it.name, it, self._sender)
        if it.end:
            self._enter(it)
        else:
            self._outside.add(it, 0.0)

    def _wait(self, until_s: float) -> None:
        """Take the answers that come until then; return with the first."""
        for file, _ in self._poll.poll(max(until_s - time.monotonic(), 0.0) * 1e3):
            self._hear(file)

    def _is_going_on(self) -> bool:
        return self.is_looking or bool(self._inside) or bool(self._outside)

    def _enter(self, it: StopSocket) -> None:
        assert it.end is not None, "it was let in"
        self._inside[it.end.fileno()] = it
        self._poll.register(it.end.fileno(), select.POLLIN)
        self._say(it)

    def _say(self, it: StopSocket) -> None:
        assert it.end is not None, "it is in"
        try:  # noqa: SIM105 - contextlib takes 2 ms to import
            it.end.send(self.calls[it].frame)
        except OSError:  # the buffer is full or the peer gone; then no answer comes
            pass

    def _hear(self, file: int) -> None:
        it = self._inside[file]
        call = self.calls[it]
        assert it.end is not None, "it is in"
        if _receive(it.end, call) and not call.is_seen:
            return
        self._poll.unregister(file)
        del self._inside[file]
        if call.is_seen:
            self._tell(call)
        else:
            it.close()  # disconnected: too many calls of our login, or the owner has ended
            if os.path.lexists(it.path):
                self._outside.add(it, time.monotonic() + AGAIN_S)


def _receive(end: socket.socket, call: StopCall) -> bool:
    """Take what came.

    Return False if the owner has closed the connection, so that no answer will come.
    """
    try:
        data = end.recv(_READ_BYTES)
    except BlockingIOError:
        return True
    except OSError:
        return False
    call.hear(data)
    return bool(data)


def login_of(it: StopSocket) -> str:
    """Return another login's name in brackets, else "".

    Any login may name its socket like a car.
    """
    return f" (of {_user(it.uid)})" if it.is_foreign else ""


@functools.cache  # a directory on a network may take seconds
def _user(uid: int) -> str:
    """Return a login's name, for the car's report of who stopped it."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
