"""The local socket of an owner, in this process: who gets in, what passes, and how it ends."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress

import pytest

from firmware.protocol import messages
from host_bridge.core.errors import DeviceFault
from host_bridge.link.transports.descriptor import Stream
from host_bridge.sharing.endpoints import endpoint as under_test
from host_bridge.sharing.endpoints.endpoint import SocketClient, local_endpoint
from host_bridge.sharing.endpoints.local_socket import SEND_BUFFER_BYTES
from host_bridge.sharing.endpoints.served import ServedCar, announce, socket_path
from sim_mock.faults.trial.host import framed
from tests.host_bridge.sharing.desk import owner_and_car, run, runtime_folder
from tests.host_bridge.sharing.desk import until as soon
from tests.support import patience

CLAIM, STATUS = framed(messages.Claim()), framed(messages.Status())


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


def connected(path) -> socket.socket:
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    end.connect(str(path))
    end.setblocking(False)
    return end


async def heard(end: socket.socket, size: int) -> bytes:
    """The next bytes, so many; fewer if it ends."""
    data = b""
    while len(data) < size:
        found = await patience.within(asyncio.get_running_loop().sock_recv(end, 4096), 5.0)
        if not found:
            break
        data += found
    return data


def test_a_client_of_another_program_drives_the_car_and_hears_it():
    async def main():
        owner, car = await owner_and_car()
        endpoint = local_endpoint("car")
        endpoint.open(owner)
        end = connected(socket_path("car"))
        await soon(lambda: owner.clients == 1)
        end.send(CLAIM)
        await soon(lambda: car.data == CLAIM)
        car.transport.send(STATUS)
        assert await heard(end, len(STATUS)) == STATUS
        assert owner.undelivered_bytes == 0
        end.close()
        await soon(lambda: owner.clients == 0)
        endpoint.close()
        owner.close()

    run(main())


def test_who_is_in_stays_when_nobody_is_let_in_any_more():
    async def main():
        owner, car = await owner_and_car()
        endpoint = local_endpoint("car")
        endpoint.open(owner)
        path = socket_path("car")
        end = connected(path)
        await soon(lambda: owner.clients == 1)
        endpoint.close()
        endpoint.close()  # once more does no harm
        assert not path.exists()
        end.send(CLAIM)
        await soon(lambda: car.data == CLAIM)
        endpoint._answer()  # nobody listens
        owner.close()
        assert await heard(end, 1) == b"", "it ends with the owner"

    run(main())


def test_a_rim_that_is_closed_holds_nothing_and_one_that_never_opened_neither():
    async def main():
        local_endpoint("car").close()
        owner, _ = await owner_and_car()
        endpoint = local_endpoint("car")
        endpoint.open(owner)
        listening = endpoint._socket
        fd = listening.fileno()
        endpoint.close()
        assert listening.fileno() == -1
        assert asyncio.get_running_loop().remove_reader(fd) is False, "it is not watched any more"
        owner.close()

    run(main())


def test_what_is_closed_by_hand_may_be_gone_already():
    async def main():
        owner, _ = await owner_and_car()
        endpoint = local_endpoint("car")
        endpoint.open(owner)
        socket_path("car").unlink()
        endpoint.close()
        owner.close()

    run(main())


def test_who_knocks_and_goes_away_again_is_nobody():
    async def main():
        owner, _ = await owner_and_car()
        endpoint = local_endpoint("car")
        endpoint.open(owner)
        endpoint._answer()  # nobody knocked
        assert owner.clients == 0
        endpoint.close()
        owner.close()

    run(main())


def test_an_owner_that_ends_ends_its_clients_and_forgets_them():
    async def main():
        owner, car = await owner_and_car()
        ours, theirs = socket.socketpair()
        client = SocketClient(ours, owner)
        assert owner.clients == 1
        fd = ours.fileno()
        client.end()
        assert asyncio.get_running_loop().remove_reader(fd) is False, "it is not watched any more"
        assert (owner.clients, ours.fileno()) == (0, -1)
        theirs.setblocking(False)
        assert theirs.recv(1) == b""
        car.transport.send(STATUS)
        await asyncio.sleep(0)
        theirs.close()
        owner.close()

    run(main())


def test_a_client_has_a_small_buffer_so_that_who_does_not_read_loses_news():
    async def main():
        owner, _ = await owner_and_car()
        ours, theirs = socket.socketpair()
        plain, other = socket.socketpair()
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        client = SocketClient(ours, owner)
        sizes = [it.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) for it in (ours, plain)]
        assert sizes[0] == sizes[1]
        sent = 0
        while taken := client.deliver(STATUS):
            assert taken == len(STATUS)
            sent += taken
        assert 0 < sent < 8 * SEND_BUFFER_BYTES + 4096
        client.end()
        for end in (theirs, plain, other):
            end.close()
        owner.close()

    run(main())


def test_who_says_more_than_a_car_can_take_is_not_read_for_a_while(monkeypatch):
    rested = []
    monkeypatch.setattr(Stream, "rest", lambda stream, for_s: rested.append(for_s))

    async def main():
        owner, car = await owner_and_car()
        ours, theirs = socket.socketpair()
        client = SocketClient(ours, owner)
        theirs.send(CLAIM)
        await soon(lambda: car.data == CLAIM)
        assert rested == []
        theirs.setblocking(False)
        with suppress(BlockingIOError):
            for _ in range(400):
                theirs.send(CLAIM)
        await soon(lambda: bool(rested))
        assert set(rested) == {0.01}
        client.end()
        theirs.close()
        owner.close()

    run(main())


# --- the socket itself


def test_one_that_a_dead_owner_left_behind_is_replaced(folder):
    dead = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    dead.bind(str(folder / "car.sock"))
    dead.close()
    end = under_test.listen(folder / "car.sock", "car")
    assert end.getblocking() is False
    with connected(folder / "car.sock"):
        end.accept()[0].close()
    end.close()


@pytest.mark.parametrize("is_full", [False, True])
def test_a_live_one_is_left_alone_also_one_that_lets_nobody_in(folder, is_full):
    path = folder / "car.sock"
    live = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    live.bind(str(path))
    live.listen(0)
    waiting = [connected(path)] if is_full else []
    announce(ServedCar("car", "sim://nigel", os.getpid(), "nigel", "2026-01-01T00:00:00Z"))
    announce(ServedCar("other", "sim://f1tenth", os.getpid(), "f1tenth", "2026-01-01T00:00:00Z"))
    with pytest.raises(DeviceFault) as raised:
        under_test.listen(path, "car")
    fault = raised.value
    assert fault.what == "a car is served by the name of car already"
    assert fault.remedy == "use it as tandem:///car, end that process, or give another --name"
    assert fault.got in ("", f"process {os.getpid()}, sim://nigel")
    assert path.exists()
    for end in (live, *waiting):
        end.close()


def test_it_lets_so_many_wait_and_no_more(folder):
    path = folder / "car.sock"
    end = under_test.listen(path, "car")
    waiting = []
    for _ in range(40):
        one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        one.setblocking(False)
        waiting.append((one.connect_ex(str(path)), one))
    assert [result for result, _ in waiting].count(0) == 16 + 1  # as Linux counts
    for one in (end, *(it for _, it in waiting)):
        one.close()


def test_a_path_that_is_too_long_for_a_socket_is_told_with_the_remedy(tmp_path):
    with pytest.raises(DeviceFault) as raised:
        under_test.listen(tmp_path / ("x" * 120), "car")
    assert raised.value.got == "AF_UNIX path too long"
    assert "a short path" in raised.value.remedy


def test_where_it_cannot_be_made_is_told_with_the_remedy(tmp_path, monkeypatch):
    made = []

    class Noted(socket.socket):
        def __init__(self, *kind) -> None:
            super().__init__(*kind)
            made.append(self)

    monkeypatch.setattr(under_test.socket, "socket", Noted)
    with pytest.raises(DeviceFault) as raised:
        under_test.listen(tmp_path / "nowhere" / "car.sock", "car")
    fault = raised.value
    assert fault.what == "no client could reach this car"
    assert fault.where == str(tmp_path / "nowhere" / "car.sock")
    assert fault.got == "No such file or directory"
    assert "TANDEM_RUNTIME_DIR" in fault.remedy
    assert [it.fileno() for it in made] == [-1, -1]


def test_a_folder_in_which_nothing_can_be_made_is_told_and_is_no_traceback(folder):
    file = folder / "file"
    file.write_text("")
    with pytest.raises(DeviceFault, match="no client could reach this car") as caught:
        under_test.listen(file / "red.sock", "red")
    assert "can be written to" in caught.value.remedy
