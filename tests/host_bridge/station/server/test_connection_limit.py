"""A login has a share of a station's connections, and of those that say nothing the newest stay."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from host_bridge.station.server import connection_limit as under_test
from host_bridge.station.server.connection_limit import ConnectionLimit


class Connection:
    def __init__(self, fd: int = 10, login: int = 5) -> None:
        self.is_sent_away = False
        facts = {"socket": SimpleNamespace(fileno=lambda: fd, login=login)}
        self.transport = SimpleNamespace(abort=self._abort, get_extra_info=facts.get)

    def _abort(self) -> None:
        self.is_sent_away = True


@pytest.fixture
def limit(monkeypatch):
    monkeypatch.setattr(under_test, "is_in_reserve", lambda fd: fd >= 100)
    return ConnectionLimit(lambda end: end.login)


def came(limit, *connections):
    for guest in connections:
        limit.enter(guest)
    return [guest.is_sent_away for guest in connections]


def test_of_more_than_64_the_older_half_of_the_login_that_has_most_goes(limit):
    assert under_test.MOST == 64
    one, many, unknown = Connection(login=6), [Connection() for _ in range(62)], Connection(login=7)
    assert came(limit, one, *many, unknown) == [False] * 64
    last = Connection()
    limit.enter(last)
    assert [guest.is_sent_away for guest in many] == [True] * 32 + [False] * 30
    assert [guest.is_sent_away for guest in (one, unknown, last)] == [False] * 3


def test_who_has_said_what_they_want_stays_and_makes_room(limit):
    first, *others = (Connection() for _ in range(65))
    limit.enter(first)
    limit.leave(first)
    assert came(limit, *others) == [False] * 64
    assert not first.is_sent_away
    limit.leave(first)  # once more does no harm


def test_one_that_got_a_file_of_the_reserve_sends_the_oldest_away_and_else_goes_itself(limit):
    old, new, alone = Connection(), Connection(fd=100), Connection(fd=100)
    limit.enter(old)
    limit.enter(new)
    assert old.is_sent_away
    for guest in (old, new):
        limit.lose(guest)
    assert came(limit, alone) == [True]


def test_of_one_login_s_connections_there_are_128_whatever_they_said(limit):
    assert under_test.SHARE == 128
    mine, theirs = [Connection(login=6)], [Connection() for _ in range(128)]
    for guest in (*mine, *theirs):
        assert came(limit, guest) == [False]
        limit.leave(guest)
    one_too_many = Connection()
    assert came(limit, one_too_many) == [True]
    assert not any(guest.is_sent_away for guest in (*mine, *theirs))
    limit.lose(theirs[0])
    assert came(limit, Connection(), Connection(login=7)) == [False, False]


def test_who_holds_all_other_files_gives_some_of_them_up_whatever_they_said(limit):
    theirs = [Connection() for _ in range(5)]
    for guest in theirs:
        limit.enter(guest)
        limit.leave(guest)
    mine = Connection(fd=100, login=6)
    assert came(limit, mine) == [False]
    assert [guest.is_sent_away for guest in theirs] == [True] * 3 + [False] * 2


def test_whose_the_station_is_it_knows(limit, monkeypatch):
    monkeypatch.setattr(under_test.os, "getuid", lambda: 6)
    connections = [
        Connection(login=6),
        Connection(login=5),
        Connection(login=under_test.UNKNOWN_LOGIN),
    ]
    for guest in connections:
        limit.enter(guest)
    assert [limit.is_own(guest) for guest in connections] == [True, False, True]
    assert not limit.is_own(Connection(login=6)), "one that is not here"


# --- a page of another origin has the login of whoever has the seat


def stays(limit, count: int, *, is_stranger: bool, login: int = 5) -> list[Connection]:
    """Connections that have said what they want, and stay."""
    found = [Connection(login=login) for _ in range(count)]
    for guest in found:
        limit.enter(guest)
        limit.leave(guest, is_stranger=is_stranger)
    return found


def test_foreign_pages_have_a_small_share_of_their_logins_and_the_station_s_page_the_rest(limit):
    assert under_test.STRANGERS == 32
    seat = stays(limit, 5, is_stranger=False)
    theirs = stays(limit, 500, is_stranger=True)
    assert sum(not guest.is_sent_away for guest in theirs) <= under_test.STRANGERS
    assert not theirs[-1].is_sent_away, "the newest may say its stop"
    reload = stays(limit, 5, is_stranger=False)
    assert not any(guest.is_sent_away for guest in (*seat, *reload))


def test_where_a_file_of_the_reserve_was_had_strangers_go_before_the_page(limit):
    seat, theirs = stays(limit, 5, is_stranger=False), stays(limit, 6, is_stranger=True)
    assert came(limit, Connection(fd=100, login=6)) == [False]
    assert [guest.is_sent_away for guest in theirs] == [True] * 4 + [False] * 2
    assert not any(guest.is_sent_away for guest in seat)


def test_a_stranger_that_is_gone_counts_no_more(limit):
    for guest in stays(limit, 31, is_stranger=True):
        limit.lose(guest)
    theirs = stays(limit, 32, is_stranger=True)
    assert not any(guest.is_sent_away for guest in theirs)


def test_a_page_that_is_there_stays_however_many_come_by_files_of_the_reserve(limit):
    """They wait to be let in with all other files, and so each has one of the reserve: once nobody
    else is left to be sent away it is they who go, and not the page."""
    seat = stays(limit, 5, is_stranger=False, login=os.getuid())
    flood = [Connection(fd=100, login=6) for _ in range(200)]
    came(limit, *flood)
    assert not any(guest.is_sent_away for guest in seat)
    assert sum(not guest.is_sent_away for guest in flood) <= 1


def test_one_that_finds_a_few_pages_of_the_station_only_goes_itself(limit):
    assert under_test.KEPT == 16
    pages = stays(limit, 16, is_stranger=False, login=os.getuid())
    assert came(limit, Connection(fd=100, login=os.getuid() + 1)) == [True]
    assert not any(guest.is_sent_away for guest in pages)
    pages += stays(limit, 1, is_stranger=False, login=os.getuid())
    assert came(limit, Connection(fd=100, login=os.getuid() + 1)) == [False]
    assert sum(guest.is_sent_away for guest in pages) == 9, (
        "of more than three pages the older half"
    )


def test_what_comes_of_the_station_s_own_login_is_let_in_by_a_file_of_the_reserve(limit):
    """It may be a page's Stop, by a plain request: others have all other files."""
    own = os.getuid()
    stays(limit, 1, is_stranger=False, login=own)
    asks = [Connection(fd=100, login=own) for _ in range(15)]
    assert came(limit, *asks) == [False] * 15
    theirs = [Connection(login=own + 1) for _ in range(2)]
    came(limit, *theirs)
    late = Connection(fd=100, login=own)
    assert came(limit, late) == [False]
    assert [guest.is_sent_away for guest in theirs] == [True, True]
    more = [Connection(fd=100, login=own) for _ in range(5)]
    came(limit, *more)
    assert any(guest.is_sent_away for guest in asks), "of many its own older ones go"
