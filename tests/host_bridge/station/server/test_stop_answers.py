"""A page's stops while cars hang, in virtual time: how many at once, and what outlives whom."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from types import SimpleNamespace

import pytest
from websockets.exceptions import ConnectionClosedError

from host_bridge.core.system.virtual_time import VirtualTimeLoop
from host_bridge.station.server.stop_answers import StopAnswers


class HangingCars:
    """Cars of which each stop tells one row, and then goes on until ``seen`` is put."""

    def __init__(self) -> None:
        self.begun = self.ended = self.cancelled = 0
        self.is_of_page: bool | None = None
        self.seen: asyncio.Queue[None] = asyncio.Queue()

    async def stop(self, names, tell, *, is_page) -> None:
        self.is_of_page = is_page
        self.begun += 1
        tell({"name": "first", "is_seen": True})
        try:
            await self.seen.get()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        tell({"name": "last", "is_seen": True})
        self.ended += 1


class Page:
    """A page's line of Stop: what it says comes from a queue; an exception ends it."""

    def __init__(self, *, is_lost: bool = False) -> None:
        self.says: asyncio.Queue[dict[str, object] | Exception] = asyncio.Queue()
        self.heard: list[dict[str, object]] = []
        self.is_lost = is_lost
        self.transport = SimpleNamespace(get_write_buffer_size=lambda: 0)

    async def send(self, text: str) -> None:
        if self.is_lost:
            raise ConnectionClosedError(None, None)
        self.heard.append(json.loads(text))

    async def __aiter__(self):
        while True:
            said = await self.says.get()
            if isinstance(said, Exception):
                raise said
            if "end" in said:
                return
            yield json.dumps(said)


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def in_virtual_time(main: Coroutine[None, None, None]) -> None:
    loop = VirtualTimeLoop()
    try:
        loop.run_until_complete(main)
    finally:
        loop.close()


def test_of_one_page_eight_stops_go_on_at_once_and_the_ninth_waits_for_one():
    async def main() -> None:
        cars, page = HangingCars(), Page()
        hearing = asyncio.create_task(StopAnswers(cars).hear(page, lambda: True))
        for _ in range(10):
            page.says.put_nowait({"cars": ["first"]})
        await settle()
        assert cars.begun == 8
        for begun in (9, 10):
            cars.seen.put_nowait(None)
            await settle()
            assert cars.begun == begun, "each that ends lets one more begin"
        page.says.put_nowait({"end": True})
        for _ in range(8):
            cars.seen.put_nowait(None)
        await hearing
        assert (cars.ended, cars.cancelled) == (10, 0)

    in_virtual_time(main())


def test_a_page_whose_line_breaks_hears_nothing_more_of_its_stop_which_goes_on():
    async def main() -> None:
        cars, page = HangingCars(), Page()
        hearing = asyncio.create_task(StopAnswers(cars).hear(page, lambda: True))
        page.says.put_nowait({"token": 1, "cars": ["first"]})
        await settle()
        assert page.heard == [{"token": 1, "name": "first", "is_seen": True}]
        page.says.put_nowait(ConnectionClosedError(None, None))
        with pytest.raises(ConnectionClosedError):
            await hearing
        await settle()
        cars.seen.put_nowait(None)
        await settle()
        assert (cars.ended, cars.cancelled) == (1, 0)
        assert len(page.heard) == 1

    in_virtual_time(main())


def test_a_stop_whose_page_takes_no_answer_counts_until_it_is_over():
    async def main() -> None:
        cars, page = HangingCars(), Page(is_lost=True)
        hearing = asyncio.create_task(StopAnswers(cars).hear(page, lambda: True))
        page.says.put_nowait({"cars": ["first"]})
        page.says.put_nowait({"end": True})
        await settle()
        assert not hearing.done()
        cars.seen.put_nowait(None)
        await hearing
        assert cars.ended == 1

    in_virtual_time(main())


@pytest.mark.parametrize("is_page", [True, False])
def test_a_plain_request_is_answered_after_750_ms_and_leaves_its_stop(is_page):
    async def main() -> None:
        cars, loop = HangingCars(), asyncio.get_running_loop()
        begun_s = loop.time()
        rows = await StopAnswers(cars).stop(("first", "last"), is_page)
        assert loop.time() - begun_s == pytest.approx(0.75)
        text = "last: no answer within 0.75 s; it is still asked"
        assert rows == [
            {"name": "first", "is_seen": True},
            {"name": "", "is_seen": False, "text": text},
        ]
        await settle()
        assert (cars.is_of_page, cars.cancelled) == (is_page, 1), "nobody listens to it any more"

    in_virtual_time(main())
