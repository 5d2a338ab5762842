"""``tandem hil``: on a virtual car behind a port, on a silent port, on a capture."""

import contextlib
import json
import os
import pty
import subprocess
import sys
import time
import tty
from pathlib import Path

import pytest

from firmware.protocol import messages
from host_bridge.cli import main
from host_bridge.errors import ProtocolFault
from host_bridge.flash.board import BoardFacts
from host_bridge.flash.plan import Slots
from host_bridge.hil import analyser, on_chip, same_bytes
from host_bridge.hil.limits import LIMITS
from host_bridge.hil.port import Mute, Port
from host_bridge.hil.report import PASS
from host_bridge.hil.small_host import framed
from sim_mock import micropython
from tests.firmware.drivers import peers
from tests.meanwhile import meanwhile

ROOT = Path(__file__).resolve().parents[3]
US = 1e-6


# --- a logic analyser's capture


def capture(tmp_path, name="capture.csv"):
    """Power at 0.1 s, neutral pulses from 0.5 s on, driven from 0.8 s, the loop open at 1.0 s."""
    changes = [(0.0, "power", 0), (0.0, "loop", 1), (0.0, "esc", 0), (0.0, "life", 0)]
    changes += [(0.1, "power", 1), (1.0, "loop", 0)]
    for frame in range(40):
        rise_s = 0.5 + 0.02 * frame
        width_us = 1600 if 0.8 <= rise_s < 1.015 else 1500.25
        changes += [(rise_s, "esc", 1), (rise_s + width_us * US, "esc", 0)]
    changes += [(0.9 + 0.0005 * n, "life", n & 1) for n in range(201)]
    levels, lines = {"power": 0, "loop": 0, "esc": 0, "life": 0}, ["; made by a test"]
    lines += ["Time [s],D0,D1,D2,D3"]
    for time_s, part, level in sorted(changes):
        levels[part] = level
        lines.append(f"{time_s:.9f},{','.join(str(v) for v in levels.values())}")
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n")
    return path


NAMED = {"power": "D0", "loop": "D1", "esc": "D2", "life": "D3"}


def test_a_capture_tells_widths_the_first_pulse_and_what_an_open_loop_does(tmp_path):
    rows = {row.what: row for row in analyser.measure(analyser.read(capture(tmp_path), NAMED))}

    def got(key):
        return float(rows[LIMITS[key].what].got.split()[0])

    assert got("first_pulse") == pytest.approx(0.4, abs=1e-4)
    assert got("pulse_width") == pytest.approx(0.25, abs=0.02)
    assert got("runstop_pulse") == pytest.approx(20, abs=0.1)
    assert got("runstop_life") == pytest.approx(0, abs=1)
    assert rows[LIMITS["first_pulse"].what].verdict == PASS


def test_what_a_capture_does_not_show_is_not_measured(tmp_path):
    channels = analyser.read(capture(tmp_path), {"esc": "D2"})
    verdicts = [row.holds for row in analyser.measure(channels)]
    assert verdicts == [None, True, None, None, None, None, None]


# Drives that are no ESC's pulses: changes of (time, part, level), the loop open at 1.0 s


def opened(tmp_path, changes):
    """What an analyser's rows say of a capture of these changes, by key."""
    changes = [(0.0, "loop", 1), (1.0, "loop", 0), *changes]
    parts = sorted({part for _, part, _ in changes})
    levels, lines = dict.fromkeys(parts, 0) | {"vesc": 1}, [f"Time [s],{','.join(parts)}"]
    for time_s, part, level in sorted(changes):
        levels[part] = level
        lines.append(f"{time_s:.9f},{','.join(str(levels[p]) for p in parts)}")
    path = tmp_path / "capture.csv"
    path.write_text("\n".join(lines) + "\n")
    rows = analyser.measure(analyser.read(path, {part: part for part in parts}))
    keys = {limit.what: key for key, limit in LIMITS.items()}
    return {keys[row.what]: row for row in rows}


def ms(row):
    value, unit = row.got.split()
    assert unit == "ms"
    return float(value)


def brake_pulses(widths_us, first_s=0.9):
    rises = [(first_s + 0.02 * n, us * US) for n, us in enumerate(widths_us)]
    return [e for rise, us in rises for e in ((rise, "brake", 1), (rise + us, "brake", 0))]


def test_a_brake_servo_is_timed_from_the_opening_to_its_first_pulse_of_another_width(tmp_path):
    rows = opened(tmp_path, brake_pulses([1500] * 7 + [1900] * 4))
    assert ms(rows["runstop_brake"]) == pytest.approx(40, abs=0.1)
    assert rows["runstop_brake"].verdict == PASS
    rows = opened(tmp_path, brake_pulses([1500] * 12))
    assert rows["runstop_brake"].holds is None
    assert "went on" in rows["runstop_brake"].how
    assert "not captured" in rows["runstop_word"].how


def serial_line(frames):
    """Bits of 115200 baud; each frame begins at its time."""
    found = []
    for begin_s, frame in frames:
        for n, byte in enumerate(frame):
            bits = [0, *(byte >> k & 1 for k in range(8)), 1]
            at_s = begin_s + n * 10 / 115_200
            found += [(at_s + k / 115_200, "vesc", bit) for k, bit in enumerate(bits)]
    return found


@pytest.mark.parametrize("after", [("current", 0), ("brake", 9000), ("duty", -2000), ("duty", 0)])
def test_a_vesc_is_timed_from_the_opening_to_its_first_word_that_drives_no_more(tmp_path, after):
    numbers = {name: number for number, name in peers.COMMANDS.items()}

    def frame(name, value=None):
        words = b"" if value is None else value.to_bytes(4, "big", signed=True)
        return peers.vesc_frame(bytes([numbers[name]]) + words)

    said = [(0.9 + 0.02 * n, frame("duty", 30_000)) for n in range(6)]  # 1.0 s: begun, not heard
    said += [(0.903 + 0.04 * n, frame("get")) for n in range(5)]
    said += [(1.02 + 0.02 * n, frame(*after)) for n in range(4)]
    rows = opened(tmp_path, serial_line(said))
    assert ms(rows["runstop_word"]) == pytest.approx(20 + 10e3 * 10 / 115_200, abs=0.1)
    rows = opened(tmp_path, serial_line(said[:5]))
    assert rows["runstop_word"].holds is None


def bridge(until_s, ends):
    """Full ahead by a PWM of 1 kHz, until one of its pins ends it."""
    found = [(0.5, "in1", 1), (0.5, "in2", 0), (0.5, "standby", 1)]
    for n in range(800):
        rise_s = 0.5 + n * 1e-3
        if rise_s < until_s or ends != "pwm":
            found += [(rise_s, "pwm", 1), (min(rise_s + 0.6e-3, max(until_s, rise_s)), "pwm", 0)]
    return found if ends == "pwm" else [*found, (until_s, ends, int(ends == "in2"))]


@pytest.mark.parametrize("ends", ["pwm", "in1", "in2", "standby"])
def test_a_bridge_is_timed_from_the_opening_to_its_last_moment_of_driving(tmp_path, ends):
    rows = opened(tmp_path, bridge(1.0003, ends))
    assert ms(rows["runstop_bridge"]) == pytest.approx(0.3, abs=0.02)
    assert rows["runstop_bridge"].verdict == PASS
    assert opened(tmp_path, bridge(0.8, ends))["runstop_bridge"].holds is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("Time [s],D0\n0.0,1\n", "no column 'D2'; there is D0"),
        ("Time [s],D2\n", "no samples"),
        ("Time [s],D2\n0.0,high\n", "line 2: expected seconds and a 0 or 1"),
    ],
)
def test_a_file_that_is_no_capture_is_refused_with_what_is_wrong(tmp_path, text, said):
    path = tmp_path / "wrong.csv"
    path.write_text(text)
    with pytest.raises(analyser.BadCapture, match=said):
        analyser.read(path, {"esc": "D2"})


# --- a port


@contextlib.contextmanager
def virtual_car():
    """``tandem sim`` behind a pseudo-terminal: its path."""
    words = [sys.executable, "-m", "host_bridge.cli", "sim", "f1tenth", "--runtime", "cpython"]
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
            raise Mute("not a byte")
        self._steps += 1

    def us_per_s(self):
        assert self._steps >= 50
        return 1e5

    def facts(self):
        return BoardFacts("a board", (1, 28, 0), b"id")

    def slots(self):
        return Slots(0, False, 0)

    def hashes(self, folder):
        return {}


@pytest.mark.parametrize(("is_mute", "pace"), [(False, 0.1), (True, 1.0)])
def test_the_way_to_the_repl_is_timed_in_the_boards_own_time(is_mute, pace):
    begun_s = time.monotonic()
    [(found, row)] = on_chip.facts(SlowBoard(is_mute))
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
        monkeypatch.setattr("host_bridge.hil.port.time.monotonic", lambda: self.now_s)

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
    with pytest.raises(Mute, match="within 3 s"):
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


@pytest.mark.micropython
def test_the_script_for_a_board_puts_out_what_cpython_does(tmp_path):
    with board(same_bytes.program(str(ROOT)), tmp_path) as line:
        row = same_bytes.compare(line, beats=100)
    assert row.holds, row.got
    assert row.detail["steps"] > 300


@pytest.mark.micropython
def test_a_step_that_differs_is_named(tmp_path):
    text = same_bytes.program(str(ROOT))
    changed = text.replace("size = fields[-1]", "size = fields[-1]; board.battery_mv += 1")
    assert changed != text
    with board(changed, tmp_path) as line:
        row = same_bytes.compare(line, beats=10)
    assert row.holds is False
    assert "sent: here" in row.got
