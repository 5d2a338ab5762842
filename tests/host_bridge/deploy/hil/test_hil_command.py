"""``tandem hil``: on a virtual car behind a port, on a silent port."""

import contextlib
import json
import os
import pty
import subprocess
import sys
import time
import tty

import pytest

from firmware.protocol import messages
from host_bridge.cli.main import main
from host_bridge.core.errors import ProtocolFault
from host_bridge.deploy.flash.board.board import BoardFacts
from host_bridge.deploy.flash.build import program_for
from host_bridge.deploy.flash.plan import Slots
from host_bridge.deploy.hil import same_bytes
from host_bridge.deploy.hil.bench import facts as facts_of
from host_bridge.deploy.hil.host.port import NoAnswer, Port
from host_bridge.deploy.hil.host.small_host import framed
from host_bridge.deploy.hil.report.limits import LIMITS
from host_bridge.deploy.hil.report.report import PASS
from sim_mock.runtime import micropython
from tests.support.meanwhile import meanwhile

# --- a port


@contextlib.contextmanager
def virtual_car():
    """``tandem sim`` behind a pseudo-terminal: its path."""
    words = [sys.executable, "-m", "host_bridge.cli.main", "sim", "f1tenth", "--runtime", "cpython"]
    process = subprocess.Popen(
        [*words, "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield json.loads(process.stdout.readline())["device"]
    finally:
        process.terminate()
        process.communicate()


def told(out, speed):
    """What is told of a virtual car, and the command's exit code."""
    with virtual_car() as device:
        words = ["--only", "told", "--seconds", "1", "--patience", "5", "--out", str(out)]
        code = main(["hil", device, *words, "--speed", speed])
    return json.loads(out.read_text()), code


@pytest.mark.process  # it asks git for the commit
def test_a_port_that_is_not_there_is_told_at_once_and_nothing_is_written(tmp_path, capsys):
    report = tmp_path / "report.json"
    assert main(["hil", str(tmp_path / "nothing"), "--out", str(report)]) == 3
    assert "nothing: no such port" in capsys.readouterr().err
    assert not report.exists()


@pytest.mark.process
@pytest.mark.parametrize("speed", ["0", "1.5"])
def test_a_car_at_a_port_is_measured_as_it_was_flashed(tmp_path, speed):
    driven = LIMITS["stop_driving"].what
    for _ in range(3):  # one that a busy machine kept waiting has stopped by itself
        report, code = told(tmp_path / "report.json", speed)
        rows = {row["what"]: row for row in report["rows"]}
        if rows[driven]["got"]:
            break
    assert code in (0, 1)  # a machine that is busy makes a virtual car late
    assert report["board"]["car"] == "f1tenth"
    assert len(rows) == len(LIMITS)
    for key in ("identify_answer", "stop_answer", "stop_driving", "beats_1", "beats_4"):
        assert rows[LIMITS[key].what]["got"], rows[LIMITS[key].what]
    damaged = rows[LIMITS["frames_damaged"].what]
    assert damaged["verdict"] == PASS, damaged
    assert rows[LIMITS["step_median"].what]["how"] == "not asked for"


class SlowBoard:
    """A bench whose board lives through a tenth of this host's time, or tells nothing."""

    def __init__(self, is_mute=False):
        self.is_mute = is_mute
        self.port = self
        self._steps = 0

    @contextlib.contextmanager
    def car(self, speed_mm_s, line=None):
        yield self

    @contextlib.contextmanager
    def board(self):
        time.sleep(0.2)
        yield self

    def catch_up(self):
        pass

    def advance(self, until_us):
        if self.is_mute:
            raise NoAnswer("not a byte")
        self._steps += 1

    def us_per_s(self):
        assert self._steps >= 50
        return 1e5

    def facts(self):
        return BoardFacts("a board", (1, 28, 0), b"id", 239_232)

    def slots(self):
        return Slots(0, False, 0)

    def hashes(self, folder):
        return {}


@pytest.mark.parametrize(("is_mute", "pace"), [(False, 0.1), (True, 1.0)])
def test_the_way_to_the_repl_is_timed_in_the_boards_own_time(is_mute, pace):
    begun_s = time.monotonic()
    [(found, row)] = facts_of(SlowBoard(is_mute))
    took_s = time.monotonic() - begun_s
    assert found["micropython"] == "1.28.0"
    seconds, unit = row.got.split()
    assert unit == "s"
    assert 0.2 * pace <= float(seconds) <= took_s * pace + 1e-3
    assert f"{pace:.2f} s of the car's" in row.clock


@pytest.mark.process
def test_a_mute_port_is_said_to_be_mute_with_what_to_do(tmp_path, capsys):
    far, other = pty.openpty()
    tty.setraw(other)
    out = tmp_path / "report.json"
    words = ["--only", "told", "--patience", "0.2", "--out", str(out)]
    # What waits at a port's opening is dropped, and nobody knows when that is
    with meanwhile(lambda: os.write(far, b"MicroPython v1.28.0 on a board\r\n>>> "), 0.05):
        code = main(["hil", os.ttyname(other), *words])
    os.close(far)
    said = capsys.readouterr().err
    assert code == ProtocolFault.exit_code
    assert "no step of a car was told of" in said
    assert "MicroPython v1.28.0" in said
    assert "tandem flash" in said
    rows = json.loads(out.read_text())["rows"]
    assert {row["verdict"] for row in rows} == {"not measured"}


class StartingLine:
    """A board that says nothing until its program, which was just put to it, has started; and
    nothing any more after two steps. A read without news takes a tenth of a second."""

    def __init__(self, monkeypatch, starts_s):
        self.now_s, self._due_s, self._said = 0.0, starts_s, 0
        self.in_waiting = 0
        monkeypatch.setattr("host_bridge.deploy.hil.host.port.time.monotonic", lambda: self.now_s)

    def read(self, size):
        self.now_s += 0.1
        if self._said == 2 or self.now_s < self._due_s:
            return b""
        self._said += 1
        status = messages.Status()
        status.time_us = self._said * 10_000
        return framed(status)


def test_a_program_that_was_just_put_to_a_board_may_take_its_time_to_start(monkeypatch):
    line = StartingLine(monkeypatch, starts_s=4.0)
    port = Port("a port", line=line)
    port.advance(0)
    port.advance(0)
    silent_s = line.now_s
    with pytest.raises(NoAnswer, match="within 3 s"):
        port.advance(0)
    assert line.now_s - silent_s == pytest.approx(3.0, abs=0.2)


# --- the same bytes, by the script that a board runs


class Pipe:
    """A process's ends as a serial line."""

    timeout = None

    def __init__(self, process):
        self._process = process

    def write(self, data):
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def read(self, size):
        return self._process.stdout.read(size)


@contextlib.contextmanager
def board(text, tmp_path):
    """What a board runs, under a MicroPython of 32 bits."""
    command = micropython.find(32)
    if command is None:
        pytest.skip("no MicroPython of 32 bit on this machine; `make setup` fetches one")
    script = tmp_path / "on_board.py"
    script.write_text(text)
    words = [*command, "-X", "heapsize=8m", str(script)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield Pipe(process)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def slot(tmp_path):
    """A folder with the program as a board has it."""
    for path, text in program_for("rp2").items():
        place = tmp_path / "slot" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return str(tmp_path / "slot")


@pytest.mark.micropython
def test_the_script_for_a_board_puts_out_what_cpython_does(tmp_path, slot):
    with board(same_bytes.program(slot), tmp_path) as line:
        row = same_bytes.compare(line, beats=100)
    assert row.holds, row.got
    assert row.detail["steps"] > 300


@pytest.mark.micropython
def test_a_step_that_differs_is_named(tmp_path, slot):
    text = same_bytes.program(slot)
    changed = text.replace("size = fields[-1]", "size = fields[-1]; board.battery_mv += 1")
    assert changed != text
    with board(changed, tmp_path) as line:
        row = same_bytes.compare(line, beats=10)
    assert row.holds is False
    assert "sent: here" in row.got


class MuteLine:
    """A serial line at whose far end nothing says anything."""

    timeout = 1.5

    def read(self, size):
        return b""


def test_a_program_that_does_not_start_on_the_board_is_a_row_and_the_line_is_as_it_was():
    line = MuteLine()
    row = same_bytes.compare(line, beats=10, patience_s=400.0)
    assert row.holds is False
    assert "does not start: it says nothing" in row.got
    assert line.timeout == 1.5
