"""The car's program in this process and in another: the same to the world, and to its end."""

import os
import signal
import sys

import pytest

from sim_mock.firmware_runner import Process
from tests.firmware.rig import Host
from tests.firmware.worlds import world_of
from tests.sim_mock.programs import until


def driven(runtime):
    world = world_of("nigel", runtime)
    host = Host(world)
    try:
        host.take_the_wheel()
        host.drive(500, 300, 100_000)
        host.stop()
        host.rest(300)
    finally:
        world.close()
    return host.outputs.hexdigest()


@pytest.mark.parametrize(
    "runtime",
    [
        "cpython",
        pytest.param(64, marks=pytest.mark.micropython),
        pytest.param(32, marks=pytest.mark.micropython),
    ],
)
def test_a_drive_is_the_same_in_this_process_and_in_another(runtime):
    assert driven(runtime) == driven("in process")


def ends_with(tmp_path, line):
    """A car's program that answers two beats like the real one, and ends."""
    program = tmp_path / "program.py"
    program.write_text(
        "import os, sys\n"
        "from firmware.boards.unix import OUT_SIZE, IN_SIZE\n"
        "for _ in range(2):\n"
        "    sys.stdin.buffer.read(IN_SIZE)\n"
        "    sys.stdout.buffer.write(bytes(OUT_SIZE))\n"
        "    sys.stdout.buffer.flush()\n"
        f"{line}\n"
    )
    return world_of(runtime="cpython", program=program)


@pytest.mark.parametrize(
    ("line", "code"), [("sys.exit(7)", 7), ("os.kill(os.getpid(), 9)", -9), ("", 0)]
)
def test_the_end_of_the_program_is_told_with_its_exit_code(tmp_path, line, code):
    world = ends_with(tmp_path, line)
    world.advance(10_000)
    with pytest.raises(RuntimeError, match=f"exit code {code}$"):
        world.advance(40_000)
    world.close()


def test_a_killed_program_is_told_of_and_can_be_closed():
    world = world_of(runtime="cpython")
    world.advance(50_000)
    os.kill(world.runner.pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="exit code -9"):
        world.advance(100_000)
    world.close()


def test_closing_ends_the_program_and_clears_away_its_folder():
    world = world_of(runtime="cpython")
    pid, folder = world.runner.pid, world.runner._folder.name
    world.advance(50_000)
    assert os.path.isdir(folder)
    world.close()
    assert not os.path.exists(folder)
    until(lambda: not os.path.exists(f"/proc/{pid}"), "the program's end", 5)


def test_the_program_is_out_of_reach_of_ctrl_c():
    world = world_of(runtime="cpython")
    assert os.getsid(world.runner.pid) != os.getsid(0)
    world.close()


def test_a_command_that_is_not_there_is_said_at_once():
    with pytest.raises(FileNotFoundError):
        Process([sys.executable + "-missing"], bytes(8), b"", 0)
