from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from host_bridge.core.errors import UsageFault
from host_bridge.link.transports.base import OnBytes
from host_bridge.link.transports.loopback import LoopbackEnd, pair
from host_bridge.link.transports.uri import open_transport
from tests.host_bridge.link.contract import (
    ALL_BYTES,
    Bench,
    BusContract,
    Ear,
    Wire,
    run_strictly,
)


class OtherEnd:
    def __init__(self, end: LoopbackEnd) -> None:
        self._end = end

    async def connect(self, on_bytes: OnBytes) -> None:
        self._end.close()
        await self._end.open(on_bytes, lambda _: None)

    def write(self, data: bytes) -> None:
        self._end.send(data)

    def cut(self) -> None:
        self._end.close()


class TestLoopback(BusContract):
    @asynccontextmanager
    async def wire(self) -> AsyncIterator[Wire]:
        near, far = pair()
        yield Wire(near, OtherEnd(far))


def test_two_calls_with_one_name_give_the_two_ends() -> None:
    async def run() -> None:
        ends = [open_transport("loopback://bench", Bench()) for _ in range(2)]
        ears = [Ear(), Ear()]
        for end, ear in zip(ends, ears, strict=True):
            await end.open(ear.on_bytes, ear.on_closed)
        ends[0].send(ALL_BYTES)
        await ears[1].until(lambda: bytes(ears[1].data) == ALL_BYTES)

    run_strictly(run())


def test_a_third_call_starts_another_cable() -> None:
    async def run() -> None:
        first, second, third = (open_transport("loopback://third", Bench()) for _ in range(3))
        open_transport("loopback://third", Bench())
        ears = [Ear(), Ear(), Ear()]
        for end, ear in zip((first, second, third), ears, strict=True):
            await end.open(ear.on_bytes, ear.on_closed)
        first.send(ALL_BYTES)
        await ears[1].until(lambda: bool(ears[1].data))
        assert not ears[2].data

    run_strictly(run())


def test_what_was_under_way_does_not_reach_who_opens_next() -> None:
    async def run() -> None:
        near, far = pair()
        before, after = Ear(), Ear()
        await near.open(before.on_bytes, before.on_closed)
        await far.open(before.on_bytes, before.on_closed)
        near.send(ALL_BYTES)
        far.close()
        await far.open(after.on_bytes, after.on_closed)
        await asyncio.sleep(0)
        assert not after.data

    run_strictly(run())


@pytest.mark.parametrize("text", ["loopback://", "loopback://a/b", "loopback://a?b=1"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(UsageFault):
        open_transport(text, Bench())
