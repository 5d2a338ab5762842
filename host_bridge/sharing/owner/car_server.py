"""The service of one car: its owner, its sockets, its description, its log, and its identity."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import datetime, timezone
from typing import Protocol

from host_bridge.cars.car import ConnectedCar
from host_bridge.cars.stop_source_heartbeat import OWNER, StopSourceHeartbeat
from host_bridge.config import vehicle_word
from host_bridge.core import (
    CarIdentity,
    CarMatch,
    CarStatus,
    KnownCar,
    Sender,
    State,
    Vehicle,
    another_car_text,
    compare_cars,
)
from host_bridge.core.errors import AnotherCarFault
from host_bridge.core.system.clock import Clock
from host_bridge.link.protocol.connection import Connection
from host_bridge.link.protocol.events import LinkEvent, LinkLost, LinkStranger
from host_bridge.link.protocol.runner import Runner
from host_bridge.link.protocol.wire import own_protocol_hash
from host_bridge.link.transports.base import Transport
from host_bridge.link.transports.uri import Uri
from host_bridge.logs.recorder import Recorder
from host_bridge.sharing.endpoints.endpoint import OwnerEndpoint, local_endpoint
from host_bridge.sharing.endpoints.naming import is_of_another_host
from host_bridge.sharing.endpoints.served import ServedCar, announce, served, withdraw
from host_bridge.sharing.owner.owner import Owner
from host_bridge.sharing.owner.radio import RadioEndpoint
from host_bridge.sharing.owner.recording import describe_car, tap_into
from host_bridge.sharing.owner.taps import tap_endpoint
from host_bridge.sharing.stop.stop_endpoint import StopEndpoint

FIRST_IDENTITY_S = 1.5  # a board that the opening of its port has reset is up again by then
# it leaves without an answer then: the car falls silent and stops by itself sooner
_FAREWELL_S = 0.3
_CANCEL_AGAIN_S = 0.1  # see `end`: whoever ends waits so long once more at most
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")

Recognise = Callable[[CarIdentity], "Vehicle | None"]


class NetworkWay(OwnerEndpoint, Protocol):
    """A way in for other machines, of which the service says where it is and who came."""

    address: tuple[str, int]

    def uris(self, car_name: str) -> list[str]: ...

    def news(self) -> Iterator[str]: ...


class CarServer:
    """The service of the car at one transport, until it is closed.

    ``car`` listens, and can stop it.

    The car is the board that was met first, or one of the ``expected_cars``. Another board at the
    line is not served: it can be stopped, and nothing else. With an epoch the service has a
    session of its own, in which it sends the heartbeat of the stop source "owner"; without one,
    that is up to the code that serves the car and has a session besides.
    """

    def __init__(
        self,
        uri: str,
        transport: Transport,
        clock: Clock,
        recognise: Recognise,
        epoch: int | None = None,
    ) -> None:
        self.uri = uri
        self.name = ""
        self.fleet = ""  # set before ``start``
        self.expected_cars: tuple[KnownCar, ...] = ()  # set before ``start``; empty: any car
        self.owner = Owner(transport, clock)
        self.car = ConnectedCar("", Connection(own_protocol_hash(), epoch))
        # A car of another host has its owner there: this program is a guest, and its end is no stop
        self.is_guest = is_of_another_host(uri)
        if not self.is_guest:
            self.car.heartbeats.append(StopSourceHeartbeat(self.car, OWNER))
        self._clock = clock
        self._recognise = recognise
        self._runner = Runner(self.owner.attach(), self.car, clock, self._hear)
        self._run: asyncio.Task[None] | None = None
        self.radio: RadioEndpoint | None = None  # set before ``start``
        self.network: NetworkWay | None = None  # set before ``start``
        self._endpoints: list[OwnerEndpoint] = []
        self._known: KnownCar | None = None  # the car as it was identified last
        self._stranger: KnownCar | None = None  # the last other car seen in its place
        self._log: Recorder | None = None
        self._is_line_new = True
        self._answered = asyncio.Event()
        self._started = datetime.now(timezone.utc).isoformat(timespec="seconds")

    async def start(self, name: str | None = None) -> None:
        """Open the line, identify the car, let clients in. Raises errors.TandemError.

        Without ``name`` the car's own is used. A car that says nothing, or nothing that we
        understand, is served nevertheless, for it may still hear a stop. Another car than the one
        meant is refused.
        """
        self.car.name = name or ""
        self.car.connection.boards = frozenset(known.board_id for known in self.expected_cars)
        self.owner.lines.subscribe(self._line_changed)
        await self.owner.start()
        try:
            if self.radio:
                await self.radio.start()
            await self._runner.open()
            self._run = asyncio.get_running_loop().create_task(self._runner.run())
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._answered.wait(), FIRST_IDENTITY_S)
            self._refuse_another()
            self._open_endpoints(name)
        except BaseException:
            await self.close()
            raise

    def record(self, log: Recorder) -> None:
        """Log everything of this car from now on, both ways.

        While another car is there the log pauses.
        """
        self._log = log
        describe_car(log, self.name, self.car, self.uri, self.vehicle_name())
        self.owner.taps.subscribe(tap_into(log, self.name))

    @property
    def board_id(self) -> str:
        """The id of its car's board in hexadecimal; empty until it is known."""
        return self.car.as_known_car().board_id.hex()

    def vehicle_name(self) -> str:
        """Return the name by which others find the vehicle too.

        It is an absolute path unless Tandem brings the vehicle along.
        """
        return vehicle_word(self.car.vehicle) if self.car.vehicle else ""

    async def close(self) -> None:
        """Close the sockets, stop the car if it is armed, end the task, and close the line.

        Each is done whatever the ones before raise; what they raise is raised in the end.
        """
        async with AsyncExitStack() as leaving:  # the last that it is given comes first
            leaving.callback(self.owner.close)
            if self._run:
                leaving.push_async_callback(end, self._run)
            leaving.push_async_callback(self._stop_if_armed)
            if self._endpoints:
                leaving.callback(withdraw, self.name)
            for endpoint in reversed(self._endpoints):
                leaving.callback(endpoint.close)

    def _open_endpoints(self, name: str | None) -> None:
        self.name = self.car.name = name or untaken(self._own_name())
        stops = StopEndpoint(self.name, self.fleet, self.uri)
        ways: tuple[OwnerEndpoint | None, ...] = (
            local_endpoint(self.name), tap_endpoint(self.name), stops, self.radio, self.network
        )  # fmt: skip
        for endpoint in filter(None, ways):
            endpoint.open(self.owner)
            self._endpoints.append(endpoint)
        self._announce()

    def _refuse_another(self) -> None:
        """Raise errors.AnotherCarFault if another car than the one meant is there."""
        if self._stranger:
            raise AnotherCarFault(
                another_car_text(" or ".join(map(str, self.expected_cars)), self._stranger),
                where=self.uri,
                remedy="plug that car in here; or leave --name out, and this one is served by its "
                "own; or say that this board is meant: --board ID",
            )

    def _own_name(self) -> str:
        uri = Uri.parse(self.uri)
        of_uri = uri.query.get("name") or uri.path.rpartition("/")[2] or uri.authority
        wanted = (self.car.identity.car_name if self.car.identity else "") or of_uri
        return _NO_NAME.sub("-", wanted).strip("-")[:32] or "car"

    def _announce(self) -> None:
        announce(
            ServedCar(
                self.name,
                self.uri,
                os.getpid(),
                self.vehicle_name(),
                self._started,
                self.fleet,
                self.board_id,
            )
        )

    def _hear(self, events: list[LinkEvent]) -> None:
        for event in events:
            if isinstance(event, CarIdentity):
                self._identified(event)
            elif isinstance(event, LinkStranger):
                self._refuse(event.identity)
            elif isinstance(event, LinkLost):
                self.owner.verification.invalidate()
            elif isinstance(event, CarStatus) and self._is_line_new:
                self._take_over(event.state)

    def _identified(self, identity: CarIdentity) -> None:
        """Take an Identity: the first one, and those when the car comes back or is reconfigured."""
        self.owner.verification.confirm()
        self._stranger = None
        before, hash_before = self._known, self._known and self._known.config_hash
        if identity.config_hash == hash_before:
            return
        self.car.vehicle = self._recognise(identity)
        self._known = now = self._now(identity)
        self._answered.set()
        if before and compare_cars(before, now) is CarMatch.REFITTED:
            self._note(f"{self.name} was flashed anew: {before} before, {now} from here on")
        if self._endpoints and (before is None or before.vehicle != now.vehicle):
            self._announce()

    def _now(self, identity: CarIdentity) -> KnownCar:
        name = self.name or identity.car_name
        return replace(self.car.as_known_car(), name=name, config_hash=identity.config_hash)

    def _refuse(self, identity: CarIdentity) -> None:
        """Note another car at the line: nobody may drive it by our name, but we may stop it."""
        self.owner.verification.reject()
        before, self._stranger = self._stranger, KnownCar(identity.board_id, identity.car_name)
        self._answered.set()
        if before != self._stranger:  # once for each stay, however often its line drops
            self._note(f"cut here: {self.car.stranger}")
        if self._is_line_new:
            self._take_over(identity.state)

    def _note(self, text: str) -> None:
        if self._log:
            self._log.note(text)

    def _line_changed(self, fault: Exception | None) -> None:
        self._is_line_new = fault is None

    def _take_over(self, state: State) -> None:
        """Stop a car that is armed on a new line: its owner crashed, or its cable was out."""
        self._is_line_new = False
        if state.is_armed and not self.is_guest:
            self.car.stop(Sender.OWNER, "new line", self._clock.now_us())

    async def _stop_if_armed(self) -> None:
        """Stop an armed car before its owner leaves: the next client could drive it at once."""
        status = self.car.status
        is_armed = self.car.is_online() and status and status.state.is_armed
        if not is_armed or self.is_guest:
            return
        stop = self.car.stop(Sender.OWNER, "owner ended", self._clock.now_us())
        give_up_us = self._clock.now_us() + int(_FAREWELL_S * 1e6)
        while stop.seen_us is None and self._clock.now_us() < give_up_us:
            await asyncio.sleep(0.005)  # half a step of a car


async def end(task: asyncio.Task[None]) -> None:
    """Cancel a task until it has ended; raise what it failed with.

    Once is not enough before Python 3.12: ``wait_for`` loses a cancellation that comes at the very
    moment at which what it waits for is there.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=_CANCEL_AGAIN_S)
    with suppress(asyncio.CancelledError):
        task.result()


def untaken(wanted: str) -> str:
    """Return the name, with a number appended if another car is served by it."""
    taken = {car.name for car in served()}
    names = itertools.chain([wanted], (f"{wanted[:28]}-{n}" for n in itertools.count(2)))
    return next(name for name in names if name not in taken)
