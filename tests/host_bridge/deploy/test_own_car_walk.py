"""A car of one's own from nothing onto its board, by the commands that hardware/bring_up.md names.

The board's REPL and its files are a real MicroPython's; the car that comes up afterwards at the
same port is the process car (``flash/test_flash_command.py``). Whoever comes later, from any
folder, need not say again which file it is: the host has found it by the configuration's hash.
Months later a newer program comes onto the board, of another version of the protocol: from a copy
of the tree with one code more.
"""

import json
import os
import pty
import re
import shutil
import signal
import time
import tty
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from host_bridge.link.transports.port_holders import holders
from tests.host_bridge.cli.programs import program, tandem, until, virtual_car
from tests.host_bridge.deploy.flash.far_end import RESET, ROOT, repl_board
from tests.support import patience
from tests.support.evidence import every, some

# two boards of 110 files, which come onto each twice; 150 s each
pytestmark = [pytest.mark.process(drives=True), pytest.mark.exhaustive(as_a_whole=True)]

SLASH = (
    "--like=f1tenth", "--title=Our Slash", "--wheelbase-m=0.324", "--track-m=0.296",
    "--wheel-radius-m=0.0545", "--mass-kg=3.2", "--speed-max-mps=4", "--full-speed-mps=13",
    "--servo-us=1900,1500,1100", "--steer-deg=25", "--encoder=hall", "--magnets=4", "--gyro=no",
    "--rc=no", "--cells=3",
)  # fmt: skip
TRIMMED = {"channel_neutral", "channel_curve"}  # a servo's rest, and its pulses
MACHINE = "JS with Emscripten"  # what Node's MicroPython says that it is
WITHIN_S = 140.0  # 110 files by 512 bytes, and twelve seconds of trial
PACKAGES = ("calibration", "firmware", "hardware", "host_bridge", "sim_mock")
SENT = re.compile(r"^sent bytes: (\d+) of (\d+)$")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def done(*words):
    """Run a command that has to succeed; return what it printed."""
    ended = tandem(*words, within_s=WITHIN_S)
    assert ended.returncode == 0, f"{words}: {ended.stdout}{ended.stderr}"
    return ended.stdout


class Desk:
    """A board at this computer: where its REPL is and where its car, and how it is flashed.

    Both are one port, but for a car whose link is a UART.
    """

    def __init__(self, vehicle, board, port, repl=None):
        self.vehicle, self.port, self.repl = f"./{vehicle}.toml", port, repl or port
        self.uri = f"serial://{port}"
        self.words = ("flash", "--vehicle", self.vehicle, "--port", str(port), "--board", board,
                      *(("--repl", str(repl)) if repl else ()))  # fmt: skip

    @property
    def is_uart(self):
        return self.repl != self.port

    @contextmanager
    def flashed(self, *more, older=None):
        """The car that stands there after the flash, and what that told.

        ``older`` is the car that runs there until the board is asked for its REPL.
        """
        line = ExitStack()
        with line, repl_board(Path("board"), "walk") as (device, repl):
            if self.is_uart:
                self.repl.symlink_to(device)
            if older is None:
                self._comes_free(line, device)
            with program(*self.words, *more, "--no-selftest", "--json") as flash:
                if older is not None:
                    self._is_seen(flash)
                    older.close()
                    self._comes_free(line, device)
                until(lambda: {repl.poll(), flash.poll()} != {None}, "the board's reset", WITHIN_S)
                assert repl.poll() == RESET, flash.communicate()
                line.close()
                self.repl.unlink()
                with virtual_car(self.vehicle, self.port, "--board", "walk") as car:
                    out, trouble = patience.communicate(flash, WITHIN_S)
                    assert flash.returncode == 0, trouble
                    yield car, json.loads(out)

    def _is_seen(self, flash):
        """The flash looks at the car that is there, before the board's program ends."""
        car = str(self.port.resolve())
        until(lambda: flash.pid in {it.pid for it in holders(car)}, "its look at it", WITHIN_S)
        time.sleep(3)  # it asks for a session, which that version does not give

    def _comes_free(self, line, device):
        """No car is at its port: over USB the board's REPL is, over a UART nothing."""
        if self.is_uart:
            line.enter_context(_silent_line(self.port))
        else:
            self.port.symlink_to(device)


@contextmanager
def _silent_line(path):
    """A serial port at which nothing answers."""
    far, near = pty.openpty()
    tty.setraw(near)
    path.symlink_to(os.ttyname(near))
    try:
        yield
    finally:
        path.unlink()
        os.close(far)
        os.close(near)


def _made_a_wiring(vehicle, chip):
    """The board file that `vehicles new` wrote, for what Node's MicroPython calls itself."""
    board = Path(f"{vehicle}_{chip}.toml")
    done("vehicles", f"./{vehicle}.toml", "--check", "--board", f"./{board}")
    machine = next(line for line in board.read_text().splitlines() if line.startswith("machine"))
    board.write_text(board.read_text().replace(machine, f'machine = "{MACHINE}"'))
    return f"./{board}"


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("chip", ["pico", "pico2"])
def test_a_slash_with_a_hall_sensor_comes_onto_its_board_and_is_updated(
    chip, tmp_path, monkeypatch
):
    done("vehicles", "new", "./slash.toml", *SLASH, "--board", chip)
    desk = Desk("slash", _made_a_wiring("slash", chip), tmp_path / "port")
    with desk.flashed("--name", "red") as (_, first):
        assert first["vehicle"] == "slash"
        (tmp_path / "elsewhere").mkdir()
        with monkeypatch.context() as here:
            here.chdir(tmp_path / "elsewhere")
            _used(desk.uri, "slash")
        shutil.move(tmp_path / "elsewhere/red.json", tmp_path / "before.json")
    monkeypatch.setenv("PYTHONPATH", str(_newer_version(tmp_path / "newer")))
    monkeypatch.setenv("TANDEM_PROGRESS", "1")
    _refused_for_another_board(chip, desk)
    _cut_while_it_is_sent(desk)
    _updated(desk, first, monkeypatch)


@pytest.mark.timeout(1200)
def test_a_car_with_a_vesc_on_a_computers_uart_is_flashed_tested_driven_and_updated(
    tmp_path, monkeypatch
):
    words = ("--like=f1tenth_vesc", "--link=uart", "--board=pico2", "--title=On a Jetson")
    done("vehicles", "new", "./jet.toml", *words)
    desk = Desk("jet", _made_a_wiring("jet", "pico2"), tmp_path / "ttyTHS1", tmp_path / "ttyACM0")
    with desk.flashed("--name", "red") as (car, first):
        assert first["vehicle"] == "jet"
        uri = f"{desk.uri}?baud=921600"
        rows = _tested(uri, car)
        assert {"runstop opens", "drive", "steering left"} <= {row["what"] for row in rows}
        _used(uri, "jet")
        done("restore", "--car", uri, "red.json")
    shutil.move("red.json", "before.json")
    monkeypatch.setenv("PYTHONPATH", str(_newer_version(tmp_path / "newer")))
    _updated(desk, first, monkeypatch)


def _newer_version(tree):
    """A copy of the tree in which the protocol has one code more; return its folder."""
    for name in PACKAGES:
        unwanted = shutil.ignore_patterns("__pycache__", "*.so", ".*")
        shutil.copytree(ROOT / name, tree / name, ignore=unwanted)
    with (tree / "firmware/protocol/codes.py").open("a") as codes:
        codes.write("\nOF_A_NEWER_VERSION = 1\n")
    return tree


def _files(folder):
    return {path: path.read_bytes() for path in some(sorted(folder.rglob("*.*")))}


def _refused_for_another_board(chip, desk):
    """Its board file is that of another board than the one that is there: nothing is written."""
    other = Path("other.toml")
    text = Path(f"slash_{chip}.toml").read_text()
    other.write_text(text.replace(MACHINE, "Some other board with RP2040"))
    before = _files(Path("board"))
    with repl_board(Path("board"), "walk") as (device, repl):
        desk.port.symlink_to(device)
        words = ("--vehicle", desk.vehicle, "--board", "./other.toml", "--port", str(desk.port))
        refused = tandem("flash", *words, within_s=WITHIN_S)
        assert repl.wait(20) == RESET
    desk.port.unlink()
    assert refused.returncode == 6, refused.stderr
    assert "this board is not" in refused.stderr
    assert _files(Path("board")) == before


def _cut_while_it_is_sent(desk):
    """The computer dies halfway: what started before is there, byte for byte, and starts."""
    before = _files(Path("board"))
    with repl_board(Path("board"), "walk") as (device, _):
        desk.port.symlink_to(device)
        with program(*desk.words, "--no-selftest", "--json") as flash:
            for line in flash.stderr:
                found = SENT.match(line)
                if found and 2 * int(found[1]) > int(found[2]):
                    break
            else:
                pytest.fail("it ended before anything was cut")
            flash.send_signal(signal.SIGKILL)
    desk.port.unlink()
    after = _files(Path("board"))
    assert len(after) > len(before), "nothing had come"
    assert every(after[path] == data for path, data in before.items())
    assert not (Path("board") / "b" / "pins.mpy").exists(), "a slot without them never starts"


def _updated(desk, first, monkeypatch):
    """Flash over the car that runs the older program, as its owner had named and trimmed it."""
    rows = json.loads(Path("before.json").read_text())["parameters"]
    older = ExitStack()
    with monkeypatch.context() as here:
        here.delenv("PYTHONPATH")
        car = virtual_car(desk.vehicle, desk.port, "--board", "walk", "--name", "red")
        older.enter_context(car)
    asked = tandem("identify", desk.uri, "--json")
    assert "another version" in asked.stdout + asked.stderr
    with older, desk.flashed(older=older) as (_, row):
        kept = json.loads(done("restore", "--car", desk.uri, "before.json", "--json"))
        done("backup", "--car", desk.uri, "after.json")
        drive = ("drive", "--car", desk.uri, "--input", "script:slalom", "--seconds", "4")
        assert "no stops" in done(*drive, "--cap", "0.5")
    assert kept["changed"] == 0, kept
    assert json.loads(Path("after.json").read_text())["parameters"] == rows
    assert (row["car"], row["slot"]) == ("red", "b")
    assert row["program"] != first["program"]


def _tested(uri, car):
    """Run the whole self-test, with a hand at the runstop when it asks; return its rows."""
    with program("selftest", uri, "--attest", "wheels-off-ground", "--json") as selftest:
        for word in ("open", "close"):
            line = ""
            while f"{word} the runstop loop" not in line.lower():
                line = selftest.stderr.readline()
                assert line, selftest.communicate()
            car.stdin.write(f"runstop {word}\n")
            car.stdin.flush()
        out, trouble = patience.communicate(selftest, WITHIN_S)
    assert selftest.returncode == 0, (out, trouble)
    return json.loads(out)


def _used(uri, vehicle):
    found = json.loads(done("identify", uri, "--json"))[0]
    assert (found["car"], found["vehicle"]) == ("red", vehicle)
    drive = ("drive", "--car", uri, "--input", "script:slalom", "--seconds", "6", "--cap", "0.5")
    assert "no stops" in done(*drive, "--record", "walk.mcap")
    told = tandem("calibrate", "walk.mcap", "--json", within_s=WITHIN_S)
    rows = some(json.loads(told.stdout)["parameters"].values())
    assert sum(it["is_told"] for it in rows) < len(rows), "of so short a drive"
    assert told.returncode == (0 if any(it["is_told"] for it in rows) else 1), told.stderr
    done("trim", "--car", uri, "steering=12")
    differs = tandem("config", "diff", uri, "--json", within_s=WITHIN_S)
    assert differs.returncode == 1, differs.stderr  # by the trim, and by nothing else
    rows = some(json.loads(differs.stdout))
    assert {row["parameter"].partition("[")[0] for row in rows} <= TRIMMED, rows
    done("backup", "--car", uri, "red.json")
    assert json.loads(Path("red.json").read_text())["vehicle"] == vehicle
