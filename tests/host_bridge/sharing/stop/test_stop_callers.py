"""The callers of a car: which names in a folder are looked at, how often, and who is connected to.

The folder's names, their owners and who listens are a table; the last test has real sockets."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from host_bridge.sharing.stop import stop_callers as under_test
from host_bridge.sharing.stop.stop_callers import StopCallers
from host_bridge.sharing.stop.stop_calls import CallbackSocket, prefix_of
from host_bridge.sharing.stop.stop_sockets import StopSocket

STOP_SOCKET = "/run/tandem/tandem-stop.car.0.0.abcd"
LISTENS, LEFT, NO_FILE = "listens", "left", "no file of ours is left"


class Folder:
    """The names in it, each with the login that owns it and what is behind it."""

    def __init__(self, monkeypatch) -> None:
        self.rows: dict[str, tuple[int, str]] = {}
        self.asked: list[int] = []
        self.looked: list[str] = []
        self.fault: OSError | None = None
        self.callers = StopCallers(STOP_SOCKET)
        monkeypatch.setattr(under_test.os, "listdir", self._listed)
        monkeypatch.setattr(under_test, "owner_of", self._owner_of)
        monkeypatch.setattr(StopSocket, "connect", _connect_in(self.rows))

    def lay(self, name, login=1001, behind=LISTENS) -> None:
        self.rows[f"tandem-call.abcd.{name}"] = (login, behind)

    def found(self, may_come=lambda login: True):
        """The names that are connected to, and the logins that they are told to be."""
        return [
            (end.rpartition(".")[2], login)
            for end, login in self.callers.connect_new(
                lambda login: self.asked.append(login) or may_come(login)
            )
        ]

    def _listed(self, folder):
        assert folder == "/run/tandem"
        if self.fault:
            raise self.fault
        return list(self.rows)

    def _owner_of(self, path) -> int:
        self.looked.append(path)
        return self.rows[os.path.basename(path)][0]


def _connect_in(rows):
    def connect(caller) -> bool:
        login, behind = rows[os.path.basename(caller.path)]
        caller.uid = login
        caller.end = caller.path if behind == LISTENS else None
        return behind != LEFT

    return connect


@pytest.fixture
def folder(monkeypatch):
    return Folder(monkeypatch)


def test_each_caller_of_this_car_is_looked_at_once(folder):
    folder.lay("b")
    folder.lay("a", 0)
    folder.rows["tandem-call.other.c"] = folder.rows["tandem-stop.abcd.d"] = (1001, LISTENS)
    assert folder.found() == [("a", 0), ("b", 1001)]
    folder.lay("e", 1002)
    assert folder.found() == [("e", 1002)]
    assert folder.looked == [f"/run/tandem/tandem-call.abcd.{name}" for name in "abe"]


def test_a_name_that_was_gone_meanwhile_is_looked_at_anew(folder):
    folder.lay("a")
    assert len(folder.found()) == 1
    row = folder.rows.popitem()
    assert folder.found() == []
    folder.rows.update([row])
    assert len(folder.found()) == 1


@pytest.mark.parametrize(
    ("login", "behind", "asked"),
    [(-1, LISTENS, []), (0, LEFT, [0]), (1001, LEFT, [1001]), (1001, NO_FILE, [1001])],
)
def test_who_is_gone_or_cannot_be_connected_to_is_left_out(folder, login, behind, asked):
    folder.lay("a", login, behind)
    folder.lay("b", 1002)
    assert folder.found() == [("b", 1002)]
    assert folder.asked == [*asked, 1002]


def test_a_login_that_came_too_often_is_not_called_back(folder):
    folder.lay("a", 1001)
    folder.lay("b", 1002)
    assert folder.found(lambda login: login == 1002) == [("b", 1002)]


def test_of_very_many_names_2000_are_looked_at_in_one_go(folder):
    for number in range(2003):
        folder.lay(f"{number:04}")
    assert len(folder.found()) == 2000
    assert [name for name, _ in folder.found()] == ["2000", "2001", "2002"]


def test_a_folder_that_cannot_be_read_has_no_callers_until_it_can(folder):
    folder.lay("a")
    folder.fault = OSError(errno.EMFILE, "Too many open files")
    assert folder.found() == []
    folder.fault = None
    assert len(folder.found()) == 1


def test_what_is_no_socket_or_another_car_s_is_not_called(shared):
    path = str(shared / "tandem-stop.car.0.0.abcd")
    Path(prefix_of(path) + "file").touch()
    other, mine = shared / "tandem-stop.car.0.0.other", shared / "tandem-stop.a.b.c.abcd"
    calls = [CallbackSocket(StopSocket(str(it), "car")) for it in (other, mine)]
    assert [it.open() for it in calls] == [True, True]
    ((end, login),) = StopCallers(path).connect_new(lambda login: True)
    assert end.getpeername() == calls[1].path
    assert login == os.getuid()
    end.close()
    for it in calls:
        it.end()
