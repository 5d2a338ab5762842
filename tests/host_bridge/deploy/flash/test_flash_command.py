"""``tandem flash`` as a process, to a board at its raw REPL that becomes a car once it is reset.

The file system and the REPL are a real MicroPython's; the car that comes up afterwards at the same
port is the process car, for Node can hold the program but not run it.
"""

import json
import os
import pty
import re
import signal
import time
import tty

import pytest

from firmware.launcher import Starts
from host_bridge.cli import main as cli
from host_bridge.config.boards import heap, load_board
from host_bridge.config.boards.heap import HeapNeed
from host_bridge.core.errors import NotHeldFault
from host_bridge.deploy.flash import flash as flashing
from host_bridge.deploy.flash.board.box import watch_box_trial
from host_bridge.deploy.flash.board.repl import ASK, BAUD
from host_bridge.deploy.flash.flash import prompt_self_test
from host_bridge.deploy.flash.program.program import launcher_files
from tests.host_bridge.cli.programs import program, serving, tandem, terminal, virtual_car
from tests.host_bridge.deploy.flash.far_end import RESET, repl_board
from tests.support import patience

pytestmark = pytest.mark.process(drives=True)

PICO = load_board("pico")
MACHINE = "JS with Emscripten"  # what Node's MicroPython says that it is
FLASHED_WITHIN_S = 90.0  # 92 files by 512 bytes, and twelve seconds of trial


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
def board_file(tmp_path):
    """A Pico, but for what it calls itself."""
    text = PICO.document.path.read_text().replace(PICO.machine, MACHINE)
    path = tmp_path / "node_pico.toml"
    path.write_text(text)
    return path


def wait_for_line(stream, word):
    said = []
    for line in stream:
        said.append(line)
        if word in line.lower():
            return
    raise AssertionError(f"it ended without a word of {word}: {said}")


@pytest.fixture
def uart_board_file(board_file):
    """The same, with the link of an F1TENTH on UART 0."""
    text = board_file.read_text()
    head = "[wiring.f1tenth]"
    line = next(line for line in text.splitlines() if line.startswith(head))
    path = board_file.with_name("node_pico_uart.toml")
    path.write_text(text.replace(line, f"{line}\nlink = {{ tx = 0, rx = 1 }}"))
    return path


def words(board, port, *more, vehicle="f1tenth"):
    return ("flash", "--vehicle", vehicle, "--board", str(board), "--port", str(port), *more)


def test_a_bare_board_becomes_the_car_that_was_asked_for(board_file, tmp_path):
    port, folder = tmp_path / "port", tmp_path / "board"
    with repl_board(folder, "flashed") as (device, repl):
        port.symlink_to(device)
        with program(*words(board_file, port, "--name", "red", "--json")) as flash:
            assert repl.wait(FLASHED_WITHIN_S) == RESET
            port.unlink()
            with virtual_car("f1tenth", port, "--board", "flashed"):
                out, trouble = patience.communicate(flash, FLASHED_WITHIN_S)
                assert flash.returncode == 0, trouble
                found = json.loads(tandem("identify", f"serial://{port}", "--json").stdout)[0]
    row = json.loads(out)
    assert (row["slot"], row["car"], row["state"]) == ("a", "red", "STANDBY")
    assert row["sent_files"] == row["files"] == len(list((folder / "a").rglob("*.mpy")))
    assert (folder / "main.py").exists()
    assert (found["car"], found["vehicle"], found["slot"]) == ("red", "f1tenth", "a")
    assert found["program"] == row["program"]
    assert found["pairing"]
    assert "not tested" in trouble


def test_a_car_whose_link_is_a_uart_is_flashed_by_its_two_ports(uart_board_file, tmp_path):
    link, folder = tmp_path / "link", tmp_path / "board"
    far, near = pty.openpty()  # nothing speaks there yet
    tty.setraw(near)
    link.symlink_to(os.ttyname(near))
    with repl_board(folder, "flashed") as (device, repl):
        asked = words(uart_board_file, link, "--repl", device, "--json")
        with program(*asked) as flash:
            assert repl.wait(FLASHED_WITHIN_S) == RESET
            link.unlink()
            with virtual_car("f1tenth", link, "--board", "flashed"):
                out, trouble = patience.communicate(flash, FLASHED_WITHIN_S)
                assert flash.returncode == 0, trouble
    assert ASK in os.read(far, 4096), "the car is asked for the REPL over its link, too"
    row = json.loads(out)
    assert (row["car"], row["state"]) == ("f1tenth", "STANDBY")
    assert row["sent_files"] == row["files"]


def test_one_port_for_a_uart_and_two_for_usb_are_refused_before_either_is_touched(
    board_file, uart_board_file, tmp_path, capsys
):
    link, usb = tmp_path / "link", tmp_path / "usb"
    assert cli.main([*words(uart_board_file, usb)]) == 2
    assert "--repl" in capsys.readouterr().err
    assert cli.main([*words(board_file, link, "--repl", str(usb))]) == 2
    assert "link = {" in capsys.readouterr().err


def test_at_a_terminal_the_self_test_is_asked_for_and_done(board_file, tmp_path):
    port = tmp_path / "port"
    with terminal() as (typing, stdin), repl_board(tmp_path / "board", "flashed") as (device, repl):
        port.symlink_to(device)
        with program(*words(board_file, port), stdin=stdin) as flash:
            assert repl.wait(FLASHED_WITHIN_S) == RESET
            port.unlink()
            with virtual_car("f1tenth", port, "--board", "flashed") as car:
                os.write(typing, b"y\n")
                for asked in ("open", "close"):
                    wait_for_line(flash.stderr, asked)
                    car.stdin.write(f"runstop {asked}\n")
                    car.stdin.flush()
                out, trouble = patience.communicate(flash, FLASHED_WITHIN_S)
    assert flash.returncode == 0, out + trouble
    assert re.search(r"^vehicle +f1tenth$", out, re.MULTILINE)
    assert re.search(r"^good +standstill", out, re.MULTILINE)
    assert out.index("Are the wheels off") > out.index("PARKED")


def test_whoever_says_no_is_told_how_to_test_it_later(monkeypatch, capsys):
    with terminal() as (typing, stdin), open(stdin, closefd=False) as asked:
        monkeypatch.setattr("sys.stdin", asked)
        os.write(typing, b"n\n")
        assert prompt_self_test("serial:///dev/red", host=None) == 0
    assert "tandem selftest serial:///dev/red" in capsys.readouterr().err


def test_a_bare_board_becomes_a_runstop_box_that_stayed_up(board_file, tmp_path):
    port, folder = tmp_path / "port", tmp_path / "board"
    with repl_board(folder) as (device, repl):
        port.symlink_to(device)
        with program(*words(board_file, port, "--json", vehicle="runstop_box")) as flash:
            assert repl.wait(FLASHED_WITHIN_S) == RESET
            port.unlink()
            Starts(str(folder)).mark_healthy()  # as the box itself does (test_box_board.py)
            with repl_board(folder) as (again, _):
                port.symlink_to(again)
                out, trouble = patience.communicate(flash, FLASHED_WITHIN_S)
    assert flash.returncode == 0, trouble
    row = json.loads(out)
    assert (row["slot"], row["wiring"]) == ("a", "runstop_box")
    assert row["sent_files"] == len(list((folder / "a").rglob("*.mpy")))
    assert b"box" in (folder / "a" / "pins.mpy").read_bytes()


def test_a_box_whose_program_did_not_stay_is_said_so(tmp_path):
    folder = tmp_path / "board"
    folder.mkdir()
    for path, data in launcher_files().items():
        (folder / path[1:]).write_bytes(data)
    for slot in (0, 1):
        Starts(str(folder)).switch(slot)  # nothing marks it healthy
        with repl_board(folder) as (port, _), pytest.raises(NotHeldFault, match="stay up"):
            watch_box_trial(port, BAUD, "a", lambda done, total: None, sleep=lambda seconds: None)


def test_a_port_that_is_not_there_is_told_and_not_waited_for(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(flashing, "precheck_car", lambda *_: pytest.fail("it waits for a car"))
    assert cli.main([*words("pico", tmp_path / "nothing")]) == 3
    assert "nothing: no such port" in capsys.readouterr().err


def test_a_box_has_no_name():
    done = tandem(*words("pico", "/dev/not-there", "--name", "red", vehicle="runstop_box"))
    assert done.returncode == 2
    assert "leave out --name" in done.stderr


def test_ctrl_c_ends_in_order_and_the_board_is_reset(board_file, tmp_path):
    with repl_board(tmp_path / "board") as (device, _):
        with program(*words(board_file, device)) as flash:
            time.sleep(12)  # it listens, asks for the REPL and sends: anywhere in that
            flash.send_signal(signal.SIGINT)
            patience.communicate(flash, FLASHED_WITHIN_S)
        assert flash.returncode == 130
    assert not (tmp_path / "board" / "starts_0.bin").exists()  # and so nothing new starts


def test_a_board_of_another_kind_is_refused_and_nothing_is_written(tmp_path):
    folder = tmp_path / "board"
    with repl_board(folder) as (device, repl):
        done = tandem(*words("pico", device), within_s=FLASHED_WITHIN_S)
        assert repl.wait(20) == RESET
    assert done.returncode == 6
    assert "this board is not a Raspberry Pi Pico" in done.stderr
    assert MACHINE in done.stderr
    assert list(folder.iterdir()) == []


def test_a_board_whose_heap_is_too_small_is_refused_and_nothing_is_written(
    board_file, tmp_path, monkeypatch, capsys
):
    need = HeapNeed(
        "rp2040", "f1tenth", False, "car", "1.29.0", "usb", 1 << 40, "hash", "2026-11-26", "a test"
    )
    monkeypatch.setattr(heap, "read_needs", lambda: [need])
    folder = tmp_path / "board"
    with repl_board(folder) as (device, repl):
        assert cli.main(list(words(board_file, device))) == 6
        assert repl.wait(20) == RESET
    said = capsys.readouterr().err
    assert "too little heap" in said
    assert re.search(r"expected: \d+\.\d kB: f1tenth takes \d+\.\d kB, and 4.1 kB to spare", said)
    assert re.search(r"got: \d+\.\d kB, of MicroPython 1\.\d+\.\d+", said)
    assert list(folder.iterdir()) == []


def test_a_served_car_is_refused(tmp_path):
    port = tmp_path / "port"
    with virtual_car("f1tenth", port), serving(f"serial://{port}", "red"):
        done = tandem(*words("pico", port))
    assert done.returncode == 6
    assert "served" in done.stderr


def test_a_vehicle_whose_pins_the_board_has_not_is_refused_before_the_port_is_touched():
    done = tandem("flash", "--vehicle", "nigel", "--board", "pico", "--port", "/dev/not-there")
    assert done.returncode == 5
    assert "nigel cannot be on pico" in done.stderr or "no wiring" in done.stderr


def test_a_dry_run_compiles_everything_and_touches_nothing():
    done = tandem(*words("pico", "/dev/not-there", "--dry-run", "--json"), within_s=60)
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert row["files"] > 50
    assert row["is_dry_run"]
    assert re.match(r"take 1\.\d+\.\d+; f1tenth takes 2\d\d\.\d kB; MicroPython 1", row["heap"])
    assert "with a runstop box's key" in row["heap_with_key"]


def test_a_car_of_ones_own_needs_the_heap_of_the_car_that_it_is_wired_as(tmp_path):
    file = tmp_path / "my_car.toml"
    file.write_text('base = "f1tenth"\ntitle = "long"\n\n[geometry]\nwheelbase_m = 0.36\n')
    found = []
    for vehicle in (str(file), "f1tenth"):
        asked = words("pico", "/dev/not-there", "--dry-run", "--json", vehicle=vehicle)
        done = tandem(*asked, within_s=60)
        assert done.returncode == 0, done.stderr
        row = json.loads(done.stdout)
        found.append([row[key] for key in ("wiring", "heap", "heap_with_key")])
    assert found[0] == found[1]
    assert found[0][0] == "f1tenth"


def test_a_port_that_is_not_there_is_said_so():
    done = tandem(*words("pico", "/dev/not-there"), within_s=FLASHED_WITHIN_S)
    assert done.returncode == 3
    assert "/dev/not-there" in done.stderr
