"""Foxglove's server, by its own wire: a viewer sees, stops, and can do nothing else."""

from __future__ import annotations

import io
import json
import re
import struct
import time
from contextlib import ExitStack

import pytest
from PIL import Image
from websockets.sync.client import connect

from host_bridge.logs.reading import read
from host_bridge.logs.sensor_lines import LidarScan
from host_bridge.sharing.owner.car_place import place_of
from host_bridge.station.backend.camera_pictures import CameraPictures
from host_bridge.station.views import foxglove_server
from host_bridge.station.views.foxglove_layout import layout_for
from tests.host_bridge.cli.programs import tandem
from tests.host_bridge.drive.drives import vehicle
from tests.host_bridge.logs.official_schemas import decoded
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.chromium import PATIENCE_S
from tests.host_bridge.station.stage import NAME, PORTS, stage
from tests.host_bridge.station.stream import Stream
from tests.support import patience

pytest.importorskip("foxglove", reason="--foxglove needs tandem-cars[foxglove]")
pytestmark = [pytest.mark.process, pytest.mark.xdist_group("station")]
PORT, FOXGLOVE_PORT = PORTS + 8, PORTS + 9
_CALLS = 5
_DATA = 1  # opcodes of its protocol: a message
_CALL, _ANSWER = 2, 3  # a service is called, and has answered


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

    def __init__(self, port: int = FOXGLOVE_PORT) -> None:
        self._stack = ExitStack()
        talk = connect(
            f"ws://127.0.0.1:{port}", subprotocols=["foxglove.sdk.v1"], proxy=None,
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

    def rows(self, *topics: str, meanwhile=lambda: None) -> dict[str, tuple[str, dict]]:
        """A first row of each topic, with the name of its schema; each must come."""
        found: dict[str, tuple[str, dict]] = {}
        asked: dict[int, str] = {}
        deadline = patience.Deadline(PATIENCE_S)
        while set(found) < set(topics):
            deadline.check(f"{sorted(found)} of {topics}")
            for topic in set(topics) & set(self.channels) - set(asked.values()):
                asked[len(asked)] = topic
                one = {"id": len(asked) - 1, "channelId": self.channels[topic]["id"]}
                self.socket.send(json.dumps({"op": "subscribe", "subscriptions": [one]}))
            meanwhile()
            try:
                message = self.socket.recv(timeout=0.5)
            except TimeoutError:
                continue
            if isinstance(message, bytes) and message[0] == _DATA:
                (which,) = struct.unpack_from("<I", message, 1)
                name = self.channels[asked[which]]["schemaName"]
                found.setdefault(asked[which], (name, json.loads(message[13:])))
            elif isinstance(message, str) and json.loads(message)["op"] == "advertise":
                self.channels |= {it["topic"]: it for it in json.loads(message)["channels"]}
        return found

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
    topics = {f"/{it.car}/{it.topic}" for it in read(log, derived=True)}  # of a stopped car, too
    assert topics, done.stderr
    done = tandem("log", str(log), "--foxglove-layout", str(tmp_path / "layout.json"))
    assert done.returncode == 0, done.stderr
    layout = (tmp_path / "layout.json").read_text()
    wanted = set(re.findall(r'"(/(?:\$car|nigel)/\w+)', layout))
    assert len(wanted) >= 8
    # A car on an endless floor, without a LIDAR
    lacks = {"/nigel/scan", "/nigel/track", "/nigel/driven"}
    assert {it.replace("$car", "nigel") for it in wanted} - lacks <= topics


def test_a_layout_is_for_the_cars_that_it_is_asked_for():
    layout = layout_for(["a", "b"])
    topics = set(layout["configById"]["3D!scene"]["topics"])
    assert topics == {
        f"/{car}/{it}" for car in "ab" for it in ("tf", "pose", "scan", "driven", "track")
    }
    assert layout["configById"]["Log!log"]["topicToRender"] == "/a/log"
    assert "nigel" not in json.dumps(layout)


def test_it_sees_transforms_and_poses_in_foxgloves_own_schemas(viewer):
    for name, row in viewer.rows(f"/{NAME}/tf", f"/{NAME}/pose").values():
        decoded(name, row)


@pytest.fixture
def server():
    it = foxglove_server.FoxgloveServer(FOXGLOVE_PORT + 1, lambda names: [])
    yield it
    it.close()


def test_who_comes_later_sees_the_track_and_newest_scan_and_picture(server):
    walls = place_of("sim://f1tenth?track=corridor", None).walls
    server.add_car(NAME, vehicle(), walls=walls)
    viewer = Viewer(FOXGLOVE_PORT + 1)
    wanted = f"/{NAME}/track", f"/{NAME}/scan", "/camera/image"

    def more():
        server.scan(NAME, LidarScan(0.0, -1.0, 0.5, [1.0, None, 2.0]))
        server.image(b"not looked at here")

    found = {topic: decoded(*it) for topic, it in viewer.rows(*wanted, meanwhile=more).items()}
    viewer.close()
    assert len(found[wanted[0]].entities[0].lines[0].points) == 2 * len(walls)
    assert list(found[wanted[1]].ranges) == [1.0, 0.0, 2.0]
    assert found[wanted[2]].data == b"not looked at here"


def test_a_cameras_pictures_are_read_as_its_program_serves_them():
    stream = Stream()
    pictures = CameraPictures(stream.url)
    deadline = patience.Deadline(PATIENCE_S)
    while (jpeg := pictures.take()) is None:
        deadline.check("no picture")
        time.sleep(0.05)
    pictures.close()
    stream.shutdown()
    assert Image.open(io.BytesIO(jpeg)).size == (320, 240)
