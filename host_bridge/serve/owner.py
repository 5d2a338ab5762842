"""The one owner of a car: its line on one side, any number of clients on the other.

It relays frames as they are: it repeats, re-stamps and extends nothing, and waits for nobody. So a
client that hangs is silent to the car, and an owner that hangs makes all of them so; the car then
stops by itself. One that says too much loses what is too much, and keeps nobody's Stop waiting.
A line that was out passes nothing but stops and questions until it is known whose board is there.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from host_bridge.clock import Clock
from host_bridge.errors import DeviceFault, TandemError
from host_bridge.link.rights import ALL, Right, may_pass
from host_bridge.link.stop_filter import is_stop
from host_bridge.observers import Observers
from host_bridge.serve import admission
from host_bridge.serve.chunks import Chunker, split
from host_bridge.serve.doubt import DOWN, UP, Doubt, Relayed
from host_bridge.transports.base import OnBytes, OnClosed, Transport
from host_bridge.transports.descriptor import already_open

# A replugged board is back within 2 s: a quarter is lost to this at most.
RETRY_S = 0.25


class Client(Protocol):
    """The owner's end of a client."""

    def deliver(self, data: bytes) -> int:
        """Whole frames from the car. Never blocks: takes all or nothing; says how many bytes."""

    def end(self) -> None:
        """The owner ends."""


class Owner:
    """``line_fault`` says why there is no line to the car, ``lines`` is told when it changes, and
    ``taps`` of all that goes over it while ``doubt`` has none that it is its car's."""

    def __init__(self, transport: Transport, clock: Clock) -> None:
        self.label = transport.label
        self.line_fault: Exception | None = None
        self.lines: Observers[Exception | None] = Observers()
        self.unsent_bytes = 0  # to the car: its transport had no room, or there was no line
        self.refused_bytes = 0  # of clients that said more than a car can take, or than they may
        self.undelivered_bytes = 0  # to clients that did not read
        self.taps: Observers[Relayed] = Observers()
        self.doubt = Doubt(self.taps)
        self._transport = transport
        self._clock = clock
        self._line = admission.of_line(getattr(transport, "bytes_per_s", None))
        self._from_car = Chunker()
        self._clients: list[Client] = []
        self._reconnecting: asyncio.Task[None] | None = None
        self.is_ended = False

    async def start(self) -> None:
        """Open the line. Raises errors.TandemError."""
        try:
            await self._transport.open(self._hear, self._lose)
        except RuntimeError as error:  # a virtual car's: it depends on nothing of the host
            raise DeviceFault(str(error), where=self._transport.label) from None

    def attach(self) -> Transport:
        """A client inside this process, with the same rights as any other."""
        return InProcessClient(self)

    def join(self, client: Client, rights: Right = ALL) -> ClientLine:
        """Take a client in; what it says goes into the line that it gets, as far as it may."""
        self._clients.append(client)
        return ClientLine(self, client, rights)

    def leave(self, client: Client) -> None:
        if client in self._clients:
            self._clients.remove(client)

    def now_us(self) -> int:
        return self._clock.now_us()

    @property
    def clients(self) -> int:
        return len(self._clients)

    def send(self, frames: bytes) -> None:
        """Whole frames, to the car as they are."""
        taken = self._transport.send(frames)
        self.unsent_bytes += len(frames) - taken
        if taken:
            self._tap(UP, frames)

    def relay(self, frames: bytes, client: admission.Allowance) -> bool:
        """What a client says, if so much may go now."""
        now_us = self._clock.now_us()
        size = len(frames)
        if not (client.has(size, now_us) and self._line.has(size, now_us)):
            return False
        client.take(size)
        self._line.take(size)
        self.send(frames)
        return True

    def close(self) -> None:
        """Leave the car to itself; it stops, for nobody claims any more."""
        self.is_ended = True
        self.doubt.end()
        if self._reconnecting:
            self._reconnecting.cancel()
        self._transport.close()
        for client in list(self._clients):
            client.end()

    def _hear(self, data: bytes) -> None:
        frames = self._from_car.feed(data) or self._from_car.take_noise()
        if not frames:
            return
        self._tap(DOWN, frames)
        for client in list(self._clients):
            self.undelivered_bytes += len(frames) - client.deliver(frames)

    def _tap(self, direction: str, frames: bytes) -> None:
        if self.taps:
            self.doubt.tell(Relayed(direction, frames, self._clock.now_us()))

    def _lose(self, why: Exception | None) -> None:
        self._from_car.reset()
        self.doubt.doubt()
        if not self.is_ended:
            self._say(why)
            self._reconnecting = asyncio.get_running_loop().create_task(self._reconnect())

    async def _reconnect(self) -> None:
        """Until the cable is back. Nothing is sent on that occasion, so nothing gets armed."""
        while True:
            await asyncio.sleep(RETRY_S)
            try:
                await self.start()
            except TandemError as fault:
                self.line_fault = fault
            else:
                self._say(None)
                return

    def _say(self, fault: Exception | None) -> None:
        self.line_fault = fault
        self.lines.tell(fault)


class ClientLine:
    """From one client to the car. Frames of several clients alternate, whole ones only."""

    def __init__(self, owner: Owner, client: Client, rights: Right) -> None:
        self._owner = owner
        self._client = client
        self._rights = rights
        self._chunker = Chunker()
        self._allowance = admission.of_client()
        self._stops = admission.of_stops()

    def feed(self, data: bytes) -> bool:
        """False if some of it was too much: whoever reads it from somewhere may rest a while."""
        frames = self._chunker.feed(data)
        self._chunker.take_noise()  # is for nobody: it must not cut into another's frame
        if self._rights != ALL:
            frames = self._permitted(frames)
        if self._owner.doubt.rights != ALL:
            frames = self._undoubted(frames)
        if not is_stop(frames) and self._owner.relay(frames, self._allowance):
            return True
        return self._relay_each(frames)

    def end(self) -> None:
        self._owner.leave(self._client)

    def _permitted(self, frames: bytes) -> bytes:
        kept = _passing(frames, self._rights)
        self._owner.refused_bytes += len(frames) - len(kept)
        return kept

    def _undoubted(self, frames: bytes) -> bytes:
        """Keep what whoever is there may hear: it may be another car."""
        kept = _passing(frames, self._owner.doubt.rights)
        self._owner.unsent_bytes += len(frames) - len(kept)
        return kept

    def _relay_each(self, frames: bytes) -> bool:
        """Stops first: they wait for nothing that was said with them."""
        parts = split(frames)
        stops = [part for part in parts if is_stop(part)]
        others = [part for part in parts if not is_stop(part)]
        return all([*map(self._stop, stops), *map(self._relay, others)])

    def _relay(self, frame: bytes) -> bool:
        if self._owner.relay(frame, self._allowance):
            return True
        self._owner.refused_bytes += len(frame)
        return False

    def _stop(self, frame: bytes) -> bool:
        may_pass = self._stops.has(len(frame), self._owner.now_us())
        if may_pass:
            self._stops.take(len(frame))
            self._owner.send(frame)
        return may_pass


def _passing(frames: bytes, rights: Right) -> bytes:
    return b"".join(part for part in split(frames) if may_pass(part, rights))


class InProcessClient:
    """A ``transports.base.Transport`` to the owner in the same process."""

    is_virtual = False  # there is an owner, and behind it a car
    vehicle: str | None = None

    def __init__(self, owner: Owner) -> None:
        self.label = owner.label
        self._owner = owner
        self._line: ClientLine | None = None
        self._callbacks: tuple[OnBytes, OnClosed] | None = None

    async def open(self, on_bytes: OnBytes, on_closed: OnClosed) -> None:
        """Raises errors.UsageFault if it is open already, errors.DeviceFault after the owner."""
        if self._line:
            raise already_open(self.label)
        if self._owner.is_ended:
            raise DeviceFault("the owner of the car has ended", where=self.label)
        self._callbacks = (on_bytes, on_closed)
        self._line = self._owner.join(self)

    def send(self, data: bytes) -> int:
        if not self._line:
            return 0
        self._line.feed(data)
        return len(data)

    def close(self) -> None:
        if self._line and self._callbacks:
            self._line.end()
            on_closed = self._callbacks[1]
            self._line = self._callbacks = None
            on_closed(None)

    def deliver(self, data: bytes) -> int:
        # Later, as on a wire: an answer sent from within on_bytes must not nest.
        asyncio.get_running_loop().call_soon(self._arrive, self._callbacks, data)
        return len(data)

    def end(self) -> None:
        self.close()

    def _arrive(self, opened_as: tuple[OnBytes, OnClosed] | None, data: bytes) -> None:
        if opened_as and self._callbacks is opened_as:  # not closed, or opened anew, meanwhile
            opened_as[0](data)
