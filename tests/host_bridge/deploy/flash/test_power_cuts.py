"""Power cut at every block write of a littlefs: the program of before or the new one starts."""

import ast
import subprocess
from pathlib import Path

import pytest
from mpremote.transport import Transport, TransportExecError

from host_bridge.deploy.flash.board.board import RawBoard
from host_bridge.deploy.flash.install import install, plan_install
from host_bridge.deploy.flash.program.program import compile_program, launcher_files
from sim_mock.runtime import micropython

BENCH = Path(__file__).parents[3] / "support" / "device" / "power_cuts.py"
PINS = "SAFE_LEVELS = ((2, 0),)\n"
# What App and its parts are to the launcher: modules of a program that import each other.
START = """
import sys
from firmware import numbers
class start:
    def __init__(self, pins, starts):
        self._starts = starts
    def run(self):
        sys.modules["said"].append(numbers.VERSION)
        if numbers.VERSION == "healthy":
            self._starts.mark_healthy()
        if numbers.VERSION == "raises":
            raise ValueError
        if numbers.VERSION == "interrupted":
            raise KeyboardInterrupt
        if numbers.VERSION != "leaves":
            sys.modules["machine"].reset()
"""


class LittlefsBoard(Transport):
    """mpremote's file functions, on the bench's littlefs."""

    def __init__(self, process):
        self.process = process

    def exec(self, command, data_consumer=None):
        self.process.stdin.write(repr(command) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("="):
                return ast.literal_eval(line[1:]).encode()
        raise TransportExecError(1, self.process.stderr.read())

    def eval(self, expression, parse=True):
        return ast.literal_eval(self.exec(f"print(repr({expression}))").decode())


def program(version, filling=100):
    """Small, so that thousands of cuts take seconds; of some blocks, so that they are many."""
    numbers = f"VERSION = {version!r}\n" + "".join(f"X{i} = {i * 7919}\n" for i in range(filling))
    sources = {
        "pins.py": PINS,
        "firmware/__init__.py": "",
        "firmware/boards/__init__.py": "",
        "firmware/boards/start.py": START,
        "firmware/numbers.py": numbers,
    }
    return compile_program(sources, "x64", lambda done, total: None)


@pytest.fixture
def bench():
    command = micropython.find(64)
    if command is None:
        pytest.skip("no MicroPython on this machine; `make setup` says how to have one")
    with subprocess.Popen(
        [*command, "-X", "heapsize=16m", str(BENCH)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        yield LittlefsBoard(process)
        process.kill()


def flash(bench, version, filling=100, note=b""):
    board, files = RawBoard(bench, "bench"), program(version, filling)
    plan = plan_install(board, files)
    launcher = launcher_files()
    launcher["/main.py"] += note
    install(board, files, launcher, plan, lambda what, done, total: None)
    return plan


def start(bench):
    return bench.exec("start").decode()


@pytest.mark.micropython
def test_whenever_the_power_goes_a_whole_program_starts_and_outputs_are_safe_first(bench):
    assert flash(bench, "old").slot == 0
    bench.exec("_starts().mark_healthy()")
    bench.exec("watch")
    assert flash(bench, "new", 2000, b"# of another version\n").slot == 1
    (before, cuts), (after, _) = ast.literal_eval(bench.exec("report").decode())
    assert (before, after) == ("old", "new")
    assert cuts > 150


@pytest.mark.micropython
def test_a_first_flash_that_is_cut_leaves_a_bare_board_or_the_whole_program(bench):
    bench.exec("watch")
    assert flash(bench, "new").slot == 0
    (before, cuts), (after, _) = ast.literal_eval(bench.exec("report").decode())
    assert (before, after) == ("bare", "new")
    assert cuts > 100


@pytest.mark.micropython
def test_the_only_program_is_started_once_on_trial_and_then_the_launcher_waits(bench):
    """Never in an ImportError: there is no slot b; outputs are safe, and it says what to do."""
    flash(bench, "new")
    bench.exec("watch")
    bench.exec("_starts().begin()")
    counts = ast.literal_eval(bench.exec("report").decode())
    assert [what for what, _ in counts] == ["new", "waits"]
    assert [start(bench) for _ in range(2)] == ["waits", "waits"]
    assert flash(bench, "new").slot == 1
    assert start(bench) == "new"


@pytest.mark.micropython
def test_what_is_not_whole_is_never_started_in_place_of_what_did_not_come_up(bench):
    """A second flash is cut while the first one's program is still on trial."""
    flash(bench, "first")
    bench.exec("_starts().begin()")
    bench.exec("watch")
    assert flash(bench, "second", 2000).slot == 1
    (before, cuts), (after, _) = ast.literal_eval(bench.exec("report").decode())
    assert (before, after) == ("waits", "second")
    assert cuts > 100


@pytest.mark.micropython
def test_the_records_are_cut_at_every_write_too(bench):
    """Of starts: trial, fall back, healthy. Each cut leaves one of two programs, never neither."""
    flash(bench, "healthy")
    start(bench)
    flash(bench, "new")
    bench.exec("watch")
    bench.exec("_starts().begin()")
    bench.exec("_starts().begin()")
    counts = ast.literal_eval(bench.exec("report").decode())
    assert [what for what, _ in counts] == ["new", "healthy"]


@pytest.mark.micropython
def test_a_program_that_is_not_marked_healthy_gets_one_start_and_the_old_one_comes_back(bench):
    flash(bench, "healthy")
    assert start(bench) == "healthy"
    flash(bench, "new")
    assert [start(bench) for _ in range(3)] == ["new", "healthy", "healthy"]


@pytest.mark.micropython
def test_a_program_that_is_marked_healthy_stays(bench):
    flash(bench, "new")
    flash(bench, "healthy", 50)
    bench.exec("_starts().mark_healthy()")
    assert [start(bench) for _ in range(4)] == ["healthy"] * 4


@pytest.mark.micropython
def test_a_program_that_raises_falls_back_and_says_why(bench):
    flash(bench, "healthy")
    start(bench)
    flash(bench, "raises")
    assert [start(bench) for _ in range(2)] == ["raises", "healthy"]
    assert b"ValueError" in RawBoard(bench, "bench").read("/trouble.txt")


@pytest.mark.micropython
def test_only_what_changed_is_sent_and_what_is_there_already_not_at_all(bench):
    flash(bench, "old")
    bench.exec("_starts().mark_healthy()")
    flash(bench, "new")
    bench.exec("_starts().mark_healthy()")
    board = RawBoard(bench, "bench")
    assert plan_install(board, program("new")) is None
    plan = plan_install(board, program("newer"))
    assert plan.slot == 0
    assert plan.send == ("firmware/numbers.mpy",)
    assert len(plan.keep) == 4


@pytest.mark.micropython
def test_a_program_that_raises_and_has_nothing_to_fall_back_to_ends_in_the_repl(bench):
    """The first flash ever, on trial; then an empty slot; outputs stay safe."""
    flash(bench, "raises")
    assert start(bench) == "raises"
    bench.exec("_starts().switch(0)\n_starts().mark_healthy()")
    assert [start(bench) for _ in range(3)] == ["raises", "raises", "REPL"]


@pytest.mark.micropython
@pytest.mark.parametrize("how", ["leaves", "interrupted"])
def test_who_asks_a_running_car_for_the_repl_gets_it_once_and_then_the_car_again(bench, how):
    """By its link; by Ctrl-C. After a reset, for the watchdog does not end with the program."""
    flash(bench, how)
    assert [start(bench) for _ in range(3)] == [how, "REPL", how]
