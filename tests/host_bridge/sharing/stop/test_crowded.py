"""The stop socket in a crowd, by a clock of its own: when callers are looked for, who gives way."""

from __future__ import annotations

import socket
from types import SimpleNamespace

import pytest

from host_bridge.sharing.stop import stop_endpoint
from host_bridge.sharing.stop.acceptor import Rates
from host_bridge.sharing.stop.stop_endpoint import StopEndpoint
from tests.host_bridge.sharing.desk import owner_and_car, run

NOW_US = 7_000_000


class Crowded:
    """An endpoint whose clock stands, whose loop only notes what is asked of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_us = NOW_US
        self.looking_takes_us = 0
        self.looked = 0
        self.asked: list[float] = []
        self.endpoint = StopEndpoint("car", "", "sim://nigel")
        self.endpoint._owner = SimpleNamespace(now_us=lambda: self.now_us)
        self.endpoint._callers = SimpleNamespace(connect_new=self._look)
        loop = SimpleNamespace(call_later=self._call_later)
        monkeypatch.setattr(stop_endpoint.asyncio, "get_running_loop", lambda: loop)

    def _look(self, may_come):
        assert may_come == self.endpoint.acceptor.may_come
        self.looked += 1
        self.now_us += self.looking_takes_us
        return iter(())

    def _call_later(self, rest_s, called):
        assert called == self.endpoint._look
        self.asked.append(rest_s)
        return object()


@pytest.fixture
def crowded(monkeypatch):
    return Crowded(monkeypatch)


def test_callers_are_looked_for_20_ms_after_a_crowd_and_until_2_s_after_the_last_one(crowded):
    crowded.endpoint._call_back()
    crowded.now_us += 1_000_000
    crowded.endpoint._call_back()
    assert crowded.asked == [0.02], "it is going to look already"
    crowded.now_us = NOW_US + 2_999_999
    crowded.endpoint._look()
    assert crowded.asked == [0.02, 0.02]
    crowded.now_us += 1
    crowded.endpoint._look()
    assert crowded.asked == [0.02, 0.02], "it is over"
    crowded.endpoint._call_back()
    assert crowded.asked == [0.02] * 3, "and begins anew"
    assert crowded.looked == 2


@pytest.mark.parametrize(("takes_us", "rests_s"), [(9_999, 0.02), (10_500, 0.021), (400_000, 0.8)])
def test_a_look_that_takes_long_is_followed_by_twice_the_time(crowded, takes_us, rests_s):
    crowded.endpoint._call_back()
    crowded.looking_takes_us = takes_us
    crowded.endpoint._look()
    assert crowded.asked == [0.02, pytest.approx(rests_s)]


def test_an_endpoint_that_is_closed_does_not_look(crowded):
    crowded.endpoint._call_back()
    crowded.endpoint._owner = None
    crowded.endpoint._look()
    assert (crowded.looked, crowded.asked) == (0, [0.02])


def test_a_login_has_this_share_and_all_together_that(crowded):
    assert crowded.endpoint.acceptor._rates == Rates(50.0, 32, 256)
    assert stop_endpoint.ALL_CONNECTIONS == 48


def test_what_is_closed_twice_leaves_the_socket_of_who_came_between(shared):
    async def main():
        owner, _ = await owner_and_car()
        first, second = (StopEndpoint("car", "", "sim://nigel") for _ in range(2))
        first.open(owner)
        path = first._path
        first.close()
        second.open(owner)
        second._path.rename(path)
        first.close()
        assert path.exists()
        second.close()
        owner.close()

    run(main())


def test_room_is_made_by_ending_one_connection_as_long_as_there_is_one(shared):
    async def main():
        owner, _ = await owner_and_car()
        endpoint = StopEndpoint("car", "", "sim://nigel")
        endpoint.open(owner)
        assert endpoint._make_room() is False
        pairs = [socket.socketpair() for _ in range(2)]
        for here, _ in pairs:
            endpoint._join(here, 5)
        assert [endpoint._make_room() for _ in range(3)] == [True, True, False]
        assert owner.clients == 0
        for _, there in pairs:
            there.close()
        endpoint.close()
        owner.close()

    run(main())
