"""What the server tells of the floor, and who asks for the seat and is answered: no sockets."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request

from host_bridge.station.server import server as under_test
from host_bridge.station.server.server import Server
from tests.host_bridge.station.server.test_server import HERE, PORT, Connection, Desk, asked_for


@pytest.fixture
def desk():
    return Desk()


def test_what_lies_under_the_cars_is_told_as_it_was_given(desk):
    assert json.loads(desk.ask("/floor").body) is None
    floor = b'{"title": "oval"}'
    server = Server(desk.backend, PORT, floor=floor)
    request = Request("/floor", Headers({"Host": HERE}))
    answer = asyncio.run(server._request(Connection("/floor"), request))
    assert (answer.status_code, answer.body) == (200, floor)
    assert answer.headers["Content-Type"] == "application/json"


def test_who_does_not_ask_for_it_any_more_takes_nothing_over(desk):
    """After 30 s without an answer, but meanwhile another page of the same name asks."""
    desk.backend.now_us = iter([5_000_000, 5_000_000, 35_000_000]).__next__

    def another() -> None:
        desk.server._seat.keep()
        desk.server._seat.ask("Phone", 6_000_000)

    other, rows = asked_for(desk, {"do": "nothing"}, {"do": "take over"}, then=another)
    assert other.sent == [{"is_asked": True}, {"is_taken_over": False}]
    assert rows[-1] == "Phone", "who goes ends their own asking only"


def test_while_one_asks_another_is_told_who(desk):
    other = Connection("/hold", [{"seat": desk.token, "ask": True, "by": "Phone"}])

    class First(Connection):
        async def __aiter__(self):
            desk.server._seat.ask("Tablet", 4_000_000)
            await desk.server._answer(other)
            assert desk.server._seat.asked_by == "Tablet"
            return
            yield

    first = First("/hold", [{"seat": desk.token, "car": "car", "by": "Laptop"}])
    asyncio.run(desk.server._answer(first))
    assert other.sent == [{"is_granted": False, "why": "Tablet asks for it already"}]
    assert other.closed is not None


def test_whoever_has_the_seat_keeps_it(desk):
    kept = []
    holder = SimpleNamespace(keep=lambda: kept.append(True), seat=None)
    asyncio.run(under_test._listen(Connection("/hold", [{"do": "keep"}]), holder))
    assert kept == [True]
