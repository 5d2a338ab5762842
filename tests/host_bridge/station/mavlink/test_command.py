"""`tandem mavlink` as a process: what it prints, records and shows to others."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress

import pytest
from pymavlink.dialects.v20 import development as mavlink

from host_bridge.logs.reading import read
from tests.host_bridge.cli.programs import program, serving, tandem, until
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support import patience
from tests.support.evidence import some

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        monkeypatch.setenv("TANDEM_DATA_DIR", str(path / "data"))
        yield path


@pytest.fixture
def ground():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as it:
        it.bind(("127.0.0.1", 0))
        it.setblocking(False)
        yield it


def datagram(ground):
    """The next datagram and whence it comes."""
    found = []

    def has_come():
        with suppress(BlockingIOError):
            found.append(ground.recvfrom(4096))
        return found

    until(has_come, "a datagram of the gateway")
    return found[0]


def test_who_is_connected_is_shown_and_frames_are_logged(ground, tmp_path):
    log = tmp_path / "drive.mcap"
    library = mavlink.MAVLink(None, srcSystem=255, srcComponent=190)
    beat = bytes(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3).pack(library))
    to = f"127.0.0.1:{ground.getsockname()[1]}"
    with serving("sim://f1tenth", "rover"):
        words = ("mavlink", "rover", "--to", to, "--record", str(log), "--json")
        with program(*words) as gateway:
            _, car = datagram(ground)
            over = threading.Event()

            def beats():
                while not over.wait(1.0):
                    ground.sendto(beat, car)

            beating = threading.Thread(target=beats, daemon=True)
            beating.start()

            def shown():
                shown = tandem("monitor", "rover", "--json", "--seconds", "1").stdout
                rows = map(json.loads, shown.splitlines())
                return [it for it in rows if it["topic"] == "stations"]

            until(shown, "monitor to show the station")
            (station,) = shown()[0]["stations"]
            assert station == {
                "by": "MAVLink",
                "who": "255/190",
                "address": to,
                "is_signed": False,
                "drives": False,
                "guest": "",
            }
            assert "MAVLink 255/190" in tandem("monitor", "rover", "--seconds", "1").stdout
            over.set()
            beating.join()
            assert gateway.poll() is None
        assert not list(tmp_path.glob("*.attached"))
    frames = [it for it in read(log) if it.topic == "mavlink"]
    heard = [it.value for it in some(frames) if it.value["from_station"]]
    assert heard[0]["frame"] == beat.hex()
    assert len(frames) > 3 * len(heard)


def test_a_port_that_is_taken_is_told(ground):
    taken = f"127.0.0.1:{ground.getsockname()[1]}"
    done = tandem("mavlink", "--car", "sim://f1tenth", "--listen", taken)
    assert done.returncode == 3
    assert taken in done.stderr
    assert "--listen" in done.stderr


def test_a_station_is_invited_listed_and_revoked_and_without_one_nobody_listens():
    car = ("--car", "sim://f1tenth")
    listen = ("mavlink", *car, "--listen", "0.0.0.0:0", "--seconds", "1")
    refused = tandem(*listen)
    assert refused.returncode == 2
    assert "tandem invite CAR --mavlink" in refused.stderr
    with serving("sim://f1tenth", "rover"):
        invite = ("invite", "rover", "--mavlink", "--role", "drive", "--label", "Ada")
        assert "signing key" in tandem(*invite).stdout
        made = json.loads(tandem(*invite, "--json").stdout)
        assert len(made["passphrase"]) == 64
        listen = ("mavlink", "rover", *listen[3:])
        assert "invited: Ada, Ada" in tandem(*listen).stdout
        rows = json.loads(tandem("guests", "--json").stdout)
        assert {(it["by"], it["role"], it["state"]) for it in rows} == {
            ("mavlink", "drive", "invited")
        }
        assert tandem("guests", "revoke", "all").returncode == 0
        assert tandem(*listen).returncode == 2
        assert tandem(*invite, "--address", "192.168.1.7").returncode == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--system", "251"), "1 to 250"),
        (("--deadman", "16"), "0 to 15"),
        (("--origin", "91,0"), "--origin 91,0"),
        (("--origin", "somewhere"), "LAT,LON"),
        (("--to", "localhost"), "HOST:PORT"),
    ],
)
def test_what_is_out_of_range_is_refused_before_anything_is_opened(words, said):
    done = tandem("mavlink", "--car", "sim://f1tenth", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_program_that_served_the_car_and_ended_is_told(ground):
    to = f"127.0.0.1:{ground.getsockname()[1]}"
    with (
        serving("sim://f1tenth", "rover") as owner,
        program("mavlink", "rover", "--to", to) as gateway,
    ):
        datagram(ground)
        owner.kill()
        assert patience.wait(gateway, 30.0) == 3
        assert "has ended" in (gateway.stderr.read() if gateway.stderr else "")


def test_the_control_period_is_written_under_the_rules_of_config(ground):
    to = f"127.0.0.1:{ground.getsockname()[1]}"
    library = mavlink.MAVLink(None, srcSystem=255, srcComponent=190)

    def written(step_us):
        """What is told of the parameter after it was asked for."""
        message = mavlink.MAVLink_param_set_message(1, 1, b"STEP_US", step_us, 9)
        ground.sendto(bytes(message.pack(library)), car)
        reader = mavlink.MAVLink(None)
        while True:
            for it in reader.parse_buffer(datagram(ground)[0]) or ():
                if it.get_type() == "PARAM_VALUE":
                    return it.param_value

    with serving("sim://f1tenth", "rover"), program("mavlink", "rover", "--to", to):
        _, car = datagram(ground)
        assert written(20_000.0) == 20_000.0
        assert written(3_000.0) == 20_000.0, "a step of this length is not shown to stop in time"
        shown = tandem("config", "read", "rover", "--json").stdout
        assert json.loads(shown)["step_us"] == 20_000
