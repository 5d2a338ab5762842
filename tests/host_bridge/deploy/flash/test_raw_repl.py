"""Flashing over a real raw REPL, and the line cut at every exchange of it."""

import json
import os
import pty
import re
import shutil
import threading
import time
import tty
from contextlib import contextmanager, suppress

import pytest
from mpremote.transport import TransportError

from host_bridge.core.errors import DeviceFault
from host_bridge.core.system.progress import LINES
from host_bridge.deploy.flash.board import repl
from host_bridge.deploy.flash.board.board import HELPERS, TAKEN_BARE, RawBoard
from host_bridge.deploy.flash.board.repl import raw_board
from host_bridge.deploy.flash.install import install, plan_install
from host_bridge.deploy.flash.program.program import launcher_files
from sim_mock.runtime import micropython
from tests.host_bridge.cli.programs import tandem
from tests.host_bridge.deploy.flash.far_end import RESET, repl_board
from tests.host_bridge.deploy.flash.test_power_cuts import program
from tests.support import patience

# Starts what a board's folder holds, as the board would.
START = """
import sys
class Pin:
    OUT = 1
    def __init__(self, pin, mode, value):
        calls.append((pin, value))
class Machine:
    Pin = Pin
    WDT = staticmethod(lambda timeout: None)
    @staticmethod
    def reset():
        print(repr((calls, said)))
        sys.exit(0)
calls = []
said = sys.modules["said"] = []
sys.modules["machine"] = Machine
names = {"__name__": "launcher"}
sys.path.insert(0, sys.argv[1])
exec(open(sys.argv[1] + "/main.py").read(), names)
names["launch"](sys.argv[1])
"""


class CutOff(Exception):
    """The host is gone."""


class CutLine(repl.ReplLine):
    """Every command to the board is an exchange; after ``exchanges`` of them there are no more."""

    exchanges = None
    done = 0

    def exec_raw_no_follow(self, command):
        CutLine.done += 1
        if CutLine.exchanges is not None and CutLine.done > CutLine.exchanges:
            raise CutOff
        return super().exec_raw_no_follow(command)


def flash(port, files):
    with raw_board(port) as board:
        plan = plan_install(board, files)
        install(board, files, launcher_files(), plan, lambda what, done, total: None)
        return plan


def started(folder, tmp_path):
    """What the real launcher starts from these files: (what was made safe, what said it ran)."""
    command = micropython.find(64)
    if command is None:
        pytest.skip("no MicroPython on this machine; `make setup` says how to have one")
    script = tmp_path / "start.py"
    script.write_text(START)
    words = [*command, str(script), str(folder)]
    done = patience.run(words, text=True, within_s=20, check=True)
    return done.stdout.strip()


@pytest.fixture
def old_board(tmp_path):
    """A folder with an old program, healthy."""
    folder = tmp_path / "board"
    with repl_board(folder) as (port, process):
        flash(port, program("healthy", 20))
        assert patience.wait(process, 20) == RESET
    assert started(folder, tmp_path) == "([(2, 0)], ['healthy'])"
    return folder


@pytest.mark.micropython
def test_a_board_is_flashed_over_its_raw_repl_and_reset(old_board, tmp_path):
    with repl_board(old_board) as (port, process):
        plan = flash(port, program("new", 20))
        assert patience.wait(process, 20) == RESET
    assert plan.folder == "/b"
    assert started(old_board, tmp_path) == "([(2, 0)], ['new'])"
    assert started(old_board, tmp_path) == "([(2, 0)], ['healthy'])"  # nothing marked it healthy


@pytest.mark.micropython
def test_power_lost_in_the_first_trial_is_told_by_the_board_and_by_identify(tmp_path):
    folder = tmp_path / "board"
    with repl_board(folder) as (port, process):
        flash(port, program("new", 20))
        assert patience.wait(process, 20) == RESET
    assert started(folder, tmp_path) == "([(2, 0)], ['new'])"  # on trial, never marked healthy
    assert "no program here that is whole and came up" in started(folder, tmp_path)
    with repl_board(folder) as (port, _):
        row = json.loads(tandem("identify", port, "--repl", "--json").stdout)[0]
    assert "slot a did not come through its first ten seconds" in row["next_start"]
    assert row["next_start"].endswith("tandem flash brings one")


@pytest.mark.micropython
def test_cut_at_every_exchange_a_whole_program_starts(old_board, tmp_path, monkeypatch):
    monkeypatch.setattr(repl, "ReplLine", CutLine)
    seen = []
    exchanges = 0
    while "new" not in seen[-1:]:
        folder = tmp_path / "cut"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(old_board, folder)
        CutLine.done, CutLine.exchanges = 0, exchanges
        with repl_board(folder) as (port, _), suppress(CutOff):
            flash(port, program("new", 20))
        what = started(folder, tmp_path)
        assert what in ("([(2, 0)], ['healthy'])", "([(2, 0)], ['new'])"), (exchanges, what)
        seen.append("new" if "new" in what else "old")
        exchanges += 1
    assert set(seen[:-1]) == {"old"}
    assert exchanges > 20


@pytest.mark.micropython
def test_what_was_sent_before_a_cut_is_not_sent_again(old_board, monkeypatch):
    monkeypatch.setattr(repl, "ReplLine", CutLine)
    CutLine.done, CutLine.exchanges = 0, 24
    with repl_board(old_board) as (port, _), pytest.raises(CutOff):
        flash(port, program("new", 20))
    CutLine.exchanges = None
    with repl_board(old_board) as (port, _):
        assert flash(port, program("new", 20)).keep


@pytest.mark.micropython
def test_a_program_of_a_hundred_files_is_listed_on_a_small_heap(tmp_path):
    """What so many opened files leave lies everywhere in it: there is no room for a long text."""
    command = micropython.find(32)
    if command is None:
        pytest.skip("no 32-bit MicroPython on this machine; `make setup` says how to have one")
    folder = tmp_path / "a/firmware/boards"
    folder.mkdir(parents=True)
    for number in range(100):
        (folder / f"a_module_of_the_program_{number}.mpy").write_bytes(bytes(2000))
    script = tmp_path / "list.py"
    script.write_text(f"{HELPERS}_hashes({str(tmp_path / 'a')!r})")
    words = [*command, "-X", "heapsize=32k", str(script)]
    done = patience.run(words, text=True, within_s=20)
    assert (done.stderr, len(done.stdout.splitlines())) == ("", 100)


@pytest.mark.micropython
def test_a_board_says_how_much_its_owners_boot_py_holds(tmp_path):
    found = []
    for size in (0, 300_000):
        folder = tmp_path / str(size)
        folder.mkdir()
        (folder / "boot.py").write_text(f"mine = bytearray({size})\n")
        with repl_board(folder) as (port, _), raw_board(port) as board:
            board.evaluate("others = bytearray(100_000)\nprint(1)")  # the host's own do not count
            found.append(board.facts())
    without, with_it = found
    assert with_it.taken - without.taken == pytest.approx(300_000, abs=TAKEN_BARE)


def test_a_port_where_nothing_answers_is_said_so(tmp_path):
    with pytest.raises(DeviceFault, match="no MicroPython"), raw_board("/dev/null", within_s=0.1):
        raise AssertionError("there is no board")


def test_who_waits_for_a_repl_sees_for_how_long_once(monkeypatch, capsys):
    monkeypatch.setenv(LINES, "1")
    with pytest.raises(DeviceFault, match="no MicroPython"), raw_board("/dev/null", within_s=1.0):
        raise AssertionError("there is no board")
    told = re.findall(r"/dev/null: no REPL yet; (\d) s more to ask", capsys.readouterr().err)
    assert told == ["1"]


@contextmanager
def talking_on():
    """A car at a port that says things all the time, none of them a prompt."""
    car, port = pty.openpty()
    tty.setraw(port)
    os.set_blocking(car, False)
    is_over = threading.Event()

    def talk():
        while not is_over.is_set():
            with suppress(BlockingIOError):  # nobody reads any more
                os.write(car, b"\x41\x42\x43\x00" * 12)
            time.sleep(0.01)

    talker = threading.Thread(target=talk)
    talker.start()
    try:
        yield os.ttyname(port)
    finally:
        is_over.set()
        talker.join()
        os.close(car)
        os.close(port)


def test_a_car_that_talks_on_and_leaves_no_repl_is_given_up():
    """An armed car: it says things all the time and takes no notice of Ctrl-C."""
    begun_s = time.monotonic()
    with (
        talking_on() as port,
        pytest.raises(DeviceFault, match="talks on"),
        raw_board(port, within_s=0.1),
    ):
        raise AssertionError("there is no REPL")
    patience.took(begun_s, 8.0, "a car that talks on is given up", 0.2)


def test_a_board_that_was_reset_meanwhile_and_talks_on_is_not_waited_for(monkeypatch):
    """It is to be led out of its raw REPL, and runs its car already."""
    monkeypatch.setattr(repl, "_LONGEST_S", 0.5)
    with talking_on() as port:
        transport = repl.ReplLine(port, timeout=1.5)
        begun_s = time.monotonic()
        with pytest.raises(TransportError, match="could not enter raw repl"):
            transport.exec_raw_no_follow("import machine\nmachine.reset()")
        transport.close()
    patience.took(begun_s, 12.0, "a board that talks on is given up", 0.5)


@pytest.mark.micropython
def test_the_board_says_what_it_is(tmp_path):
    with repl_board(tmp_path / "bare") as (port, _), raw_board(port) as board:
        facts = board.facts()
        assert isinstance(board, RawBoard)
        assert facts.version >= (1, 27)
        assert facts.unique_id == b"12345678"
        assert board.slots() is None


def test_a_port_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(DeviceFault, match="no such port"), raw_board("/dev/nowhere", within_s=0.0):
        pass


class Garbled:
    """A line on which a friendly REPL answers; mpremote prints what it does not understand."""

    def exec(self, code):
        print(b">>> nonsense")
        raise TransportError("unexpected read during raw paste: b'T'")


def test_what_a_garbled_line_says_is_not_printed_beside_the_error(capsys):
    with pytest.raises(DeviceFault, match="did not do what it was asked"):
        RawBoard(Garbled(), "/dev/tty")
    assert capsys.readouterr().out == ""
