"""The demo as a person runs it; and that it can fail."""

import json
import os
import signal
import struct
import subprocess
import sys
import time

import pytest

from host_bridge.link.protocol import wire
from host_bridge.logs import reading
from tests.firmware.worlds import micropython_command
from tests.host_bridge.cli.programs import TANDEM
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support.evidence import some

# it measures: no other demo may run beside it
pytestmark = [pytest.mark.process, pytest.mark.xdist_group("demo")]
AT_MOST_S = 120
PATIENCE_S = 280  # of a machine on which others work: all of it is late, and none of it wrong


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path
        assert not list(path.glob("*.sock")), "a socket was left behind"


def demo(out, *words):
    return subprocess.run(
        [*TANDEM, "demo", "--out", str(out), *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def processes_of(out):
    """What still runs and has the results' folder in its command line."""
    done = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if str(out) in line]


def checks_in(out):
    return json.loads((out / "demo.json").read_text())


def test_under_cpython_byte_identity_is_said_to_be_not_shown(tmp_path):
    done = demo(tmp_path, "--only", "together", "--runtime", "cpython")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "byte identity" in done.stdout
    assert "NOT shown" in " ".join(done.stdout.split())
    assert checks_in(tmp_path)["runtime"] == "CPython"
    assert not processes_of(tmp_path)


def test_a_byte_altered_in_the_main_drive_makes_the_demo_fail(tmp_path):
    done = demo(tmp_path, "--only", "together", "--runtime", "cpython", "--alter")
    assert done.returncode == 1, done.stdout + done.stderr
    failed = [check["what"] for check in checks_in(tmp_path)["checks"] if not check["holds"]]
    assert failed == ["claims that both cars accepted, byte for byte"]
    assert "1 did NOT hold" in done.stdout
    assert "Look at demo.mcap" in " ".join(done.stdout.split())


@pytest.mark.smoke
def test_it_runs_in_any_folder_and_leaves_its_results_there(tmp_path):
    words = [*TANDEM, "demo", "--only", "together", "--runtime", "cpython"]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert checks_in(tmp_path / "demo-out")["runtime"] == "CPython"
    assert not processes_of(tmp_path)


SLOW = """
import sys
from host_bridge.cli.main import main
from host_bridge.demo.judging import limits
limits.BRAKES_MPS2 = 40.0  # more than any tyre gives
limits._FADES_S = 0.0  # and at once: what tandem stop may take to react is long enough for a VESC
sys.exit(main(sys.argv[1:]))
"""


def test_a_limit_that_the_car_cannot_keep_makes_the_demo_fail(tmp_path):
    words = ["demo", "--out", str(tmp_path), "--only", "stops", "--runtime", "cpython"]
    done = subprocess.run(
        [sys.executable, "-c", SLOW, *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    checks = checks_in(tmp_path)["checks"]
    assert len(checks) == 12
    assert not any(check["holds"] for check in checks)
    assert "car-a.csv" in done.stdout


@pytest.mark.micropython
def test_the_whole_demo_holds_within_two_minutes(tmp_path):
    micropython_command(64)
    begun_s = time.monotonic()
    done = demo(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert time.monotonic() - begun_s < AT_MOST_S
    assert done.stderr == ""
    fits = [x for x in done.stdout.splitlines() if str(tmp_path) not in x]
    assert [x for x in some(fits) if len(x) > 80] == []
    assert f"tandem station --log {tmp_path / 'demo.mcap'}" in done.stdout
    results = checks_in(tmp_path)
    assert results["runtime"] == "MicroPython, 64 bit"
    assert len(results["checks"]) == 17
    _is_a_picture(tmp_path / "demo.png")
    _is_a_log_of_one_frame_for_both_cars(tmp_path / "demo.mcap")
    assert not processes_of(tmp_path)
    assert not os.path.lexists(tmp_path / "car-a.port")


def _is_a_picture(path):
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", head[16:24])
    assert width > 1000
    assert height > 300


def _is_a_log_of_one_frame_for_both_cars(path):
    claims = {"demo-a": [], "demo-b": []}
    for record in reading.read(path):
        if record.topic == "up":
            frames = (b"\0" + piece + b"\0" for piece in record.value.split(b"\0") if piece)
            claims[record.car] += [frame for frame in frames if _is_claim(frame)]
    assert len(claims["demo-a"]) > 1000
    both = min(map(len, claims.values()))
    assert claims["demo-a"][:both] == claims["demo-b"][:both]
    assert max(map(len, claims.values())) - both < 50  # one is let go before the other
    assert reading.summary(path).is_complete


def _is_claim(frame):
    (message,) = wire.MessageDecoder().feed(frame)
    return type(message).__name__ == "Claim"


def test_ctrl_c_while_driving_ends_everything(tmp_path):
    process = subprocess.Popen(
        [*TANDEM, "demo", "--out", str(tmp_path), "--runtime", "cpython"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    trace = tmp_path / "car-a.csv"
    deadline_s = time.monotonic() + PATIENCE_S / 2
    while not (trace.exists() and _speed_mps(trace) > 1.5):
        assert time.monotonic() < deadline_s, "it never drove"
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate(timeout=PATIENCE_S / 2)
    assert process.returncode == 130
    assert "Interrupted" in out
    assert "Traceback" not in err
    assert not processes_of(tmp_path)
    assert _speed_mps(trace) < 0.02


def _speed_mps(trace):
    lines = trace.read_text().split("\n")
    return float(lines[-2].split(",")[5]) if len(lines) > 3 else 0.0


def test_a_runtime_that_is_not_there_is_an_error_with_a_remedy(tmp_path, monkeypatch):
    monkeypatch.setenv("MICROPYTHON", "/bin/false")
    done = demo(tmp_path, "--runtime", "micropython")
    assert done.returncode == 3
    assert "no micropython on this machine" in done.stderr
    assert "Traceback" not in done.stderr
