"""A station's listener: whose a connection is, and how often a login may come."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress
from types import SimpleNamespace

import pytest

from host_bridge.station.server import rate_limited_listener as under_test
from host_bridge.station.server.rate_limited_listener import (
    COMES_AT_ONCE,
    COMES_PER_S,
    GONE,
    UNKNOWN_LOGIN,
    AdmittedSocket,
    PeerLogins,
    RateLimitedListener,
)
from tests.host_bridge.sharing.desk import run, until
from tests.support.evidence import every


class Clock:
    now = 0

    def now_us(self) -> int:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def desk(clock, monkeypatch):
    return Desk(clock, monkeypatch)


class Desk:
    """Does something with a listener in an event loop of its own."""

    def __init__(self, clock, monkeypatch) -> None:
        self.clock = clock
        self.patch = monkeypatch
        self.far: list[socket.socket] = []

    def run(self, does):
        async def main():
            self.listener = RateLimitedListener("127.0.0.1", 0, self.clock.now_us)
            self.listener.open()
            try:
                await does(self)
            finally:
                self.listener.close()
                self.listener.close()  # once more does no harm
                for end in self.far:
                    end.close()

        run(main())

    async def come(self, count):
        """So many; those who were let in."""
        before = self.listener.acceptor.sent_away
        far = [socket.create_connection(self.listener.address) for _ in range(count)]
        self.far += far
        return await self.let_in(count, before)

    async def let_in(self, count, before=0):
        found = []

        def are_all() -> bool:
            with suppress(BlockingIOError):
                found.append(self.listener.admitted.accept()[0])
            return len(found) + self.listener.acceptor.sent_away - before == count

        await until(are_all)
        self.far += found
        return found

    def all_of(self, uid):
        self.patch.setattr(self.listener._logins, "of", lambda end: uid)


def test_the_system_says_whose_it_is_and_that_it_is_nobody_s_any_more(desk):
    async def test(desk):
        (end,) = await desk.come(1)
        assert end.getpeername() == desk.far[0].getsockname()
        assert desk.listener.login_of(end) == os.getuid()
        desk.far[0].close()
        assert desk.listener.login_of(end) == GONE

    desk.run(test)


class Silent:
    """The system, where it has another answer than it has here; None: none."""

    def __init__(self, answer) -> None:
        self.answer = answer

    def send(self, question) -> None:
        pass

    def recv(self, size):
        if self.answer is None:
            raise TimeoutError
        return self.answer[:size]

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("answer", "login"),
    [
        (None, UNKNOWN_LOGIN),
        (b"", GONE),
        (bytes(4) + b"\x02\0" + bytes(86), GONE),  # an error
        (bytes(4) + b"\x14\0" + bytes(74) + b"\x05\0\0\0" + bytes(4), GONE),  # no file has it
        (bytes(4) + b"\x14\0" + bytes(74) + b"\x05\0\0\0" + b"\0\x01\0\0", 5),
        (bytes(4) + b"\x02\0" + bytes(74) + b"\x05\0\0\0" + b"\0\x01\0\0", GONE),
    ],
)
def test_a_login_is_what_the_system_says_of_a_connection_that_is_somebodys(desk, answer, login):
    logins = PeerLogins()
    assert logins._asks.gettimeout() == 0.1, "whoever is let in waits for it"
    logins.close()
    assert logins._asks.fileno() == -1
    logins._asks = Silent(answer)

    async def test(desk):
        (end,) = await desk.come(1)
        assert logins.of(end) == login

    desk.run(test)


def test_no_login_is_unknown_or_gone():
    assert (UNKNOWN_LOGIN, GONE) == (-1, -2)


def test_1024_may_wait_until_they_are_taken(clock, monkeypatch):
    create, backlogs = socket.create_server, []

    def created(address, backlog):
        backlogs.append(backlog)
        return create(address, backlog=backlog)

    monkeypatch.setattr(under_test.socket, "create_server", created)
    listener = RateLimitedListener("127.0.0.1", 0, clock.now_us)
    assert backlogs == [1024]
    assert listener.address == listener._listening.getsockname()
    listener.close()  # one that was never opened holds nothing either
    held = (listener._listening, listener.admitted, listener.admitted._wake, listener._logins._asks)
    assert [it.fileno() for it in held] == [-1] * 4


def test_who_is_let_in_is_sent_away_where_too_many_wait_to_be_accepted():
    admitted = AdmittedSocket()
    ends = []
    while not ends or ends[-1].is_open:
        assert len(ends) < 100_000
        ends.append(SimpleNamespace(is_open=True))
        ends[-1].close = lambda end=ends[-1]: setattr(end, "is_open", False)
        admitted.put(ends[-1], "from there")
    admitted.listen()
    assert admitted.accept() == (ends[0], "from there")
    admitted.close()
    assert [end.is_open for end in ends] == [True] + [False] * (len(ends) - 1)


def test_a_login_comes_so_often_and_another_one_all_the_same(desk):
    async def test(desk):
        assert (COMES_PER_S, COMES_AT_ONCE) == (60.0, 100)
        assert len(await desk.come(COMES_AT_ONCE + 20)) == COMES_AT_ONCE
        desk.all_of(61_001)
        assert len(await desk.come(3)) == 3
        desk.all_of(os.getuid())
        desk.clock.now += 999_000  # us
        assert len(await desk.come(70)) == 59

    desk.run(test)


def test_who_has_gone_again_takes_nobody_s_share(desk):
    async def test(desk):
        for _ in range(50):
            socket.create_connection(desk.listener.address).close()
        assert await desk.let_in(50) == []
        assert len(await desk.come(COMES_AT_ONCE)) == COMES_AT_ONCE

    desk.run(test)


def test_after_64_that_are_sent_away_it_rests_and_others_have_their_turn(desk):
    async def test(desk):
        desk.all_of(GONE)
        desk.far += [socket.create_connection(desk.listener.address) for _ in range(100)]
        desk.listener.acceptor.accept_all()
        assert desk.listener.acceptor.sent_away == 64
        await desk.let_in(100)

    desk.run(test)


def test_where_no_file_is_left_it_is_looked_again_after_a_rest(desk):
    async def test(desk):
        asked = []

        def none():
            asked.append(1)
            raise OSError(24, "Too many open files")

        real = desk.listener.acceptor._listening
        desk.listener.acceptor._listening = SimpleNamespace(accept=none, fileno=real.fileno)
        desk.far.append(socket.create_connection(real.getsockname()))
        await until(lambda: len(asked) > 2)
        desk.listener.acceptor._listening = real
        assert len(await desk.let_in(1)) == 1

    desk.run(test)


def test_of_those_who_are_not_accepted_none_is_left_open(desk):
    async def test(desk):
        desk.far.append(socket.create_connection(desk.listener.address))
        await until(lambda: desk.listener.admitted._came)
        listening = desk.listener._listening.fileno()
        desk.listener.close()
        assert asyncio.get_running_loop().remove_reader(listening) is False
        assert desk.far[0].recv(1) == b""

    desk.run(test)


def test_where_the_system_does_not_say_all_are_one(desk):
    desk.patch.delattr(under_test.socket, "AF_NETLINK")

    async def test(desk):
        ends = await desk.come(2)
        assert every(desk.listener.login_of(end) == UNKNOWN_LOGIN for end in ends)

    desk.run(test)


def test_an_address_that_is_taken_is_told(desk):
    async def test(desk):
        with pytest.raises(OSError, match="in use"):
            RateLimitedListener(*desk.listener.address, desk.clock.now_us)

    desk.run(test)
