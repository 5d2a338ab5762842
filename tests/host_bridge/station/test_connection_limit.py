"""A login has a share of a station's connections, and of those that say nothing the newest stay."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from host_bridge.station.server import connection_limit as under_test
from host_bridge.station.server.connection_limit import Hall


class Guest:
    def __init__(self, fd: int = 10, login: int = 5) -> None:
        self.is_sent_away = False
        facts = {"socket": SimpleNamespace(fileno=lambda: fd, login=login)}
        self.transport = SimpleNamespace(abort=self._abort, get_extra_info=facts.get)

    def _abort(self) -> None:
        self.is_sent_away = True


@pytest.fixture
def hall(monkeypatch):
    monkeypatch.setattr(under_test, "is_in_reserve", lambda fd: fd >= 100)
    return Hall(lambda end: end.login)


def came(hall, *guests):
    for guest in guests:
        hall.enter(guest)
    return [guest.is_sent_away for guest in guests]


def test_of_more_than_64_the_older_half_of_the_login_that_has_most_goes(hall):
    assert under_test.MOST == 64
    one, many, unknown = Guest(login=6), [Guest() for _ in range(62)], Guest(login=7)
    assert came(hall, one, *many, unknown) == [False] * 64
    last = Guest()
    hall.enter(last)
    assert [guest.is_sent_away for guest in many] == [True] * 32 + [False] * 30
    assert [guest.is_sent_away for guest in (one, unknown, last)] == [False] * 3


def test_who_has_said_what_they_want_stays_and_makes_room(hall):
    first, *others = (Guest() for _ in range(65))
    hall.enter(first)
    hall.leave(first)
    assert came(hall, *others) == [False] * 64
    assert not first.is_sent_away
    hall.leave(first)  # once more does no harm


def test_one_that_got_a_file_of_the_reserve_sends_the_oldest_away_and_else_goes_itself(hall):
    old, new, alone = Guest(), Guest(fd=100), Guest(fd=100)
    hall.enter(old)
    hall.enter(new)
    assert old.is_sent_away
    for guest in (old, new):
        hall.lose(guest)
    assert came(hall, alone) == [True]


def test_of_one_login_s_connections_there_are_128_whatever_they_said(hall):
    assert under_test.SHARE == 128
    mine, theirs = [Guest(login=6)], [Guest() for _ in range(128)]
    for guest in (*mine, *theirs):
        assert came(hall, guest) == [False]
        hall.leave(guest)
    one_too_many = Guest()
    assert came(hall, one_too_many) == [True]
    assert not any(guest.is_sent_away for guest in (*mine, *theirs))
    hall.lose(theirs[0])
    assert came(hall, Guest(), Guest(login=7)) == [False, False]


def test_who_holds_all_other_files_gives_some_of_them_up_whatever_they_said(hall):
    theirs = [Guest() for _ in range(5)]
    for guest in theirs:
        hall.enter(guest)
        hall.leave(guest)
    mine = Guest(fd=100, login=6)
    assert came(hall, mine) == [False]
    assert [guest.is_sent_away for guest in theirs] == [True] * 3 + [False] * 2


def test_whose_the_station_is_it_knows(hall, monkeypatch):
    monkeypatch.setattr(under_test.os, "getuid", lambda: 6)
    guests = [Guest(login=6), Guest(login=5), Guest(login=under_test.NOBODY_SAYS)]
    for guest in guests:
        hall.enter(guest)
    assert [hall.is_own(guest) for guest in guests] == [True, False, True]
    assert not hall.is_own(Guest(login=6)), "one that is not here"
