"""A car of one's own from nothing onto its board, by the commands that hardware/bring_up.md names.

The board's REPL and its files are a real MicroPython's; the car that comes up afterwards at the
same port is the process car (``flash/test_flash_command.py``). Whoever comes later, from any
folder, need not say again which file it is: the host has found it by the configuration's hash.
Months later a newer program comes onto the board, of another version of the protocol: from a copy
of the tree with one code more.
"""

import json
import re
import shutil
import signal
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

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


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("chip", ["pico", "pico2"])
def test_a_slash_with_a_hall_sensor_comes_onto_its_board_and_is_updated(
    chip, tmp_path, monkeypatch
):
    done("vehicles", "new", "./slash.toml", *SLASH, "--board", chip)
    board = Path(f"slash_{chip}.toml")
    done("vehicles", "./slash.toml", "--check", "--board", f"./{board}")
    machine = next(line for line in board.read_text().splitlines() if line.startswith("machine"))
    board.write_text(board.read_text().replace(machine, f'machine = "{MACHINE}"'))
    port = tmp_path / "port"
    words = ("flash", "--vehicle", "./slash.toml", "--board", f"./{board}", "--port", str(port))
    with repl_board(Path("board"), "walk") as (device, repl):
        port.symlink_to(device)
        with program(*words, "--name", "red", "--no-selftest", "--json") as flash:
            until(lambda: {repl.poll(), flash.poll()} != {None}, "the board's reset", WITHIN_S)
            assert repl.poll() == RESET, flash.communicate()
            port.unlink()
            with virtual_car("./slash.toml", port, "--board", "walk"):
                out, trouble = patience.communicate(flash, WITHIN_S)
                assert flash.returncode == 0, trouble
                assert json.loads(out)["vehicle"] == "slash"
                (tmp_path / "elsewhere").mkdir()
                monkeypatch.chdir(tmp_path / "elsewhere")
                _used(f"serial://{port}", "slash")
                shutil.copy("red.json", tmp_path / "before.json")
    first = json.loads(out)["program"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(_newer_version(tmp_path / "newer")))
    monkeypatch.setenv("TANDEM_PROGRESS", "1")
    _refused_for_another_board(chip, port)
    _cut_while_it_is_sent(words, port)
    row = _updated(words, port, monkeypatch)
    assert (row["car"], row["slot"]) == ("red", "b")
    assert row["program"] != first


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


def _refused_for_another_board(chip, port):
    """Its board file is that of another board than the one that is there: nothing is written."""
    other = Path("other.toml")
    text = Path(f"slash_{chip}.toml").read_text()
    other.write_text(text.replace(MACHINE, "Some other board with RP2040"))
    before = _files(Path("board"))
    with repl_board(Path("board"), "walk") as (device, repl):
        port.symlink_to(device)
        words = ("--vehicle", "./slash.toml", "--board", "./other.toml", "--port", str(port))
        refused = tandem("flash", *words, within_s=WITHIN_S)
        assert repl.wait(20) == RESET
    port.unlink()
    assert refused.returncode == 6, refused.stderr
    assert "this board is not" in refused.stderr
    assert _files(Path("board")) == before


def _cut_while_it_is_sent(words, port):
    """The computer dies halfway: what started before is there, byte for byte, and starts."""
    before = _files(Path("board"))
    with repl_board(Path("board"), "walk") as (device, _):
        port.symlink_to(device)
        with program(*words, "--no-selftest", "--json") as flash:
            for line in flash.stderr:
                found = SENT.match(line)
                if found and 2 * int(found[1]) > int(found[2]):
                    break
            else:
                pytest.fail("it ended before anything was cut")
            flash.send_signal(signal.SIGKILL)
    port.unlink()
    after = _files(Path("board"))
    assert len(after) > len(before), "nothing had come"
    assert every(after[path] == data for path, data in before.items())
    assert not (Path("board") / "b" / "pins.mpy").exists(), "a slot without them never starts"


def _updated(words, port, monkeypatch):
    """Flash over the car that runs the older program, as its owner had named and trimmed it."""
    rows = json.loads(Path("before.json").read_text())["parameters"]
    older = ExitStack()
    with monkeypatch.context() as here:
        here.delenv("PYTHONPATH")
        older.enter_context(virtual_car("./slash.toml", port, "--board", "walk", "--name", "red"))
    asked = tandem("identify", f"serial://{port}", "--json")
    assert "another version" in asked.stdout + asked.stderr
    with older, repl_board(Path("board"), "walk") as (device, repl):
        car = str(port.resolve())
        with program(*words, "--no-selftest", "--json") as flash:
            until(lambda: car in _open_files(flash), "its look at the car", WITHIN_S)
            time.sleep(3)  # it asks for a session, which that version does not give
            older.close()
            port.symlink_to(device)
            until(lambda: {repl.poll(), flash.poll()} != {None}, "the board's reset", WITHIN_S)
            assert repl.poll() == RESET, flash.communicate()
            port.unlink()
            with virtual_car("./slash.toml", port, "--board", "walk"):
                out, trouble = patience.communicate(flash, WITHIN_S)
                assert flash.returncode == 0, trouble
                uri = f"serial://{port}"
                kept = json.loads(done("restore", "--car", uri, "before.json", "--json"))
                done("backup", "--car", uri, "after.json")
                drive = ("drive", "--car", uri, "--input", "script:slalom", "--seconds", "4")
                assert "no stops" in done(*drive, "--cap", "0.5")
    assert kept["changed"] == 0, kept
    assert json.loads(Path("after.json").read_text())["parameters"] == rows
    return json.loads(out)


def _open_files(process):
    folder = Path(f"/proc/{process.pid}/fd")
    return [str(it.resolve()) for it in folder.iterdir()] if folder.exists() else []


@pytest.mark.timeout(600)
def test_a_car_with_a_vesc_on_a_computers_uart_is_tested_driven_and_kept(tmp_path):
    words = ("--like=f1tenth_vesc", "--link=uart", "--board=pico2", "--title=On a Jetson")
    done("vehicles", "new", "./jet.toml", *words)
    done("vehicles", "./jet.toml", "--check", "--board", "./jet_pico2.toml")
    port = tmp_path / "ttyTHS1"
    uri = f"serial://{port}?baud=921600"
    with virtual_car("./jet.toml", port, "--name", "red") as car:
        rows = _tested(uri, car)
        assert {"runstop opens", "drive", "steering left"} <= {row["what"] for row in rows}
        _used(uri, "jet")
        done("restore", "--car", uri, "red.json")


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
