"""The acceptor by a clock and an event loop of its own: who is let in, and when it rests."""

from __future__ import annotations

import errno
from types import SimpleNamespace

import pytest

from host_bridge.sharing.stop import acceptor as under_test
from host_bridge.sharing.stop.acceptor import GONE, Acceptor, Rates
from tests.support.evidence import every

LOGIN, OTHER = 1001, 1002
NO_FILE, WENT_AWAY = OSError(errno.EMFILE, "no file"), OSError(errno.ECONNABORTED, "went away")


class End:
    """A connection of somebody."""

    def __init__(self, login=LOGIN) -> None:
        self.login = login
        self.is_open = True

    def close(self) -> None:
        self.is_open = False


class Desk:
    """An acceptor that is open, and all that is around it."""

    def __init__(self, monkeypatch, in_turn=64) -> None:
        self.now_us = 5_000_000
        self.accept_takes_us = 0
        self.waits: list[End | OSError] = []
        self.entered: list[tuple[End, str, int]] = []
        self.crowded = 0
        self.has_room = False
        self.is_watched = self.is_closed = False
        self.due: list[tuple[float, object]] = []
        self.socket = SimpleNamespace(accept=self._accept, close=self._close)
        loop = SimpleNamespace(
            add_reader=self._watch, remove_reader=self._unwatch, call_later=self._call_later
        )
        monkeypatch.setattr(under_test.asyncio, "get_running_loop", lambda: loop)
        self.acceptor = Acceptor(
            Rates(10.0, 3, in_turn),
            lambda: self.now_us,
            lambda end: end.login,
            lambda *who: self.entered.append(who),
            make_room=self._make_room,
            crowded=self._crowd,
        )
        self.acceptor.open(self.socket)

    def come(self, *who) -> list[End]:
        """So many knock; those who were let in."""
        before = len(self.entered)
        self.waits += who
        self.acceptor.accept_all()
        return [end for end, _, _ in self.entered[before:]]

    def _accept(self):
        self.now_us += self.accept_takes_us
        if not self.waits:
            raise BlockingIOError
        first = self.waits.pop(0)
        if isinstance(first, OSError):
            raise first
        return first, "from there"

    def _close(self) -> None:
        self.is_closed = True

    def _watch(self, end, called) -> None:
        assert end is self.socket
        self.called = called
        self.is_watched = True

    def _unwatch(self, end) -> None:
        assert end is self.socket
        self.is_watched = False

    def _call_later(self, rest_s, called) -> None:
        self.due.append((rest_s, called))

    def _make_room(self) -> bool:
        return self.has_room

    def _crowd(self) -> None:
        self.crowded += 1


@pytest.fixture
def desk(monkeypatch):
    return Desk(monkeypatch)


def test_who_is_let_in_is_handed_on_with_address_and_login(desk):
    mine, other = End(), End(OTHER)
    desk.come(mine, other)
    assert desk.entered == [(mine, "from there", LOGIN), (other, "from there", OTHER)]
    assert mine.is_open
    assert (desk.acceptor.sent_away, desk.due, desk.crowded) == (0, [], 0)
    assert desk.is_watched
    assert desk.called == desk.acceptor.accept_all


def test_of_a_login_three_come_at_once_and_then_ten_a_second(desk):
    mine = [End() for _ in range(5)]
    assert desk.come(*mine, End(OTHER)) == [*mine[:3], desk.entered[-1][0]]
    assert [end.is_open for end in mine] == [True] * 3 + [False] * 2
    assert desk.acceptor.sent_away == 2
    desk.now_us += 99_000
    assert desk.come(End()) == []
    desk.now_us += 1_001
    assert len(desk.come(End(), End())) == 1


def test_whose_far_end_is_gone_is_sent_away_and_takes_nobodys_share(desk):
    assert GONE == -2, "no login, nor that of whom the system does not say"
    gone = [End(GONE) for _ in range(9)]
    assert desk.come(*gone) == []
    assert desk.acceptor.sent_away == 9
    assert every(not end.is_open for end in gone)
    assert desk.acceptor._shares == {}


def test_256_logins_are_remembered_and_the_first_is_forgotten_for_one_more(desk):
    for login in (LOGIN, LOGIN, LOGIN, *range(255)):
        assert desk.acceptor.may_come(login)
    assert desk.acceptor.may_come(LOGIN) is False
    assert len(desk.acceptor._shares) == 256
    assert desk.acceptor.may_come(1_000_000)
    assert len(desk.acceptor._shares) == 256
    assert desk.acceptor.may_come(LOGIN), "it has all anew"
    assert 0 not in desk.acceptor._shares, "it came next"


def test_so_many_are_taken_in_one_turn(monkeypatch):
    desk = Desk(monkeypatch, in_turn=5)
    desk.waits += [WENT_AWAY, *(End(login) for login in range(9))]
    desk.acceptor.accept_all()
    assert len(desk.entered) == 4
    desk.acceptor.accept_all()
    assert len(desk.entered) == 9
    assert desk.due == []


@pytest.mark.parametrize(
    ("who", "takes_us", "rests_s", "crowded"),
    [
        ([End()], 900, [], 0),  # nobody is sent away: no rest
        ([WENT_AWAY, End()], 900, [], 0),
        (
            [End(GONE)],
            900,
            [0.0036],
            1,
        ),  # twice as long as it took: this one, and that nobody waits
        ([End(GONE)] * 9, 900, [0.01], 1),  # and no longer than a step of a car
        ([NO_FILE], 900, [0.01], 0),
        ([End(GONE), NO_FILE], 900, [0.01], 0),
    ],
)
def test_it_rests_after_a_flood_and_where_no_file_is_left(desk, who, takes_us, rests_s, crowded):
    desk.accept_takes_us = takes_us
    desk.come(*who)
    assert [rest_s for rest_s, _ in desk.due] == pytest.approx(rests_s)
    assert desk.crowded == crowded
    assert desk.is_watched is not bool(rests_s)
    for _, called in desk.due:
        called()
    assert desk.is_watched


def test_a_turn_without_a_flood_is_followed_by_no_rest_though_there_was_one_before(desk):
    desk.come(End(GONE))
    desk.come(End())
    assert (len(desk.due), desk.crowded) == (1, 1)


def test_where_room_is_made_those_who_wait_are_let_in(desk):
    desk.has_room = True
    end = End()
    assert desk.come(NO_FILE, end) == [end]
    assert desk.due == []


def test_where_room_cannot_be_made_they_go_on_waiting(desk):
    assert desk.come(NO_FILE, End()) == []
    assert len(desk.waits) == 1
    desk.waits.insert(0, NO_FILE)
    assert desk.acceptor._take(desk.socket) is False


def test_one_that_is_closed_lets_nobody_in_and_wakes_no_more(desk):
    desk.come(End(GONE))
    ((_, again),) = desk.due
    desk.acceptor.close()
    assert (desk.is_watched, desk.is_closed) == (False, True)
    again()
    assert not desk.is_watched
    assert desk.come(End()) == []
    desk.is_closed = False
    desk.acceptor.close()
    assert not desk.is_closed, "once is enough"


def test_one_that_is_closed_is_watched_no_more_and_one_that_was_never_open_holds_nothing(desk):
    desk.acceptor.close()
    assert (desk.is_watched, desk.is_closed) == (False, True)
    Acceptor(Rates(10.0, 3, 64), lambda: 0, lambda end: 0, lambda *who: None).close()


def test_one_that_is_closed_by_a_flood_rests_no_more(desk, monkeypatch):
    monkeypatch.setattr(desk.acceptor, "_crowded", lambda: None)
    monkeypatch.setattr(End, "close", lambda end: desk.acceptor.close())
    desk.come(End(GONE))
    assert desk.due == []


def test_without_anybody_who_makes_room_or_wants_to_know_it_rests_all_the_same(desk):
    plain = Acceptor(Rates(10.0, 3, 64), lambda: 0, lambda end: end.login, lambda *who: None)
    plain.open(desk.socket)
    desk.waits += [End(GONE)]
    plain.accept_all()
    desk.waits += [NO_FILE]
    plain.accept_all()
    assert [rest_s for rest_s, _ in desk.due] == [0.0, 0.01]
