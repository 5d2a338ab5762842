"""``tandem stop``: stop cars, now.

Needs no session, no key and no memory, and imports little, so that from the press of Enter to the
brakes it takes a fraction of a second. The frame is repeated until the car has acknowledged it.

It goes through whoever serves the car. If that program hangs, no claim reaches the car either, and
the car has stopped by itself; this then says that it got no answer, and ends with an error.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pwd
import select
import socket
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from host_bridge.errors import DeviceFault, TandemError
from host_bridge.link.frozen_stop import SENDER_COMMAND, SENDER_FLEET, StopWatch, stop_frame
from host_bridge.transports.served import ServedCar, served, socket_path

if TYPE_CHECKING:
    from host_bridge.transports.base import Transport

EPILOG = """\
examples:
  tandem stop                   every car that is served on this machine
  tandem stop nigel             one of them; a name that is wrong keeps no other from stopping
  tandem stop --fleet red       those that tandem serve --fleet red serves
  tandem stop serial:///dev/ttyACM0
                                a car that nobody serves, straight through its port

It exits with 0 only if every car has acknowledged the stop.
"""
AGAIN_S = 0.02  # two steps of the car
GIVE_UP_S = 1.0
_READ_BYTES = 65_536


class StopCall:
    """A stop on its way to one car: what to send, and whether it was seen."""

    def __init__(self, name: str, pid: int, sender: int = SENDER_COMMAND) -> None:
        token = int.from_bytes(os.urandom(2), "little")
        self.name = name
        self.frame = stop_frame(token, _user(), sender)
        self.took_ms: float | None = None  # until it was acknowledged
        self._pid = pid  # of who serves it
        self._watch = StopWatch(token)
        self._begun_s = time.monotonic()

    @property
    def is_seen(self) -> bool:
        return self.took_ms is not None

    def hear(self, data: bytes) -> None:
        self._watch.feed(data)
        if self._watch.is_seen and self.took_ms is None:
            self.took_ms = (time.monotonic() - self._begun_s) * 1e3

    def row(self) -> dict[str, object]:
        took_ms = None if self.took_ms is None else round(self.took_ms, 1)
        state = self._watch.state or None
        return {"name": self.name, "is_seen": self.is_seen, "state": state, "took_ms": took_ms}

    def __str__(self) -> str:
        if self.took_ms is not None:
            return f"{self.name}: {self._watch.state}, acknowledged after {self.took_ms:.0f} ms"
        return (
            f"{self.name}: NOT ACKNOWLEDGED within {GIVE_UP_S:g} s. Use its runstop, or cut its "
            f"power.\n  If the program that serves it (process {self._pid}) hangs or its cable is "
            "out, the car gets no claims\n  and stops by itself."
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Stop cars, now; by default all that are served on this machine."
    parser.epilog = EPILOG
    parser.add_argument("car", nargs="*", metavar="CAR", help="names, or URIs")
    parser.add_argument("--all", action="store_true", help="all served cars (the default)")
    parser.add_argument("--fleet", metavar="NAME", help="the served cars of one fleet")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace, context: object = None) -> int:
    """0 if every car acknowledged. Raises errors.TandemError for what could not be told to stop,
    after all others were: a name that is wrong holds up no stop.
    """
    chosen, faults = _chosen(args, served())
    sender = SENDER_COMMAND if args.fleet is None else SENDER_FLEET
    calls = stop_served([car for car in chosen if isinstance(car, ServedCar)], sender)
    for uri in chosen:
        if isinstance(uri, str):
            try:
                calls.append(stop_directly(uri))
            except TandemError as fault:
                faults.append(fault)
    _print(calls, args.json)
    for other in faults[1:]:
        print(other, file=sys.stderr)
    if faults:
        raise faults[0]
    return 0 if all(call.is_seen for call in calls) else DeviceFault.exit_code


def _chosen(
    args: argparse.Namespace, cars: Sequence[ServedCar]
) -> tuple[list[ServedCar | str], list[TandemError]]:
    """Served cars and URIs, each once; and what is wrong with the rest."""
    found: dict[ServedCar | str, None] = {}
    faults: list[TandemError] = []
    asked: list[Callable[[], list[ServedCar | str]]]
    asked = [partial(_named, text, cars) for text in args.car]
    if args.fleet is not None:
        asked.append(partial(_of_fleet, args.fleet, cars))
    if args.all or not asked:
        asked = [partial(_every, cars)]
    for choose in asked:
        try:
            found.update(dict.fromkeys(choose()))
        except TandemError as fault:
            faults.append(fault)
    return list(found), faults


def stop_served(cars: Sequence[ServedCar], sender: int = SENDER_COMMAND) -> list[StopCall]:
    """Stop cars through their owners, all at once."""
    calls = {_connected(car.name): StopCall(car.name, car.pid, sender) for car in cars}
    _send_until_seen({end: call for end, call in calls.items() if end.fileno() >= 0})
    for end in calls:
        end.close()
    return list(calls.values())


def stop_directly(uri: str) -> StopCall:
    """Stop a car that nobody serves. Raises errors.TandemError."""
    import asyncio  # all this takes 100 ms longer, for which the usual way has no time

    from host_bridge.context import HostContext

    context = HostContext()
    if "sim" in uri.partition("://")[0]:
        raise DeviceFault(
            "nobody serves this virtual car, so there is none", where=uri, remedy="tandem cars"
        )
    transport = context.transport(uri)
    # a board is told so straight away, and not made ready for a plant before
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


def _send_until_seen(calls: dict[socket.socket, StopCall]) -> None:
    give_up_s = time.monotonic() + GIVE_UP_S
    again_s = 0.0
    waiting = dict(calls)
    while waiting and (now_s := time.monotonic()) < give_up_s:
        if now_s >= again_s:
            again_s = now_s + AGAIN_S
            for end, call in waiting.items():
                with contextlib.suppress(OSError):  # full, or gone: then there is no answer
                    end.send(call.frame)
        ready, _, _ = select.select(list(waiting), [], [], max(again_s - time.monotonic(), 0))
        for end in ready:
            if not _receive(end, waiting[end]) or waiting[end].is_seen:
                del waiting[end]


def _receive(end: socket.socket, call: StopCall) -> bool:
    """False if its owner went away: no answer will come."""
    try:
        data = end.recv(_READ_BYTES)
    except OSError:
        return False
    call.hear(data)
    return bool(data)


def _connected(name: str) -> socket.socket:
    """A socket to the owner; a closed one if it lets nobody in."""
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    end.setblocking(False)
    try:
        end.connect(str(socket_path(name)))
    except OSError:
        end.close()
    return end


def _named(text: str, cars: Sequence[ServedCar]) -> list[ServedCar | str]:
    """The served car of a name or URI; else the URI. Raises errors.DeviceFault."""
    name = text.removeprefix("tandem:///")
    for car in cars:
        if name == car.name or text == car.uri:
            return [car]
    if "://" in text and name == text:
        return [text]
    names = ", ".join(car.name for car in cars)
    raise DeviceFault(
        f"nobody serves a car by the name of {name}",
        got=f"served here: {names or 'no car'}",
        remedy="tandem stop without a name stops all of them; a port is serial:///dev/...",
    )


def _of_fleet(fleet: str, cars: Sequence[ServedCar]) -> list[ServedCar | str]:
    """Raises errors.DeviceFault if there is no such fleet."""
    chosen: list[ServedCar | str] = [car for car in cars if car.fleet == fleet]
    if not chosen:
        known = ", ".join(sorted({car.fleet for car in cars if car.fleet}))
        raise DeviceFault(
            f"no car of a fleet {fleet} is served on this machine",
            got=f"fleets served here: {known or 'none'}",
            remedy="tandem stop without a name stops all cars; tandem serve --fleet names a fleet",
        )
    return chosen


def _every(cars: Sequence[ServedCar]) -> list[ServedCar | str]:
    """Raises errors.DeviceFault if there is none."""
    if not cars:
        raise DeviceFault(
            "no car is served on this machine",
            remedy="a car on a port: tandem stop serial:///dev/ttyACM0",
        )
    return list(cars)


def _print(calls: Sequence[StopCall], is_json: bool) -> None:
    if is_json:
        print(json.dumps([call.row() for call in calls]))
        return
    for call in calls:
        print(call, file=sys.stdout if call.is_seen else sys.stderr)


def _user() -> str:
    """For the car's report of who stopped it."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"user {os.getuid()}"
