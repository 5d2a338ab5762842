"""What every transport keeps: its test class inherits ``BusContract`` and gives a wire."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import pytest

from host_bridge.core.errors import TandemError, UsageFault
from host_bridge.core.system.clock import MonotonicClock
from host_bridge.link.transports.base import OnBytes, Transport
from host_bridge.link.transports.uri import open_transport
from tests.support import patience

ALL_BYTES = b"\0" + bytes(range(1, 256)) + b"\0"  # as a frame has it: zeros only at its ends
GONE_WITHIN_S = 0.25  # what the spine promises for a pulled cable
PATIENCE_S = 60.0  # only a failing test waits for it

Result = TypeVar("Result")


class FarEnd(Protocol):
    """The other end of the cable, a real one."""

    async def connect(self, on_bytes: OnBytes) -> None:
        """Listen to whoever opens the transport next."""

    def write(self, data: bytes) -> None: ...

    def cut(self) -> None:
        """The far end goes away."""


@dataclass
class Wire:
    transport: Transport
    far: FarEnd


@dataclass
class Ear:
    """What a transport told its user."""

    data: bytearray = field(default_factory=bytearray)
    closed: list[Exception | None] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def on_bytes(self, data: bytes) -> None:
        assert not self.closed, "bytes after the end"
        self.data += data
        self._changed.set()

    def on_closed(self, why: Exception | None) -> None:
        self.closed.append(why)
        self._changed.set()

    async def until(self, is_so: Callable[[], bool], within_s: float = PATIENCE_S) -> None:
        """Waits for something to be so; raises patience.Hang."""

        async def watch() -> None:
            while not is_so():
                self._changed.clear()
                await self._changed.wait()

        await patience.within(watch(), within_s)


@dataclass(frozen=True)
class Bench:
    """A ``base.Context`` without vehicles."""

    clock: MonotonicClock = field(default_factory=MonotonicClock)

    def now_us(self) -> int:
        return self.clock.now_us()

    def vehicle(self, name: str) -> object:
        raise AssertionError(f"no transport here needs a vehicle, but {name} was asked for")

    def transport(self, text: str) -> Transport:
        return open_transport(text, self)


def run_strictly(test: Coroutine[Any, Any, Result]) -> Result:
    """As asyncio.run, but what goes wrong in a callback fails the test instead of being logged."""
    wrong: list[str] = []

    async def watched() -> Result:
        asyncio.get_running_loop().set_exception_handler(lambda _, it: wrong.append(str(it)))
        return await test

    result = asyncio.run(watched())
    assert not wrong
    return result


class BusContract:
    def wire(self) -> AbstractAsyncContextManager[Wire]:
        raise NotImplementedError

    def test_it_says_what_is_behind_it_before_it_is_open(self) -> None:
        async def run() -> None:
            async with self.wire() as wire:
                assert wire.transport.is_virtual in (True, False)
                assert wire.transport.vehicle is None or isinstance(wire.transport.vehicle, str)

        run_strictly(run())

    def test_nothing_is_taken_before_it_is_open(self) -> None:
        async def run() -> None:
            async with self.wire() as wire:
                assert wire.transport.send(ALL_BYTES) == 0

        run_strictly(run())

    def test_nothing_is_taken_after_it_is_closed(self) -> None:
        async def run() -> None:
            async with self.wire() as wire:
                await opened(wire)
                wire.transport.close()
                assert wire.transport.send(ALL_BYTES) == 0

        run_strictly(run())

    def test_a_second_open_is_refused_and_harms_nothing(self) -> None:
        async def run() -> None:
            async with self.wire() as wire:
                ear, other = await opened(wire), Ear()
                with pytest.raises(UsageFault, match="open already"):
                    await wire.transport.open(other.on_bytes, other.on_closed)
                await echoed(wire, ear, ALL_BYTES)
                assert not other.data

        run_strictly(run())

    def test_every_byte_comes_back_whole(self) -> None:
        async def run() -> None:
            async with self.wire() as wire:
                ear = await opened(wire)
                await echoed(wire, ear, ALL_BYTES)

        run_strictly(run())

    def test_every_byte_comes_back_bytewise(self) -> None:
        async def run() -> None:
            async with self.wire() as wire:
                ear = await opened(wire)
                await echoed(wire, ear, *(ALL_BYTES[i : i + 1] for i in range(len(ALL_BYTES))))

        run_strictly(run())

    def test_a_peer_that_does_not_read_holds_nothing_up_and_frames_stay_whole(self) -> None:
        async def run() -> None:
            async with self.wire() as wire:
                heard = Ear()
                await wire.far.connect(heard.on_bytes)
                ear = Ear()
                await wire.transport.open(ear.on_bytes, ear.on_closed)
                taken, seconds = flooded(wire.transport)
                await heard.until(lambda: len(heard.data) >= len(taken))
                assert heard.data == taken
                assert seconds < 2  # 20 000 frames, while nobody reads

        run_strictly(run())

    def test_one_closed_while_nobody_read_opens_again(self) -> None:
        async def run() -> None:
            async with self.wire() as wire:
                await opened(wire)
                flooded(wire.transport)
                wire.transport.close()
                heard, ear = Ear(), Ear()
                await wire.far.connect(heard.on_bytes)
                await wire.transport.open(ear.on_bytes, ear.on_closed)
                wire.transport.send(ALL_BYTES)
                await heard.until(lambda: heard.data.endswith(ALL_BYTES))

        run_strictly(run())

    def test_closing_is_told_once_and_says_nothing_went_wrong(self) -> None:
        async def run() -> None:
            async with self.wire() as wire:
                ear = await opened(wire)
                wire.transport.close()
                assert ear.closed == [None]
                wire.transport.close()
                await settled()
                assert ear.closed == [None]

        run_strictly(run())

    def test_a_far_end_that_goes_away_is_told_once_soon_and_why(self) -> None:
        async def run() -> None:
            async with self.wire() as wire:
                ear = await opened(wire)
                wire.far.cut()
                await ear.until(lambda: bool(ear.closed), GONE_WITHIN_S)
                assert wire.transport.send(ALL_BYTES) == 0
                wire.transport.close()
                await settled()
                (why,) = ear.closed
                assert isinstance(why, TandemError)
                assert why.where
                assert why.where in wire.transport.label

        run_strictly(run())

    def test_sending_to_a_far_end_that_went_away_tells_it_once(self) -> None:
        async def run() -> None:
            async with self.wire() as wire:
                ear = await opened(wire)
                wire.far.cut()
                wire.transport.send(ALL_BYTES)
                wire.transport.send(ALL_BYTES)
                await ear.until(lambda: bool(ear.closed), GONE_WITHIN_S)
                await settled()
                assert len(ear.closed) == 1

        run_strictly(run())

    def test_it_may_be_closed_by_who_gets_its_bytes(self) -> None:
        async def run() -> None:
            async with self.wire() as wire:
                await wire.far.connect(wire.far.write)
                ear = Ear()

                def close_at_once(data: bytes) -> None:
                    ear.on_bytes(data)
                    wire.transport.close()

                await wire.transport.open(close_at_once, ear.on_closed)
                wire.transport.send(3 * ALL_BYTES)
                await ear.until(lambda: bool(ear.closed))
                await settled()
                assert ear.closed == [None]

        run_strictly(run())

    def test_a_closed_one_opens_again(self) -> None:
        async def run() -> None:
            async with self.wire() as wire:
                for _ in range(3):
                    ear = await opened(wire)
                    await echoed(wire, ear, ALL_BYTES)
                    wire.transport.close()
                    assert ear.closed == [None]

        run_strictly(run())


async def opened(wire: Wire) -> Ear:
    """Open it, with a far end that sends back what it gets."""
    ear = Ear()
    await wire.far.connect(wire.far.write)
    await wire.transport.open(ear.on_bytes, ear.on_closed)
    return ear


async def echoed(wire: Wire, ear: Ear, *pieces: bytes) -> None:
    for piece in pieces:
        assert wire.transport.send(piece) == len(piece)
        await asyncio.sleep(0)
    expected = b"".join(pieces)
    await ear.until(lambda: len(ear.data) >= len(expected))
    assert bytes(ear.data) == expected


def flooded(transport: Transport) -> tuple[bytes, float]:
    """Frames that were taken with nobody at the other end reading, and the processor's seconds.

    A transport that waits for its reader would wait until the test's own time is over.
    """
    taken = bytearray()
    start_s = time.process_time()
    for i in range(20_000):
        frame = b"\0%08d%s\0" % (i, b"x" * 40)
        size = transport.send(frame)
        assert size in (0, len(frame))
        taken += frame[:size]
    return bytes(taken), time.process_time() - start_s


async def settled() -> None:
    """Lets what is scheduled happen."""
    for _ in range(10):
        await asyncio.sleep(0)
