"""A car of one's own from nothing onto its board, by the commands that hardware/bring_up.md names.

The board's REPL and its files are a real MicroPython's; the car that comes up afterwards at the
same port is the process car (``flash/test_flash_command.py``). Whoever comes later, from any
folder, need not say again which file it is: the host has found it by the configuration's hash.
"""

import json
from pathlib import Path

import pytest

from tests.host_bridge.cli.programs import program, tandem, until, virtual_car
from tests.host_bridge.deploy.flash.far_end import RESET, repl_board
from tests.support import patience
from tests.support.evidence import every, some

# two boards of 110 files, 70 s each
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


@pytest.mark.timeout(600)
@pytest.mark.parametrize("chip", ["pico", "pico2"])
def test_a_slash_with_a_hall_sensor_comes_onto_its_board(chip, tmp_path, monkeypatch):
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
    told = tandem("calibrate", "walk.mcap", "--json", within_s=WITHIN_S)  # too short for a number
    assert told.returncode == 1, told.stderr
    rows = json.loads(told.stdout)["parameters"].values()
    assert every(not it["is_told"] for it in rows)
    done("trim", "--car", uri, "steering=12")
    differs = tandem("config", "diff", uri, "--json", within_s=WITHIN_S)
    assert differs.returncode == 1, differs.stderr  # by the trim, and by nothing else
    rows = some(json.loads(differs.stdout))
    assert {row["parameter"].partition("[")[0] for row in rows} <= TRIMMED, rows
    done("backup", "--car", uri, "red.json")
    assert json.loads(Path("red.json").read_text())["vehicle"] == vehicle
