"""Foxglove's server, by its own wire: a viewer sees, stops, and can do nothing else."""

from __future__ import annotations

import json
import re
import struct
from contextlib import ExitStack
from pathlib import Path

import pytest
from websockets.sync.client import connect

from host_bridge.logs.reading import read
from host_bridge.station.views import foxglove_server
from tests.host_bridge.cli.programs import tandem
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import PATIENCE_S
from tests.host_bridge.station.stage import NAME, PORTS, stage

pytest.importorskip("foxglove", reason="--foxglove needs tandem-cars[foxglove]")
pytestmark = [pytest.mark.process, pytest.mark.xdist_group("station")]
PORT, FOXGLOVE_PORT = PORTS + 8, PORTS + 9
LAYOUT = Path(foxglove_server.__file__).with_name("foxglove_layout.json")
_CALLS = 5
_CALL, _ANSWER = 2, 3  # opcodes of its protocol: a service is called, and has answered


@pytest.fixture(scope="module")
def set_up(tmp_path_factory):
    folder = tmp_path_factory.mktemp("foxglove")
    words = ("--no-plots", "--foxglove", str(FOXGLOVE_PORT))
    with (
        pytest.MonkeyPatch.context() as patch,
        runtime_folder(patch),
        stage(folder, PORT, *words) as it,
    ):
        yield it


class Viewer:
    """The far end, as Foxglove itself is one."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        talk = connect(
            f"ws://127.0.0.1:{FOXGLOVE_PORT}", subprotocols=["foxglove.sdk.v1"], proxy=None,
            max_size=None, origin="https://app.foxglove.dev",
        )  # fmt: skip
        self.socket = self._stack.enter_context(talk)
        self.info = self.said("serverInfo")
        self.channels: dict[str, dict] = {}
        self.services: dict[str, int] = {}

    def close(self) -> None:
        self._stack.close()

    def said(self, op: str) -> dict:
        while True:
            message = self.socket.recv(timeout=PATIENCE_S)
            if isinstance(message, str) and json.loads(message)["op"] == op:
                return json.loads(message)

    def look(self, *topics: str) -> None:
        """Until all of these, and the services, are advertised."""
        while not (set(topics) <= set(self.channels) and f"/{NAME}/stop" in self.services):
            message = self.socket.recv(timeout=PATIENCE_S)
            if isinstance(message, bytes):
                continue
            said = json.loads(message)
            if said["op"] == "advertise":
                self.channels |= {it["topic"]: it for it in said["channels"]}
            elif said["op"] == "advertiseServices":
                self.services |= {it["name"]: it["id"] for it in said["services"]}

    def call(self, service: str) -> list[dict]:
        encoding = b"json"
        head = struct.pack("<BIII", _CALL, self.services[service], 1, len(encoding))
        self.socket.send(head + encoding + b"{}")
        while True:
            message = self.socket.recv(timeout=PATIENCE_S)
            if isinstance(message, bytes) and message[0] == _ANSWER:
                (size,) = struct.unpack_from("<I", message, 9)
                return json.loads(message[13 + size :])


@pytest.fixture
def viewer(set_up):
    it = Viewer()
    yield it
    it.close()


def test_it_can_neither_publish_nor_set_parameters(viewer):
    assert viewer.info["capabilities"] == ["services"]


def test_it_sees_what_the_car_says_under_the_names_of_a_log(viewer):
    viewer.look(f"/{NAME}/status", f"/{NAME}/motion")
    channel = viewer.channels[f"/{NAME}/status"]
    assert (channel["encoding"], channel["schemaName"]) == ("json", "tandem.status")
    subscription = {"id": 7, "channelId": channel["id"]}
    viewer.socket.send(json.dumps({"op": "subscribe", "subscriptions": [subscription]}))
    while not isinstance(message := viewer.socket.recv(timeout=PATIENCE_S), bytes):
        pass
    assert "speed_mps" in json.loads(message[13:])


def test_it_stops_the_car_and_hears_the_cars_own_answer(viewer, set_up):
    viewer.look()
    assert set(viewer.services) == {"/stop", f"/{NAME}/stop"}
    for service in ("/stop", f"/{NAME}/stop"):
        for _ in range(_CALLS):  # a car that answers late on a busy machine is said to be unseen
            (row,) = viewer.call(service)
            if row["is_seen"]:
                break
        assert (row["name"], row["is_seen"]) == (NAME, True)


def test_each_topic_of_the_layout_is_one_that_a_log_has(tmp_path, monkeypatch):
    log = tmp_path / "drive.mcap"
    with runtime_folder(monkeypatch):
        done = tandem(
            "drive", "--car", "sim://nigel", "--json", "--input", "script:straight", "--seconds",
            "1", "--record", str(log),
        )  # fmt: skip
    topics = {f"/{it.car}/{it.topic}" for it in read(log)}  # of a car that was stopped, too
    assert topics, done.stderr
    wanted = re.findall(r'"(/\$car/\w+)', LAYOUT.read_text())
    car = json.loads(LAYOUT.read_text())["globalVariables"]["car"]
    assert len(wanted) >= 5
    assert {it.replace("$car", car) for it in wanted} <= topics
