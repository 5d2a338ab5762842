"""The real `tandem drive` in a pseudo-terminal: held, released, frozen, killed, hung up."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

import pytest

from host_bridge.core.system.clock import MonotonicClock
from host_bridge.inputs.keyboard import KeyboardInput, Terminal
from tests.host_bridge.drive.drives import vehicle
from tests.host_bridge.drive.terminal.terminals import PRESS, RELEASE, Far, Program
from tests.host_bridge.inputs.made_inputs import context
from tests.support import patience
from tests.support.evidence import every

COMMANDS = Path(__file__).resolve().parents[4] / "shared/data/nigel/straight_commands.csv"
CAR = ("--car", "sim://f1tenth")
RAW = termios.ICANON | termios.ECHO
POP_AND_LEAVE = b"\x1b[<u\x1b[?1049l"

pytestmark = [
    pytest.mark.process(drives=True),
    pytest.mark.xdist_group("wall clock"),
]


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(prefix="tandem") as path:  # short: a socket's path is
        yield path


@pytest.fixture
def kitty():
    far = Far(knows_kitty=True)
    yield far
    far.close()


@pytest.fixture
def legacy():
    far = Far(knows_kitty=False)
    yield far
    far.close()


@pytest.fixture
def start(folder):
    programs = []

    def start(far, *words, **options):
        programs.append(Program(far, folder, *words, **options))
        return programs[-1]

    yield start
    for program in programs:
        if program.process.poll() is None:
            program.process.kill()
            program.process.wait()


def is_as_before(far):
    return far.local_mode() & RAW == RAW and far.flags == [0]


def drive_off(program, far, faster=b"\x1b[119u"):
    program.until_state("HOLD")
    far.type(PRESS)
    program.until_state("ACTIVE")
    far.type(faster * 3)
    program.until(lambda: program.latest("speed_mps") > 0.5, "moving")


def test_space_drives_its_release_holds_and_escape_disarms(start, kitty):
    program = start(kitty, *CAR)
    drive_off(program, kitty)
    assert program.latest("commanded_by") == "seat"
    assert not kitty.local_mode() & RAW
    kitty.type(RELEASE)
    program.until_state("HOLD")
    program.until(lambda: abs(program.latest("speed_mps")) < 0.02, "standing")
    kitty.type(b"\x1b[27u")
    assert program.end() == (0, "")
    assert program.summary["cars"][0]["state"] == "STANDBY"
    assert program.summary["cars"][0]["stops"] == []
    assert program.summary["cars"][0]["distance_m"] > 0.1
    assert is_as_before(kitty)
    assert kitty.seen.endswith(POP_AND_LEAVE)


def test_e_stops_r_arms_again_and_the_stop_is_explained(start, kitty):
    program = start(kitty, *CAR)
    drive_off(program, kitty)
    kitty.type(b"\x1b[101u")
    program.until_state("STOPPED")
    assert "the driver's seat (drive@" in program.latest("why_stopped")
    kitty.type(PRESS)  # no way back to driving without R
    kitty.type(b"\x1b[114u")
    program.until_state("HOLD")
    drive_off(program, kitty)
    kitty.type(RELEASE + b"\x1b[99;5u")  # Ctrl-C
    assert program.end()[0] == 130
    assert len(program.summary["cars"][0]["stops"]) == 1


def test_a_stop_from_a_second_terminal_stops_the_car_and_is_named(start, kitty, folder):
    program = start(kitty, *CAR)
    drive_off(program, kitty)
    stop = [sys.executable, "-m", "host_bridge.cli.main", "stop", "--all"]
    subprocess.run(stop, env={**os.environ, "TANDEM_RUNTIME_DIR": folder}, check=True)
    program.until_state("STOPPED")
    assert "somebody at the computer" in program.latest("why_stopped")
    assert not kitty.local_mode() & RAW, "it goes on: R arms again"


def test_a_terminal_that_freezes_with_the_deadman_held_stops_the_car(start, kitty):
    program = start(kitty, *CAR)
    drive_off(program, kitty)
    kitty.answers = False
    program.until_state("STOPPED")
    assert "frozen terminal" in program.latest("why_stopped")


def test_without_key_release_it_is_slow_and_a_second_after_the_last_press_it_holds(start, legacy):
    program = start(legacy, *CAR)
    program.until_state("HOLD")
    legacy.type(b" ")
    program.until_state("ACTIVE")
    legacy.type(b" " + b"w" * 30)
    program.until(lambda: program.latest("speed_mps") > 0.1, "moving")
    assert program.latest("commanded_by") == "seat_slow"
    program.until_state("HOLD")  # nobody pressed again
    legacy.type(b"\x03")
    assert program.end() == (130, "")
    assert program.summary["cars"][0]["top_speed_mps"] < 0.45  # the cap, and one count of noise
    assert is_as_before(legacy)
    assert b"\x1b[>" not in legacy.seen, "flags were pushed to a terminal that knows none"


def test_the_screen_says_what_a_terminal_without_key_release_may(start, legacy):
    program = start(legacy, *CAR, is_json=False)
    program.until(lambda: b"ARMED" in legacy.seen, "the screen")
    assert b"does not report the release of keys" in legacy.seen
    assert b"0.3 m/s at most" in legacy.seen
    legacy.type(b"\x1b")
    assert program.end() == (0, "")
    assert b"now PARKED" in legacy.seen.split(POP_AND_LEAVE)[1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_brings_it_to_rest_and_gives_the_terminal_back(start, kitty, number):
    program = start(kitty, *CAR)
    drive_off(program, kitty)
    program.process.send_signal(number)
    assert program.end()[0] == 130
    assert program.summary["cars"][0]["state"] == "STANDBY"
    assert is_as_before(kitty)


def test_sigtstp_lets_go_and_does_not_suspend(start, kitty):
    program = start(kitty, *CAR)
    drive_off(program, kitty)
    program.process.send_signal(signal.SIGTSTP)
    program.until_state("HOLD")
    kitty.type(b"\x1b[27u")
    assert program.end()[0] == 0


def test_a_terminal_that_is_closed_ends_the_drive(start, folder):
    far = Far(knows_kitty=True)
    program = start(far, *CAR)
    drive_off(program, far)
    far.close()
    program.end()
    assert program.summary["cars"][0]["state"] == "STANDBY"


def test_after_a_kill_the_next_run_leaves_the_terminal_as_it_should_be(start, kitty):
    program = start(kitty, *CAR)
    program.until_state("HOLD")
    os.kill(program.process.pid, signal.SIGKILL)
    program.process.wait()
    assert not is_as_before(kitty)
    program = start(kitty, *CAR)
    program.until_state("HOLD")
    kitty.type(b"\x1b[27u")
    assert program.end()[0] == 0
    assert is_as_before(kitty)


def test_a_dumb_terminal_is_driven_in_lines_and_gets_no_escapes(legacy, folder):
    """TERM=dumb: an editor's shell, a serial console. Keys count, nothing is drawn."""
    words = [sys.executable, "-m", "host_bridge.cli.main", "drive", *CAR]
    env = {**os.environ, "TERM": "dumb", "XDG_RUNTIME_DIR": folder, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(words, stdin=legacy.slave, stdout=legacy.slave, env=env)
    patience.until(lambda: b"f1tenth: ARMED" in legacy.seen, "the car to be armed", 20)
    legacy.type(b"\x1b" * 2)
    assert patience.wait(process, 20) == 0
    assert b"f1tenth: ARMED" in legacy.seen
    assert b"\x1b" not in legacy.seen


def test_keys_need_a_terminal(start):
    code, output = start(None, *CAR).end()
    assert code == 2
    assert "needs a terminal" in output
    assert "--input csv:FILE" in output


def test_a_car_that_refuses_to_arm_says_why_and_makes_the_exit_code(start):
    car = ("--car", "sim://f1tenth?blank=1", "--vehicle", "f1tenth")
    code, output = start(None, *car, "--input", "script:straight").end()
    assert code == 6
    assert "f1tenth did not arm" in output
    assert "configuration" in output


def test_the_same_car_twice_is_refused(start):
    words = (*CAR, "--twin", "sim://f1tenth", "--input", "script:straight")
    code, output = start(None, *words).end()
    assert code == 2
    assert "driven already" in output


def test_a_drivers_log_drives_two_cars_and_they_accept_the_same_bytes(start):
    if not COMMANDS.exists():
        pytest.skip(f"needs the driver's log of the project's shared data: {COMMANDS}")
    cars = ("--car", "sim://nigel", "--twin", "sim://nigel?name=twin&payload_kg=1&seed=2")
    program = start(None, *cars, "--input", f"csv:{COMMANDS}")
    assert program.end() == (0, "")
    summary = program.summary
    assert summary["is_completed"]
    assert summary["agreement"]["is_equal"]
    assert summary["agreement"]["agreed"] > 400  # 4.5 s at 100 Hz, less what the start takes
    assert [car["distance_m"] > 1.5 for car in summary["cars"]] == [True, True]
    common = {row["claim_count"]: row["claim_crc"] for row in program.rows if row["car"] == "nigel"}
    crcs = [
        (common[row["claim_count"]], row["claim_crc"])
        for row in program.rows
        if row["car"] == "twin" and row["claim_count"] in common
    ]
    assert len(crcs) > 5
    assert every(one == other for one, other in crcs)


def test_a_warning_waits_until_the_terminal_is_as_it_was(legacy, capsys):
    async def main():
        keyboard_input = KeyboardInput(Terminal(legacy.slave), MonotonicClock().now_us)
        await keyboard_input.open(context([vehicle()]))
        try:
            logging.getLogger("a car").warning("too slow")
            assert "too slow" not in capsys.readouterr().err
        finally:
            await keyboard_input.close()

    asyncio.run(main())
    assert capsys.readouterr().err == "too slow\n"
    assert is_as_before(legacy)
