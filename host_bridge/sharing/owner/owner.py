"""The single owner of a car: its line on one side, any number of clients on the other.

It relays frames as they are: it never repeats, re-stamps or extends one, and never blocks. So a
client that hangs is silent to the car, and an owner that hangs silences them all; the car then
stops by itself. A client that sends too much loses the excess, and delays nobody's Stop. After a
line was out, only stops and questions pass until it is known whose board is there.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from host_bridge.core.errors import DeviceFault, TandemError
from host_bridge.core.system.clock import Clock
from host_bridge.core.system.observers import Observers
from host_bridge.link.transports.base import OnBytes, OnClosed, Transport
from host_bridge.link.transports.descriptor import already_open
from host_bridge.sharing.owner import admission
from host_bridge.sharing.owner.board_verification import DOWN, UP, BoardVerification, RelayedFrames
from host_bridge.sharing.owner.chunks import Chunker, split
from host_bridge.sharing.owner.rights import ALL, ClientRight, may_pass
from host_bridge.sharing.stop.stop_filter import is_stop

# A replugged board is back within 2 s, of which this takes a quarter of a second at most.
RETRY_S = 0.25


class Client(Protocol):
    """The owner's interface to a client."""

    def deliver(self, data: bytes) -> int:
        """Deliver whole frames from the car, all or nothing; return the bytes taken.

        Never blocks.
        """

    def end(self) -> None:
        """Handle that the owner ends."""


class Owner:
    """The owner of one car's line.

    ``line_fault`` says why there is no line to the car, and ``lines`` publishes its changes.
    ``taps`` publishes everything that goes over the line, as long as ``verification`` is sure that
    it is its car's.
    """

    def __init__(self, transport: Transport, clock: Clock) -> None:
        self.label = transport.label
        self.line_fault: Exception | None = None
        self.lines: Observers[Exception | None] = Observers()
        self.unsent_bytes = 0  # to the car: no room in its transport, or no line
        self.refused_bytes = 0  # from clients beyond their rate limit or their rights
        self.undelivered_bytes = 0  # to clients that did not read in time
        self.taps: Observers[RelayedFrames] = Observers()
        self.verification = BoardVerification(self.taps)
        self.transport = transport
        self._clock = clock
        self._line = admission.line_bucket(getattr(transport, "bytes_per_s", None))
        self._from_car = Chunker()
        self._clients: list[Client] = []
        self._reconnecting: asyncio.Task[None] | None = None
        self.is_ended = False

    async def start(self) -> None:
        """Open the line. Raises errors.TandemError."""
        try:
            await self.transport.open(self._hear, self._lose)
        except RuntimeError as error:  # from a virtual car, which does not import our errors
            raise DeviceFault(str(error), where=self.transport.label) from None

    def attach(self) -> Transport:
        """Return a transport for a client in this process, with the same rights as any other."""
        return InProcessClient(self)

    def join(self, client: Client, rights: ClientRight = ALL) -> ClientLine:
        """Add a client; return the line into which it puts what it sends, within these rights."""
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
        """Send whole frames to the car as they are."""
        taken = self.transport.send(frames)
        self.unsent_bytes += len(frames) - taken
        if taken:
            self._tap(UP, frames)

    def relay(self, frames: bytes, client: admission.TokenBucket) -> bool:
        """Send a client's frames if the rate limits allow them now; return whether they do."""
        now_us = self._clock.now_us()
        size = len(frames)
        if not (client.has(size, now_us) and self._line.has(size, now_us)):
            return False
        client.take(size)
        self._line.take(size)
        self.send(frames)
        return True

    def close(self) -> None:
        """Close the line. The car then stops, since nobody claims any more."""
        self.is_ended = True
        self.verification.flush()
        if self._reconnecting:
            self._reconnecting.cancel()
        self.transport.close()
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
            self.verification.relay(RelayedFrames(direction, frames, self._clock.now_us()))

    def _lose(self, why: Exception | None) -> None:
        self._from_car.reset()
        self.verification.invalidate()
        if not self.is_ended:
            self._publish(why)
            self._reconnecting = asyncio.get_running_loop().create_task(self._reconnect())

    async def _reconnect(self) -> None:
        """Retry until the line is back. Nothing is sent on that occasion, so nothing gets armed."""
        while True:
            await asyncio.sleep(RETRY_S)
            try:
                await self.start()
            except TandemError as fault:
                self.line_fault = fault
            else:
                self._publish(None)
                return

    def _publish(self, fault: Exception | None) -> None:
        self.line_fault = fault
        self.lines.publish(fault)


class ClientLine:
    """The way of one client's frames to the car; frames of several clients alternate whole."""

    def __init__(self, owner: Owner, client: Client, rights: ClientRight) -> None:
        self._owner = owner
        self._client = client
        self._rights = rights
        self._chunker = Chunker()
        self._bucket = admission.client_bucket()
        self._stops = admission.stop_bucket()

    def feed(self, data: bytes) -> bool:
        """Relay bytes. Return False if some were too much, so that their reader may pause."""
        frames = self._chunker.feed(data)
        self._chunker.take_noise()  # dropped: it must not cut into another client's frame
        if self._rights != ALL:
            frames = self._permitted(frames)
        if self._owner.verification.rights != ALL:
            frames = self._allowed_unverified(frames)
        if not is_stop(frames) and self._owner.relay(frames, self._bucket):
            return True
        return self._relay_each(frames)

    def end(self) -> None:
        self._owner.leave(self._client)

    def _permitted(self, frames: bytes) -> bytes:
        kept = _passing(frames, self._rights)
        self._owner.refused_bytes += len(frames) - len(kept)
        return kept

    def _allowed_unverified(self, frames: bytes) -> bytes:
        """Keep the frames that even another car may get."""
        kept = _passing(frames, self._owner.verification.rights)
        self._owner.unsent_bytes += len(frames) - len(kept)
        return kept

    def _relay_each(self, frames: bytes) -> bool:
        """Relay Stops first: they must not wait for anything that was sent with them."""
        parts = split(frames)
        stops = [part for part in parts if is_stop(part)]
        others = [part for part in parts if not is_stop(part)]
        return all([*map(self._stop, stops), *map(self._relay, others)])

    def _relay(self, frame: bytes) -> bool:
        if self._owner.relay(frame, self._bucket):
            return True
        self._owner.refused_bytes += len(frame)
        return False

    def _stop(self, frame: bytes) -> bool:
        may_pass = self._stops.has(len(frame), self._owner.now_us())
        if may_pass:
            self._stops.take(len(frame))
            self._owner.send(frame)
        return may_pass


def _passing(frames: bytes, rights: ClientRight) -> bytes:
    return b"".join(part for part in split(frames) if may_pass(part, rights))


class InProcessClient:
    """A ``transports.base.Transport`` to the owner in the same process."""

    is_virtual = False  # its owner exists, and so does a car that can be stopped
    vehicle: str | None = None

    def __init__(self, owner: Owner) -> None:
        self.label = owner.label
        self._owner = owner
        self._line: ClientLine | None = None
        self._callbacks: tuple[OnBytes, OnClosed] | None = None

    async def open(self, on_bytes: OnBytes, on_closed: OnClosed) -> None:
        """Join the owner.

        Raises errors.UsageFault if it is open already, errors.DeviceFault after the owner.
        """
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
        # Deferred, so that an answer sent from within on_bytes does not recurse
        asyncio.get_running_loop().call_soon(self._arrive, self._callbacks, data)
        return len(data)

    def end(self) -> None:
        self.close()

    def _arrive(self, opened_as: tuple[OnBytes, OnClosed] | None, data: bytes) -> None:
        if opened_as and self._callbacks is opened_as:  # neither closed nor reopened meanwhile
            opened_as[0](data)
