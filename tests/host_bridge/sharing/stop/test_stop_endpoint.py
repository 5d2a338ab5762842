"""The stop socket in this process: who gets in, what passes, how often, and where it lies."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest

from firmware.protocol import messages
from host_bridge.core.errors import DeviceFault
from host_bridge.link.transports.descriptor import Stream
from host_bridge.sharing.stop import stop_calls, stop_endpoint
from host_bridge.sharing.stop.stop_calls import CallbackSocket
from host_bridge.sharing.stop.stop_endpoint import CONNECTIONS, LASTS_S, StopEndpoint
from host_bridge.sharing.stop.stop_sockets import PREFIX, StopSocket, file_name
from sim_mock.faults.trial.host import framed
from tests.host_bridge.sharing.desk import owner_and_car, run
from tests.host_bridge.sharing.desk import until as soon
from tests.support.evidence import every

STOP, IDENTIFY, CLAIM = (
    framed(kind()) for kind in (messages.Stop, messages.Identify, messages.Claim)
)
SEEN, STATUS = framed(messages.StopSeen()), framed(messages.Status())


def sockets(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{PREFIX}.*"))


def connected(path: Path) -> socket.socket:
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    end.connect(str(path))
    end.setblocking(False)
    return end


class Desk:
    async def begin(self, folder: Path) -> Desk:
        self.owner, self.car = await owner_and_car()
        self.endpoint = StopEndpoint("car", "red", "sim://nigel")
        self.endpoint.open(self.owner)
        (self.path,) = sockets(folder)
        return self

    async def knock(self) -> socket.socket:
        before = len(self.endpoint._clients)
        end = connected(self.path)
        await soon(lambda: self.endpoint._clients[before:] != [] or before >= CONNECTIONS)
        return end

    def end(self) -> None:
        self.endpoint.close()
        self.owner.close()


def is_ended(end: socket.socket) -> bool:
    try:
        return end.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False


def test_a_stop_and_an_identify_pass_and_what_answers_them_goes_back(shared):
    async def main():
        desk = await Desk().begin(shared)
        end = await desk.knock()
        assert desk.owner.clients == 1
        end.send(CLAIM + STOP + IDENTIFY)
        await soon(lambda: len(desk.car.data) >= len(STOP + IDENTIFY))
        assert desk.car.data == STOP + IDENTIFY
        desk.car.transport.send(STATUS)
        desk.car.transport.send(SEEN + STATUS)
        await soon(lambda: not is_ended(end) and peeked(end) != b"")
        assert end.recv(4096) == SEEN
        assert desk.owner.undelivered_bytes == 0
        end.close()
        await soon(lambda: desk.owner.clients == 0)
        desk.end()

    run(main())


def peeked(end: socket.socket) -> bytes:
    try:
        return end.recv(4096, socket.MSG_PEEK)
    except BlockingIOError:
        return b""


def test_who_does_not_read_is_told_as_undelivered_and_what_is_not_for_them_is_not(shared):
    async def main():
        desk = await Desk().begin(shared)
        end = await desk.knock()
        (client,) = desk.endpoint._clients
        assert client.deliver(STATUS) == len(STATUS)
        assert client.deliver(SEEN + STATUS) == len(SEEN + STATUS)
        while client.deliver(SEEN):
            pass
        assert client.deliver(SEEN) == 0
        assert client.deliver(STATUS) == len(STATUS)
        end.close()
        desk.end()

    run(main())


def test_after_each_read_of_128_bytes_it_rests(shared, monkeypatch):
    rested = []
    monkeypatch.setattr(Stream, "rest", lambda stream, for_s: rested.append(for_s))

    async def main():
        desk = await Desk().begin(shared)
        end = await desk.knock()
        (client,) = desk.endpoint._clients
        assert client._stream._read_bytes == 128
        end.send(CLAIM)
        await soon(lambda: bool(rested))
        assert rested == [0.005]
        end.close()
        desk.end()

    run(main())


def test_noise_is_not_kept(shared):
    async def main():
        desk = await Desk().begin(shared)
        end = await desk.knock()
        (client,) = desk.endpoint._clients
        end.send(b"\xff" * 300)
        await soon(lambda: client._chunker.noise_bytes > 0)
        end.close()
        desk.end()

    run(main())


def test_identify_passes_once_in_50_ms_whoever_asks():
    endpoint = StopEndpoint("car", "", "sim://nigel")
    found = [at_us for at_us in range(0, 200_000, 1000) if endpoint.may_identify(at_us)]
    assert found == [0, 50_000, 100_000, 150_000]
    assert [endpoint.may_identify(at_us) for at_us in (199_999, 200_000)] == [False, True]


def test_a_stop_passes_each_time_and_an_identify_in_between_does_not(shared):
    async def main():
        desk = await Desk().begin(shared)
        end = await desk.knock()
        desk.endpoint._next_identify_us = desk.owner.now_us() + 60_000_000
        end.send(IDENTIFY + STOP)
        await soon(lambda: desk.car.data != b"")
        assert desk.car.data == STOP
        end.close()
        desk.end()

    run(main())


# --- who gets in


def test_of_one_login_the_oldest_connection_gives_way_to_one_too_many(shared):
    assert CONNECTIONS == 4

    async def main():
        desk = await Desk().begin(shared)
        ends = [await desk.knock() for _ in range(4)]
        assert desk.owner.clients == 4
        assert [is_ended(end) for end in ends] == [False] * 4
        ends.append(await desk.knock())
        await soon(lambda: is_ended(ends[0]))
        assert [is_ended(end) for end in ends] == [True, False, False, False, False]
        assert desk.owner.clients == 4
        ends[2].close()
        await soon(lambda: desk.owner.clients == 3)
        ends.append(await desk.knock())
        await soon(lambda: desk.owner.clients == 4)
        assert not is_ended(ends[1]), "there was room for it"
        ends.append(connected(desk.path))
        await soon(lambda: is_ended(ends[1]), LASTS_S / 2)
        assert desk.owner.clients == 4
        for end in ends:
            end.close()
        desk.end()

    run(main())


def test_one_login_s_connections_are_not_counted_with_another_s(shared, monkeypatch):
    logins = iter([(1, uid) for uid in (5, 5, 5, 5, 6, 5)])
    monkeypatch.setattr(stop_endpoint, "peer_of", lambda end: next(logins))

    async def main():
        desk = await Desk().begin(shared)
        ends = [connected(desk.path) for _ in range(5)]
        await soon(lambda: desk.owner.clients == 5)
        assert [it.uid for it in desk.endpoint._clients] == [5, 5, 5, 5, 6]
        ends.append(connected(desk.path))
        await soon(lambda: is_ended(ends[0]))
        assert [is_ended(end) for end in ends[1:]] == [False] * 5
        for end in ends:
            end.close()
        desk.end()

    run(main())


def test_who_gives_way_is_of_the_same_login_though_another_s_connection_is_older(
    shared, monkeypatch
):
    logins = iter([(1, uid) for uid in (6, 5, 5, 5, 5, 5)])
    monkeypatch.setattr(stop_endpoint, "peer_of", lambda end: next(logins))

    async def main():
        desk = await Desk().begin(shared)
        ends = [connected(desk.path) for _ in range(6)]
        await soon(lambda: any(map(is_ended, ends)))
        assert [is_ended(end) for end in ends] == [False, True, False, False, False, False]
        for end in ends:
            end.close()
        desk.end()

    run(main())


def test_where_the_system_does_not_say_who_it_is_all_are_one(shared, monkeypatch):
    monkeypatch.setattr(stop_endpoint, "peer_of", lambda end: None)

    async def main():
        desk = await Desk().begin(shared)
        end = await desk.knock()
        assert desk.endpoint._clients[0].uid == -1
        end.close()
        desk.end()

    run(main())


def test_a_connection_is_ended_after_its_time_and_only_then(shared, monkeypatch):
    assert LASTS_S == 5.0
    monkeypatch.setattr(stop_endpoint, "LASTS_S", 0.05)

    async def main():
        desk = await Desk().begin(shared)
        end = await desk.knock()
        (client,) = desk.endpoint._clients
        assert client.is_open
        assert client._over.when() - asyncio.get_running_loop().time() <= 0.05
        fd = client._socket.fileno()
        await soon(lambda: is_ended(end))
        assert asyncio.get_running_loop().remove_reader(fd) is False, "it is not watched any more"
        assert (client.is_open, desk.owner.clients) == (False, 0)
        assert client._over.when() <= asyncio.get_running_loop().time()
        client.end()  # once more does no harm
        end.close()
        desk.end()

    run(main())


def test_who_left_is_not_ended_again(shared):
    async def main():
        desk = await Desk().begin(shared)
        end = await desk.knock()
        (client,) = desk.endpoint._clients
        end.close()
        await soon(lambda: not client.is_open)
        assert client._over.cancelled()
        assert client._socket.fileno() == -1
        desk.end()

    run(main())


def test_a_rim_that_is_closed_is_gone_and_lets_nobody_in(shared):
    async def main():
        desk = await Desk().begin(shared)
        end = await desk.knock()
        desk.endpoint.close()
        assert sockets(shared) == []
        desk.endpoint.acceptor.accept_all()
        desk.endpoint.close()  # once more does no harm
        assert not is_ended(end), "who is in stays"
        end.close()
        desk.owner.close()

    run(main())


def test_a_rim_that_is_closed_holds_nothing_and_one_that_never_opened_neither(shared):
    async def main():
        StopEndpoint("car", "", "sim://nigel").close()
        desk = await Desk().begin(shared)
        listening = desk.endpoint.acceptor._listening
        fd = listening.fileno()
        desk.endpoint.close()
        assert listening.fileno() == -1
        assert asyncio.get_running_loop().remove_reader(fd) is False, "it is not watched any more"
        desk.owner.close()

    run(main())


def test_one_whose_socket_is_gone_already_is_closed_all_the_same(shared):
    async def main():
        desk = await Desk().begin(shared)
        desk.path.unlink()
        desk.endpoint.acceptor.accept_all()  # nobody knocked
        desk.end()
        assert desk.endpoint._clients == []

    run(main())


# --- who comes too often, and who is called back


def test_who_comes_too_often_is_sent_away_and_nobody_else_is(shared, monkeypatch):
    assert (stop_endpoint.COMES_PER_S, stop_endpoint.COMES_AT_ONCE) == (50.0, 32)
    uids = [5] * 40 + [6]
    logins = iter([(1, uid) for uid in uids])
    monkeypatch.setattr(stop_endpoint, "peer_of", lambda end: next(logins))

    async def main():
        desk = await Desk().begin(shared)
        monkeypatch.setattr(desk.owner, "now_us", lambda: 1_000_000)  # so none is won meanwhile
        ends = [connected(desk.path) for _ in uids]
        await soon(
            lambda: desk.endpoint.acceptor.sent_away == 8 and desk.endpoint._clients[-1].uid == 6
        )
        assert [is_ended(end) for end in ends[28:]] == [False] * 4 + [True] * 8 + [False]
        for end in ends:
            end.close()
        desk.end()

    run(main())


def test_all_who_wait_are_let_in_at_once(shared):
    async def main():
        desk = await Desk().begin(shared)
        ends = [connected(desk.path) for _ in range(20)]
        desk.endpoint.acceptor.accept_all()
        assert desk.owner.clients == CONNECTIONS
        assert [is_ended(end) for end in ends] == [True] * 16 + [False] * 4
        for end in ends:
            end.close()
        desk.end()

    run(main())


def test_one_too_many_of_all_ends_the_oldest_of_who_has_most(shared, monkeypatch):
    monkeypatch.setattr(stop_endpoint, "ALL_CONNECTIONS", 4)
    logins = iter([(1, uid) for uid in (7, 5, 5, 6, 8)])
    monkeypatch.setattr(stop_endpoint, "peer_of", lambda end: next(logins))

    async def main():
        desk = await Desk().begin(shared)
        ends = [connected(desk.path) for _ in range(5)]
        await soon(lambda: any(map(is_ended, ends)))
        assert [is_ended(end) for end in ends] == [False, True, False, False, False]
        for end in ends:
            end.close()
        desk.end()

    run(main())


def test_a_login_s_share_is_kept_for_some_logins_only():
    endpoint = StopEndpoint("car", "", "sim://nigel")
    endpoint._owner = SimpleNamespace(now_us=lambda: 0)
    for uid in range(300):
        assert endpoint.acceptor.may_come(uid)
    assert len(endpoint.acceptor._shares) == 256
    assert 299 in endpoint.acceptor._shares


def full(path: Path) -> StopSocket:
    """What a stop finds that was not let in."""
    it = StopSocket(str(path), "car")
    it.uid, it.fault = os.getuid(), errno.EAGAIN
    return it


def test_who_found_the_queue_full_is_called_back_while_it_is_crowded(shared):
    async def main():
        desk = await Desk().begin(shared)
        it = full(desk.path)
        call = CallbackSocket(it)
        assert call.open()
        assert Path(call.path).parent == desk.path.parent
        assert not call.answered()
        desk.endpoint._call_back()
        await soon(call.answered)
        call.end()
        assert sockets(shared) == [desk.path]
        assert list(shared.glob("tandem-call.*")) == []
        it.end.send(STOP)
        await soon(lambda: desk.car.data == STOP)
        desk.car.transport.send(SEEN)
        await soon(lambda: peeked(it.end) == SEEN)
        assert it.pid == os.getpid()
        it.close()
        desk.end()

    run(main())


def test_to_look_for_callers_takes_a_third_of_the_owners_time_at_most(shared, monkeypatch):
    """Another login has laid thousands of names into the folder."""

    async def main():
        desk = await Desk().begin(shared)
        clock_us = [0]

        def look(may_come):
            clock_us[0] += 300_000
            return iter(())

        monkeypatch.setattr(desk.endpoint, "_now_us", lambda: clock_us[0])
        monkeypatch.setattr(desk.endpoint, "_callers", SimpleNamespace(connect_new=look))
        desk.endpoint._crowded_until_us = 1_000_000
        begun_s = asyncio.get_running_loop().time()
        desk.endpoint._look()
        assert desk.endpoint._calling.when() >= begun_s + 0.6
        desk.endpoint._calling.cancel()
        desk.end()

    run(main())


def test_nobody_looks_for_callers_once_it_is_no_longer_crowded(shared):
    async def main():
        desk = await Desk().begin(shared)
        desk.endpoint._call_back()
        assert desk.endpoint._calling
        desk.endpoint._crowded_until_us = 0
        await soon(lambda: desk.endpoint._calling is None)
        desk.end()

    run(main())


def test_who_calls_back_has_to_be_the_login_that_serves_the_car(shared):
    it = full(shared / "tandem-stop.car.0.0.abcd")
    it.uid = os.getuid() + 1
    call = CallbackSocket(it)
    assert call.open()
    stranger = connected(Path(call.path))
    assert not call.answered()
    assert it.end is None
    assert is_ended(stranger)
    stranger.close()
    call.end()


def test_a_call_that_cannot_be_made_leaves_the_stop_socket_to_try(shared):
    it = full(shared / "nowhere" / "tandem-stop.car.0.0.abcd")
    outside = stop_calls.PendingStopSockets(0.02)
    outside.add(it, 1.0)
    assert outside
    assert outside.entered(0.5) == []
    assert outside
    assert outside.entered(1.0) == []
    assert not outside, "nobody is there"


@pytest.mark.parametrize("was", [-1, 987_654])  # not looked at yet; another login's file was there
def test_whose_file_it_is_may_change_while_it_is_tried(shared, was):
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    path = shared / "tandem-stop.car.0.0.abcd"
    listening.bind(str(path))
    listening.listen()
    it = full(path)
    it.uid = was
    outside = stop_calls.PendingStopSockets(0.02)
    outside.add(it, 0.0)
    assert outside.entered(1.0) == [it]
    assert it.uid == os.getuid()
    assert not outside
    it.close()
    listening.close()


def test_of_a_program_without_a_file_the_login_that_has_most_gives_one(shared, monkeypatch):
    async def main():
        desk = await Desk().begin(shared)
        ends = [await desk.knock() for _ in range(2)]
        accept = socket.socket.accept
        lacks = [OSError(errno.EMFILE, "too many"), None, OSError(errno.EMFILE, "too many")]

        def sometimes(end):
            if end is desk.endpoint.acceptor._listening and lacks and (lack := lacks.pop(0)):
                raise lack
            return accept(end)

        monkeypatch.setattr(socket.socket, "accept", sometimes)
        ends.append(connected(desk.path))
        await soon(lambda: is_ended(ends[0]))
        await soon(lambda: desk.owner.clients <= 2)
        assert not is_ended(ends[2])
        for end in ends:
            end.close()
        desk.end()

    run(main())


# --- where it lies


def listening() -> tuple[socket.socket, Path]:
    return stop_endpoint._listen("car", "red", "sim://nigel")


def test_every_login_may_connect_and_so_many_may_wait(shared):
    end, path = listening()
    assert path.parent == Path(os.path.realpath(shared))
    assert stat.S_IMODE(path.lstat().st_mode) == 0o666
    assert path.name.rpartition(".")[0] == file_name("car", "red", "sim://nigel").rpartition(".")[0]
    assert end.getblocking() is False
    waiting = []
    for _ in range(100):
        one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        one.setblocking(False)
        waiting.append((one.connect_ex(str(path)), one))
    assert [result for result, _ in waiting].count(0) == 64 + 1  # as Linux counts
    for one in (end, *(it for _, it in waiting)):
        one.close()


def test_the_first_folder_that_does_is_taken_and_the_others_are_told_of(shared, monkeypatch):
    unsafe, missing = shared / "unsafe", shared / "missing"
    unsafe.mkdir()
    unsafe.chmod(0o777)
    monkeypatch.setattr(
        stop_endpoint, "stop_folders", lambda: (str(missing), str(unsafe), str(shared))
    )
    end, path = listening()
    assert path.parent == shared
    end.close()
    monkeypatch.setattr(stop_endpoint, "stop_folders", lambda: (str(missing), str(unsafe)))
    with pytest.raises(DeviceFault) as raised:
        listening()
    fault = raised.value
    why = "not there, or others could remove what is in it"
    assert fault.what == "nobody but this login could stop this car, so it is not served"
    assert fault.got == f"{missing}: {why}; {unsafe}: {why}"
    assert fault.expected == f"a folder that all logins share: one of {missing}, {unsafe}"
    assert fault.remedy == "mkdir /run/tandem && chmod 1777 /run/tandem, as root"
    unsafe.rmdir()


def test_a_folder_in_which_no_socket_can_be_made_is_told_of(shared, monkeypatch):
    made = []

    class Noted(socket.socket):
        def __init__(self, *kind) -> None:
            super().__init__(*kind)
            made.append(self)

    monkeypatch.setattr(stop_endpoint.socket, "socket", Noted)
    monkeypatch.setattr(stop_endpoint, "file_name", lambda *car: "nowhere/car")
    with pytest.raises(DeviceFault) as raised:
        listening()
    assert raised.value.got == f"{shared}: No such file or directory"
    assert [it.fileno() for it in made] == [-1]


def left_behind(folder: Path, name: str, age_s: float, *, listens: bool = False):
    """A socket of this login; whoever made it is gone, unless it listens."""
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    end.bind(str(folder / name))
    if listens:
        end.listen(1)
    else:
        end.close()
    path = folder / name
    begun_s = path.lstat().st_mtime - age_s
    os.utime(path, (begun_s, begun_s))
    return end, path


def test_what_dead_owners_left_is_tidied_away_and_nothing_else(shared):
    _, dead = left_behind(shared, f"{PREFIX}.dead.0.0.0", 6)
    _, call = left_behind(shared, f"{stop_calls.PREFIX}.dead.0", 6)
    _, young = left_behind(shared, f"{PREFIX}.young.0.0.0", 0)
    end, alive = left_behind(shared, f"{PREFIX}.alive.0.0.0", 6, listens=True)
    _, foreign = left_behind(shared, "another.sock", 6)
    file = shared / f"{PREFIX}.file.0.0.0"
    file.write_text("no socket")
    os.utime(file, (0, 0))
    stop_endpoint._tidy(shared)
    assert not dead.exists()
    assert not call.exists()
    assert every(it.exists() for it in (young, alive, foreign, file))
    end.close()


@pytest.mark.parametrize(("age_s", "stays"), [(4.5, True), (5.0, True), (5.5, False)])
def test_one_that_may_be_about_to_listen_stays_for_five_seconds(shared, monkeypatch, age_s, stays):
    _, path = left_behind(shared, f"{PREFIX}.dead.0.0.0", 0)
    os.utime(path, (1000, 1000))
    monkeypatch.setattr(stop_endpoint.time, "time", lambda: 1000 + age_s)
    stop_endpoint._tidy(shared)
    assert path.exists() is stays


def test_one_that_listens_and_lets_nobody_in_is_waited_for_by_nobody(shared):
    end, path = left_behind(shared, f"{PREFIX}.full.0.0.0", 6, listens=True)
    waiting = []
    for _ in range(4):
        one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        one.setblocking(False)
        waiting.append((one.connect_ex(str(path)), one))
    assert waiting[-1][0] != 0
    stop_endpoint._tidy(shared)
    assert path.exists()
    for it in (end, *(one for _, one in waiting)):
        it.close()


def test_what_another_login_left_is_theirs(shared, monkeypatch):
    _, path = left_behind(shared, f"{PREFIX}.dead.0.0.0", 6)
    monkeypatch.setattr(stop_endpoint.os, "getuid", lambda: path.lstat().st_uid + 1)
    stop_endpoint._tidy(shared)
    assert path.exists()


def test_who_begins_tidies_up_first(shared):
    _, dead = left_behind(shared, f"{PREFIX}.dead.0.0.0", 6)
    end, path = listening()
    assert sockets(shared) == [path]
    assert not dead.exists()
    end.close()
