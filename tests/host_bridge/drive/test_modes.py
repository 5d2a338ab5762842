"""The four modes, by the very commands of the README: nothing but the URI changes."""

import json
import re
import shlex
import socket
import tempfile
import threading
import time
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.host_bridge.cli.programs import virtual_car
from tests.host_bridge.drive.terminal.terminals import PRESS, RELEASE, Far, Program
from tests.sim_mock.autodrive.unity import Unity
from tests.support import patience

README = (Path(__file__).resolve().parents[3] / "README.md").read_text()
MODES = dict(re.findall(r"^\| ([a-z ]+) \| `tandem drive (.+?)`", README, re.MULTILINE))
URL = "ws://127.0.0.1:{}/socket.io/?EIO=4&transport=websocket"

pytestmark = [
    pytest.mark.process(drives=True),
    pytest.mark.xdist_group("wall clock"),
]


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(prefix="tandem") as path:  # short: a socket's path is
        yield Path(path)


@pytest.fixture
def far():
    far = Far(knows_kitty=True)
    yield far
    far.close()


def started(mode, far, folder, **replaced):
    """The README's words for it, with what this machine has in place of its examples."""
    text = MODES[mode]
    for was, now in replaced.values():
        assert was in text
        text = text.replace(was, str(now))
    return Program(far, folder, *shlex.split(text))


def drives(program, far, arms=b""):
    """Held, it drives; released, it holds; Escape disarms. ``arms``: a key, until it is armed."""
    while program.latest("state") != "HOLD":
        seen = len(program.rows)
        program.until(lambda seen=seen: len(program.rows) > seen + 20, "a while")
        if program.latest("state") != "HOLD":
            far.type(arms)
    far.type(PRESS)
    program.until_state("ACTIVE")
    far.type(b"\x1b[119u" * 3)
    program.until(lambda: program.latest("speed_mps") > 0.1, "moving")
    far.type(RELEASE)
    program.until_state("HOLD")
    far.type(b"\x1b[27u")
    assert program.end() == (0, "")
    return [car["distance_m"] for car in program.summary["cars"]]


def test_the_readme_names_the_four():
    assert list(MODES) == ["gym", "simulator", "testbed", "digital twin"]


def test_gym(far, folder):
    program = started("gym", far, folder, file=("run.jsonl", folder / "run.jsonl"))
    assert drives(program, far)[0] > 0.02
    lines = (folder / "run.jsonl").read_text().split("\n")[:-1]
    assert {json.loads(line)["sensor"] for line in lines} >= {"lidar", "imu", "position"}


def test_testbed(far, folder):
    """A port like a real board's, with the car's program behind it."""
    with virtual_car("nigel", folder / "port"):
        program = started("testbed", far, folder, port=("/dev/ttyACM0", folder / "port"))
        assert drives(program, far)[0] > 0.02


def test_digital_twin(far, folder):
    with virtual_car("nigel", folder / "port", "--name", "real"):
        program = started("digital twin", far, folder, port=("/dev/ttyACM0", folder / "port"))
        car_m, twin_m = drives(program, far)
        assert car_m > 0.02
        assert twin_m == pytest.approx(car_m, abs=0.05)


def test_simulator(far, folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = started("simulator", far, folder, port=("4567", port))
    unity = Unity("nigel")
    threading.Thread(target=simulate, args=(unity, port), daemon=True).start()
    assert drives(program, far, arms=b"\x1b[114u")[0] > 0.02  # R: it was stopped until it was there
    assert unity.frames > 100
    assert unity.swallowed == []


def simulate(unity, port):
    """The simulator's client at 60 frames a second, from when somebody listens to when it goes."""
    deadline = patience.Deadline(20.0)
    while not deadline.is_over():
        try:
            with connect(URL.format(port), compression=None, proxy=None) as line:
                render(unity, line)
                return
        except OSError:
            time.sleep(0.1)


def render(unity, line):
    try:
        line.send(unity.on_open())
        while True:
            reply = unity.on_text(line.recv())
            time.sleep(1 / 60)
            unity.run(1 / 60)
            if reply:
                line.send(reply)
    except ConnectionClosed:
        return
