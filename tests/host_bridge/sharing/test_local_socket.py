from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.link.transports.base import OnBytes
from host_bridge.link.transports.uri import open_transport
from host_bridge.sharing.endpoints.local_socket import (
    LocalSocket,
    ServedCar,
    announce,
    runtime_dir,
    served,
    socket_path,
    withdraw,
)
from tests.host_bridge.link.contract import Bench, BusContract, Ear, Wire, run_strictly

CAR = ServedCar("nigel", "serial:///dev/ttyACM0", os.getpid(), "nigel", "2024-05-01T10:00:00Z")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "run"
    monkeypatch.setenv("TANDEM_RUNTIME_DIR", str(path))
    return path


class Owner:
    """Who serves the car: a listening socket, and the client that came last."""

    def __init__(self, path: Path) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._listener.setblocking(False)
        self._client: socket.socket | None = None

    async def connect(self, on_bytes: OnBytes) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listener)
        loop.add_reader(self._listener, self._accept, on_bytes)

    def write(self, data: bytes) -> None:
        assert self._client
        self._client.sendall(data)

    def cut(self) -> None:
        self._accept(lambda _: None)
        assert self._client
        self._hang_up()

    def end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._listener)
        self._listener.close()
        self._hang_up()

    def _accept(self, on_bytes: OnBytes) -> None:
        try:
            client, _ = self._listener.accept()
        except BlockingIOError:
            return
        self._hang_up()
        self._client = client
        client.setblocking(False)
        asyncio.get_running_loop().add_reader(client, self._read, client, on_bytes)

    def _read(self, client: socket.socket, on_bytes: OnBytes) -> None:
        data = client.recv(4096)
        if data:
            on_bytes(data)
        else:
            self._hang_up()

    def _hang_up(self) -> None:
        if self._client:
            asyncio.get_running_loop().remove_reader(self._client)
            self._client.close()
            self._client = None


class TestLocalSocket(BusContract):
    @asynccontextmanager
    async def wire(self) -> AsyncIterator[Wire]:
        owner = Owner(socket_path("nigel"))
        transport = open_transport("tandem:///nigel", Bench())
        yield Wire(transport, owner)
        transport.close()
        owner.end()


def fault_of_opening(uri: str) -> DeviceFault:
    async def run() -> None:
        ear = Ear()
        await open_transport(uri, Bench()).open(ear.on_bytes, ear.on_closed)

    with pytest.raises(DeviceFault) as caught:
        run_strictly(run())
    return caught.value


def test_a_car_nobody_serves_is_named_with_those_that_are_served() -> None:
    announce(CAR)
    fault = fault_of_opening("tandem:///f1tenth")
    assert "nobody serves" in fault.what
    assert "tandem:///nigel" in fault.got
    assert "tandem serve" in fault.remedy


def test_a_socket_left_behind_counts_as_not_served() -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(socket_path("nigel")))
    assert "nobody serves" in fault_of_opening("tandem:///nigel").what


def test_an_owner_that_takes_no_clients_is_told_as_such() -> None:
    path = socket_path("nigel")
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as other:
        listener.bind(str(path))
        listener.listen(0)
        other.connect(str(path))
        assert "does not answer" in fault_of_opening("tandem:///nigel").what


def test_a_folder_with_too_long_a_name_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TANDEM_RUNTIME_DIR", str(tmp_path / ("x" * 100)))
    assert "short" in fault_of_opening("tandem:///nigel").remedy


def test_a_client_that_is_not_read_is_left_with_little_to_deliver_late() -> None:
    """A claim lives 120 ms: hundreds of old ones before a stop would be no use to anybody."""

    async def run() -> int:
        owner = Owner(socket_path("nigel"))
        ear = Ear()
        client = LocalSocket("tandem:///nigel", socket_path("nigel"))
        await client.open(ear.on_bytes, ear.on_closed)
        taken = sum(client.send(bytes(40)) for _ in range(10_000)) // 40
        client.close()
        owner.end()
        return taken

    assert 12 <= run_strictly(run()) <= 100  # 120 ms to 1 s at 100 Hz


def test_a_car_of_another_machine_needs_a_token(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path))
    with pytest.raises(UsageFault, match="nobody has invited you") as caught:
        open_transport("tandem://jetson/nigel", Bench())
    assert "tandem accept" in caught.value.remedy


def test_a_slash_too_few_is_noticed() -> None:
    with pytest.raises(UsageFault) as caught:
        open_transport("tandem://nigel", Bench())
    assert "tandem:///nigel" in caught.value.remedy


@pytest.mark.parametrize(
    "text",
    ["tandem:///", "tandem:///a/b", "tandem:///..", "tandem:///%2e%2e%2fx", "tandem:///a?b=1"],
)
def test_what_is_no_name_of_a_car_is_refused(text: str) -> None:
    with pytest.raises(UsageFault):
        open_transport(text, Bench())


def test_an_announced_car_is_served_until_it_is_withdrawn() -> None:
    announce(CAR)
    assert served() == [CAR]
    withdraw("nigel")
    assert served() == []


@pytest.mark.process
def test_a_car_whose_owner_ended_is_not_served() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    announce(ServedCar("gone", "sim://nigel", ended.pid, "nigel", ""))
    announce(CAR)
    assert served() == [CAR]


def test_a_car_whose_owner_we_may_not_signal_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(pid: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refused)
    announce(replace(CAR, pid=1))
    assert served() == [replace(CAR, pid=1)]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"name": "nigel"}', "\xff"])
def test_a_description_that_is_none_is_passed_over(folder: Path, text: str) -> None:
    announce(CAR)
    (folder / "other.json").write_text(text, encoding="latin-1")
    assert served() == [CAR]


def test_the_runtime_folder_is_private(folder: Path) -> None:
    assert runtime_dir() == folder
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_runtime_folder_open_to_others_is_refused(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o755)
    with pytest.raises(DeviceFault, match="0755"):
        runtime_dir()


def test_a_runtime_folder_that_cannot_be_made_is_refused(folder: Path) -> None:
    folder.touch()
    with pytest.raises(DeviceFault, match="cannot be trusted"):
        runtime_dir()


def test_a_link_in_place_of_the_runtime_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    folder.symlink_to(tmp_path)
    with pytest.raises(DeviceFault):
        runtime_dir()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_runtime_folder_of_somebody_else_is_refused(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    os.chown(folder, 65_534, 65_534)
    with pytest.raises(DeviceFault, match="65534"):
        runtime_dir()


@pytest.mark.parametrize(
    ("name", "below"), [("XDG_RUNTIME_DIR", "tandem"), ("TMPDIR", f"tandem-{os.getuid()}")]
)
def test_the_runtime_folder_follows_the_environment(
    name: str, below: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for other in ("TANDEM_RUNTIME_DIR", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert runtime_dir() == tmp_path / below
