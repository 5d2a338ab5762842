"""``tandem stop``: stop cars, now.

It needs no session, key or state, and imports little, so that from the press of Enter to the
brakes it takes a fraction of a second. The stop frame is repeated until the car has acknowledged
it. Every car that is served on this machine is found, whichever login serves it and whatever the
environment is: each has a stop socket at a path that is the same for all.

The stop goes through the process that serves the car. If that process hangs, no claim reaches the
car either, and the car has stopped by itself. If no answer comes, this command says so, says what
is known of the car, and ends with an error. A process that does not accept the connection at once
is asked again until the second is over, and may call back (``transports/stop_calls.py``): it may
hang, and other connections may fill its queue.
"""

from __future__ import annotations

import os
import pwd
import select
import sys
import time
from functools import partial

from host_bridge.core.errors import DeviceFault, TandemError
from host_bridge.sharing.endpoints.folders import stop_folders
from host_bridge.sharing.endpoints.naming import as_uri
from host_bridge.sharing.stop.frozen_stop import (
    SENDER_COMMAND,
    SENDER_FLEET,
    StopAckReader,
    stop_frame,
)
from host_bridge.sharing.stop.stop_calls import PendingStopSockets
from host_bridge.sharing.stop.stop_sockets import StopSocket, find_stop_sockets, tag
from host_bridge.sharing.stop.stop_words import why_unheard

TYPE_CHECKING = False  # typing takes 3 ms to import
if TYPE_CHECKING:
    import argparse
    import socket
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from host_bridge.link.transports.base import Transport

EPILOG = """\
examples:
  tandem stop                   every car that is served on this machine, by whichever login
  tandem stop nigel             one of them; a name that is wrong keeps no other from stopping
  tandem stop --fleet red       those that tandem serve --fleet red serves
  tandem stop serial:///dev/ttyACM0
                                a car that nobody serves, straight through its port

It exits with 0 only if every car has acknowledged the stop.
"""
AGAIN_S = 0.02  # two steps of the car
LOOK_S = 0.002  # how often pending connections are looked at
GIVE_UP_S = 1.0
LOOK_FOR_S = 5.0  # cars, while those that were found are stopped: a folder may be crowded
_READ_BYTES = 65_536


class StopCall:
    """One stop request to one car: the frame to send, and whether the car acknowledged it."""

    def __init__(self, name: str, pid: int, sender: int = SENDER_COMMAND, login: str = "") -> None:
        token = int.from_bytes(os.urandom(2), "little")
        self.name = name
        self.frame = stop_frame(token, _user(os.getuid()), sender)
        self.took_ms: float | None = None  # until it was acknowledged
        self._pid = pid  # the process that serves it
        self._fault = 0  # the errno of the failed connection, or 0
        self._login = login  # for people: the owner's login, if it is another one
        self._watch = StopAckReader(token)
        self._begun_s = time.monotonic()

    @property
    def is_seen(self) -> bool:
        return self.took_ms is not None

    def hear(self, data: bytes) -> None:
        self._watch.feed(data)
        if self._watch.is_seen and self.took_ms is None:
            self.took_ms = (time.monotonic() - self._begun_s) * 1e3

    def give_up(self, it: StopSocket) -> None:
        """Keep what this socket told about its process, for the message that no answer came."""
        self._pid, self._fault = it.pid, it.fault

    def row(self) -> dict[str, object]:
        took_ms = None if self.took_ms is None else round(self.took_ms, 1)
        state = self._watch.state or None
        return {
            "name": self.name,
            "pid": self._pid,
            "is_seen": self.is_seen,
            "state": state,
            "took_ms": took_ms,
        }

    def __str__(self) -> str:
        called = self.name + self._login
        if self.took_ms is not None:
            return f"{called}: {self._watch.state}, acknowledged after {self.took_ms:.0f} ms"
        return (
            f"{called}: NOT ACKNOWLEDGED within {GIVE_UP_S:g} s. Use its runstop, or cut its "
            f"power.\n  {why_unheard(self._pid, self._fault)}"
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Stop cars, now; by default all that are served on this machine."
    parser.epilog = EPILOG
    parser.add_argument("car", nargs="*", metavar="CAR", help="names, or URIs")
    parser.add_argument("--all", action="store_true", help="all served cars (the default)")
    parser.add_argument("--fleet", metavar="NAME", help="the served cars of one fleet")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def stop_all() -> int:
    """Run ``tandem stop`` without arguments, and so without importing argparse."""
    return _stop((), None, is_json=False)


def run(args: argparse.Namespace, host: object = None) -> int:
    """Return 0 if every car acknowledged the stop.

    Raises errors.TandemError for a car that could not be told to stop, after all others were: a
    wrong name delays no stop.
    """
    words = () if args.all else tuple(args.car)
    return _stop(words, None if args.all else args.fleet, args.json)


def _stop(words: Sequence[str], fleet: str | None, is_json: bool) -> int:
    sockets: list[StopSocket] = []
    show = _Report(is_json)
    meant = _meant(find_stop_sockets(), words, fleet, sockets)
    stop_served(meant, SENDER_COMMAND if fleet is None else SENDER_FLEET, show.add)
    uris, faults = _rest(words, fleet, sorted(sockets, key=_by_name))
    for uri in uris:
        try:
            show.add(stop_directly(uri))
        except TandemError as fault:
            faults.append(fault)
    show.end()
    for other in faults[1:]:
        print(other, file=sys.stderr)
    if faults:
        raise faults[0]
    return 0 if show.is_all_seen else DeviceFault.exit_code


def _meant(
    all_of: Iterable[StopSocket | None],
    words: Sequence[str],
    fleet: str | None,
    sockets: list[StopSocket],
) -> Iterator[StopSocket | None]:
    """Pass on what is asked for, and close the rest; ``sockets`` gets all of them."""
    names, uris = {_name(text) for text in words}, {tag(as_uri(text)) for text in words}
    wanted = None if fleet is None else tag(fleet)
    for it in all_of:
        if it is None:
            yield None
            continue
        sockets.append(it)
        is_any = not words and fleet is None
        if is_any or it.name in names or it.uri in uris or it.fleet == wanted:
            yield it
        else:
            it.close()


def _rest(
    words: Sequence[str], fleet: str | None, sockets: Sequence[StopSocket]
) -> tuple[list[str], list[TandemError]]:
    """The URIs of cars that nobody serves; what is wrong with the other words."""
    uris: dict[str, None] = {}
    faults: list[TandemError] = []
    asked: list[Callable[[], Sequence[StopSocket | str]]]
    asked = [partial(_named, text, sockets) for text in words]
    if fleet is not None:
        asked.append(partial(_of_fleet, fleet, sockets))
    for choose in asked or [partial(_every, sockets)]:
        try:
            uris.update(dict.fromkeys(it for it in choose() if isinstance(it, str)))
        except TandemError as fault:
            faults.append(fault)
    return list(uris), faults


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
    calls = sorted(talk.calls.items(), key=lambda row: _by_name(row[0]))
    for it, call in calls:
        it.close()
        if not call.is_seen:
            call.give_up(it)
            tell(call)
    if talk.is_looking:
        raise DeviceFault(
            f"not all cars could be looked for within {LOOK_FOR_S:g} s",
            where=", ".join(stop_folders()),
            expected="names of stop sockets, one for each car that is served",
            got="more names than could be looked at: another login crowds the folder",
            remedy="use the runstop, or cut the power; then remove what is called tandem-stop.*",
        )
    return [call for _, call in calls]


def _by_name(it: StopSocket) -> tuple[bool, str]:
    return it.is_foreign, it.name


def stop_directly(uri: str) -> StopCall:
    """Stop a car that nobody serves. Raises errors.TandemError."""
    import asyncio  # these imports take 100 ms, too long for the usual path

    from host_bridge.config.store import make_host

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
        self._sockets = iter(sockets)
        self._sender = sender
        self._tell = tell
        self._poll = select.poll()
        self._inside: dict[int, StopSocket] = {}
        self._outside = PendingStopSockets(AGAIN_S)

    def run(self) -> None:
        """Until all have acknowledged, or a second after the last was looked for."""
        now_s = time.monotonic()
        look_until_s, give_up_s = now_s + LOOK_FOR_S, now_s + GIVE_UP_S
        again_s = now_s + AGAIN_S
        while self._is_going_on() and now_s < give_up_s:
            if self.is_looking and now_s < look_until_s:
                self._look()
                give_up_s = time.monotonic() + GIVE_UP_S
            if now_s >= again_s:
                again_s = now_s + AGAIN_S
                for it in self._inside.values():
                    _send(it.end, self.calls[it].frame)
            for it in self._outside.entered(now_s):
                self._enter(it)
            self._wait(again_s, now_s)
            now_s = time.monotonic()
        self._outside.end()

    def _look(self) -> None:
        """Say it to each who is found, until there is something else to do."""
        for it in self._sockets:
            if it is None:
                return
            self.calls[it] = StopCall(it.name, it.pid, self._sender, _login(it))
            if it.end:
                self._enter(it)
            else:
                self._outside.add(it, 0.0)
        self.is_looking = False

    def _wait(self, again_s: float, now_s: float) -> None:
        """Hear who answers, no longer than until there is something else to do."""
        until_s = now_s if self.is_looking else again_s
        if self._outside:
            until_s = min(until_s, now_s + LOOK_S)
        for file, _ in self._poll.poll(max(until_s - time.monotonic(), 0.0) * 1e3):
            self._hear(file)

    def _is_going_on(self) -> bool:
        return self.is_looking or bool(self._inside) or bool(self._outside)

    def _enter(self, it: StopSocket) -> None:
        assert it.end is not None, "it was let in"
        self._inside[it.end.fileno()] = it
        self._poll.register(it.end.fileno(), select.POLLIN)
        _send(it.end, self.calls[it].frame)

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


def _send(end: socket.socket | None, frame: bytes) -> None:
    if end is None:
        return
    try:  # noqa: SIM105 - contextlib takes 2 ms to import
        end.send(frame)
    except OSError:  # the buffer is full or the peer gone; then no answer comes
        pass


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


def _named(text: str, sockets: Sequence[StopSocket]) -> Sequence[StopSocket | str]:
    """The served cars of a name or URI; else the URI. Raises errors.DeviceFault."""
    name, text = _name(text), as_uri(text)
    wanted = tag(text)
    found = [it for it in sockets if it.name == name or it.uri == wanted]
    if found:
        return found
    if "://" in text and name == text:
        return [text]
    raise DeviceFault(
        f"nobody serves a car by the name of {name}",
        got=f"served here: {_names(sockets)}",
        remedy="tandem stop without a name stops all of them",
    )


def _name(text: str) -> str:
    """The name of a served car, if this is one."""
    return as_uri(text).removeprefix("tandem:///")


def _of_fleet(fleet: str, sockets: Sequence[StopSocket]) -> Sequence[StopSocket]:
    """Return the served cars of this fleet. Raises errors.DeviceFault if there is no such fleet."""
    wanted = tag(fleet)
    chosen = [it for it in sockets if it.fleet == wanted]
    if not chosen:
        raise DeviceFault(
            f"no car of a fleet {fleet} is served on this machine",
            got=f"served here: {_names(sockets)}",
            remedy="tandem stop without a name stops all cars; tandem serve --fleet names a fleet",
        )
    return chosen


def _every(sockets: Sequence[StopSocket]) -> Sequence[StopSocket]:
    """Return all served cars. Raises errors.DeviceFault if there is none."""
    if not sockets:
        raise DeviceFault(
            "no car is served on this machine",
            got=f"none in {', '.join(stop_folders())}",
            remedy="a car on a port: tandem stop serial:///dev/ttyACM0",
        )
    return sockets


def _names(sockets: Sequence[StopSocket]) -> str:
    return ", ".join(it.name + _login(it) for it in sockets) or "no car"


def _login(it: StopSocket) -> str:
    """Return another login's name in brackets, else "".

    Any login may name its socket like a car.
    """
    return f" (of {_user(it.uid)})" if it.is_foreign else ""


class _Report:
    """The output: each car as it is acknowledged, or all as JSON in the end."""

    def __init__(self, is_json: bool) -> None:
        self.is_all_seen = True
        self._is_json = is_json
        self._rows: list[dict[str, object]] = []

    def add(self, call: StopCall) -> None:
        self.is_all_seen &= call.is_seen
        if self._is_json:
            self._rows.append(call.row())
        else:
            print(call, file=sys.stdout if call.is_seen else sys.stderr, flush=True)

    def end(self) -> None:
        if self._is_json:
            import json

            print(json.dumps(self._rows))


def _user(uid: int) -> str:
    """Return a login's name, for the car's report of who stopped it."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
