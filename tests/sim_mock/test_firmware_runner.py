"""The car's program in this process and in another: the same to the world, and to its end."""

import os
import signal
import sys

import pytest

from firmware.protocol import codes
from host_bridge.config import load_vehicle
from host_bridge.deploy.hil.host.small_host import SmallHost
from sim_mock.board.firmware_runner import SubprocessRunner
from sim_mock.world import World
from tests.firmware.worlds import micropython_command, world_of
from tests.sim_mock.programs.car_programs import until

pytestmark = pytest.mark.process


def driven(runtime):
    world = world_of("nigel", runtime)
    host = SmallHost(world)
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
        "from firmware.boards.simulated.unix import OUT_SIZE, IN_SIZE\n"
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
    assert not world.losses
    world.advance(40_000)
    assert str(world.losses[0]).endswith(f"exit code {code}")
    world.close()


def test_a_program_that_is_lost_can_be_closed():
    world = world_of(runtime="cpython")
    world.advance(50_000)
    os.kill(world.runner.pid, signal.SIGKILL)
    world.advance(100_000)
    assert str(world.losses[0]).endswith("exit code -9")
    world.close()


# --- what the car does when its program is lost while it drives


RUNTIMES = [
    "cpython",
    pytest.param(64, marks=pytest.mark.micropython),
    pytest.param(32, marks=pytest.mark.micropython),
]
GONE_BY_MS = 100  # firmware/core/SAFETY.md: hung, neutral and drive enable off
BACK_BY_MS = 500  # and begun anew by the watchdog


def lost_while_driving(runtime, sign):
    """By a signal to the process: when the wires still drove, and when it was there again."""
    command = [sys.executable] if runtime == "cpython" else micropython_command(runtime)

    def runner(board_id, image, seed):
        return SubprocessRunner(command, board_id, image, seed, step_timeout_s=0.5)

    world = World(load_vehicle("f1tenth"), runner=runner)
    host = SmallHost(world)
    host.take_the_wheel()
    host.drive(1500, 1500)
    assert world.enable
    os.kill(world.runner.pid, sign)
    begun_us = world.now_us
    driven_ms = []
    neutral_ns = load_vehicle("f1tenth").parameters["channel_neutral"][1]

    def look(world):
        if world.enable or world.values[1] not in (neutral_ns, 0):
            driven_ms.append((world.now_us - begun_us) // 1000)

    world.observers.append(look)
    host.latest.clear()
    while "Status" not in host.latest and world.now_us - begun_us < 1_000_000:
        host.drive(10, 1500)
    return host, driven_ms, (world.now_us - begun_us) // 1000


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_car_whose_program_is_lost_falls_and_begins_anew_disarmed(runtime, sign):
    host, driven_ms, back_ms = lost_while_driving(runtime, sign)
    world = host.world
    try:
        assert max(driven_ms) < GONE_BY_MS
        assert len(world.losses) == 1
        assert world.reset_cause == codes.RESET_WATCHDOG
        assert back_ms < BACK_BY_MS
        host.drive(6000, 1500)  # it rolls out, and nobody arms it again
        assert host.state == codes.STANDBY
        assert world.plant.truth.vx_mps == 0.0
        assert max(driven_ms) < GONE_BY_MS
    finally:
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
        SubprocessRunner([sys.executable + "-missing"], bytes(8), b"", 0)
