"""The system's own list of the sockets that are listened at, and what the search has of it."""

from __future__ import annotations

import os
import socket
import struct
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from host_bridge.sharing.endpoints import folders
from host_bridge.sharing.stop import listening, stop_sockets
from host_bridge.sharing.stop.listening import MOST_OF_LOGIN, listening_sockets
from host_bridge.sharing.stop.stop_sockets import file_name
from tests.host_bridge.sharing.desk import runtime_folder

DEAD = 600
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="sock_diag(7) is Linux' own")


@pytest.fixture(autouse=True)
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with runtime_folder(monkeypatch), tempfile.TemporaryDirectory(prefix="tandem-") as folder:
        monkeypatch.setenv(folders.STOP_FOLDER_VARIABLE, os.path.realpath(folder))
        yield Path(os.path.realpath(folder))


def bound(path: Path, stack: ExitStack, *, listens: bool) -> socket.socket:
    end = stack.enter_context(socket.socket(socket.AF_UNIX))
    end.bind(str(path))
    if listens:
        end.listen()
    return end


def lay_dead(folder: Path) -> None:
    for _ in range(DEAD):
        with ExitStack() as stack:
            bound(folder / file_name("dead", "", ""), stack, listens=False)


@on_linux
def test_it_has_who_listens_under_that_prefix_and_nobody_else(shared):
    with ExitStack() as stack:
        bound(shared / "tandem-stop.a", stack, listens=True)
        bound(shared / "tandem-stop.b", stack, listens=False)
        bound(shared / "other.c", stack, listens=True)
        bound(shared / "tandem-stop.\udcff", stack, listens=True)
        lay_dead(shared)
        found = listening_sockets(f"{shared}/tandem-stop.")
        assert sorted(found) == [f"{shared}/tandem-stop.a", f"{shared}/tandem-stop.\udcff"]
    assert listening_sockets(f"{shared}/tandem-stop.") == []


@on_linux
def test_of_a_crowd_of_dead_ones_a_living_one_is_connected_first(shared, monkeypatch):
    """Not one dead name is looked at before it."""
    looked: list[str] = []
    true = stop_sockets.owner_of
    monkeypatch.setattr(stop_sockets, "owner_of", lambda path: looked.append(path) or true(path))
    lay_dead(shared)
    with ExitStack() as stack:
        bound(shared / file_name("car", "", ""), stack, listens=True)
        search = stop_sockets.find_stop_sockets()
        it = next(search)
        assert it is not None
        assert it.name == "car"
        assert len(looked) == 1
        it.close()
        assert [other for other in search if other] == [], "and it is found once"
        assert len(looked) == DEAD + 1


@pytest.mark.parametrize("says", [[], ["/nowhere/tandem-stop.car.0.0.0", ""]])
def test_where_the_system_does_not_say_it_is_found_by_its_name(shared, monkeypatch, says):
    """Another network namespace, another system, one that forbids to ask."""
    monkeypatch.setattr(stop_sockets, "listening_sockets", lambda prefix: says)
    lay_dead(shared)
    with ExitStack() as stack:
        bound(shared / file_name("car", "", ""), stack, listens=True)
        found = [it for it in stop_sockets.find_stop_sockets() if it]
        assert [it.name for it in found] == ["car"]
        for it in found:
            it.close()


def test_a_folder_that_is_not_crowded_is_looked_through_without_asking(shared, monkeypatch):
    monkeypatch.setattr(stop_sockets, "listening_sockets", pytest.fail)
    with ExitStack() as stack:
        for _ in range(stop_sockets.LOOKED_AT_ONCE - 1):
            bound(shared / file_name("car", "", ""), stack, listens=True)
        found = [it for it in stop_sockets.find_stop_sockets() if it]
        assert len(found) == stop_sockets.LOOKED_AT_ONCE - 1
        for it in found:
            it.close()


# --- the answers


def row(path: bytes, login: int | None, kind: int = 20) -> bytes:
    """One socket as Linux says it: header, unix_diag_msg, path, shutdown, login."""
    name = struct.pack("=HH", 4 + len(path), 0) + path + bytes(-len(path) % 4)
    said = bytes(16) + name + struct.pack("=HHBxxx", 5, 6, 0)
    if login is not None:
        said += struct.pack("=HHI", 8, 7, login)
    return struct.pack("=IHHII", 16 + len(said), kind, 0, 0, 0) + said


def answered(monkeypatch: pytest.MonkeyPatch, *answers: bytes) -> list[str]:
    monkeypatch.setattr(listening, "_answers", lambda: iter(answers))
    return listening_sockets("/f/tandem-stop.")


def test_each_login_has_its_turn_and_none_more_than_its_most(monkeypatch):
    many = [row(b"/f/tandem-stop.m%d\0" % n, 5) for n in range(2000)]
    cars = [row(b"/f/tandem-stop.c%d\0" % n, 1000 + n) for n in range(3)]
    found = answered(monkeypatch, b"".join(many[:1000]), b"".join([*many[1000:], *cars]))
    assert found[:4] == [f"/f/tandem-stop.{it}" for it in ("m0", "c0", "c1", "c2")]
    assert len(found) == MOST_OF_LOGIN + 3
    assert MOST_OF_LOGIN >= stop_sockets.MOST // 4, "a login's whole share"


def test_a_kernel_that_knows_no_login_says_the_paths(monkeypatch):
    rows = [row(b"/f/tandem-stop.a\0", None), row(b"/f/tandem-stop.bcd\0", None)]
    assert answered(monkeypatch, b"".join(rows)) == ["/f/tandem-stop.a", "/f/tandem-stop.bcd"]


@pytest.mark.parametrize("left", [0, 3, 4, 15, 16, 33, 36, 50])
def test_an_answer_that_is_cut_or_refused_is_no_error(monkeypatch, left):
    whole = row(b"/f/tandem-stop.a\0", 1)
    refused = struct.pack("=IHHIIi", 20, 2, 0, 0, 0, -1)
    assert answered(monkeypatch, whole + whole[:left])[:1] == ["/f/tandem-stop.a"]
    assert answered(monkeypatch, refused) == []
    assert answered(monkeypatch, bytes(40)) == []


def test_a_system_that_has_no_such_question_says_nothing(monkeypatch):
    monkeypatch.delattr(socket, "AF_NETLINK", raising=False)
    assert listening_sockets("/") == []


def test_one_that_forbids_to_ask_says_nothing(monkeypatch):
    def refuse(*words: object) -> None:
        raise PermissionError

    monkeypatch.setattr(socket, "socket", refuse)
    assert listening_sockets("/") == []
